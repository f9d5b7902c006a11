#define CAF_SUITE agent_file_stream

#include "tests/guest/file_world.hpp"
#include "tests/guest/memory.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr auto large = std::uint64_t{1} << (memory_is_measured ? 30 : 26); // a sanitizer is slow

// The frames of a stream, each looked at where it arrived: a large stream is not held up by its reader.
class frames_in_place {
public:
  explicit frames_in_place(raw_client& from) : from_(from.fd()), bytes_(8 << 20, '\0') {
  }

  // Valid until the next call; empty at the terminator, and at the end of the stream.
  std::string_view next() {
    for (;;) {
      auto here = std::string_view{bytes_}.substr(begin_, filled_ - begin_);
      if (here.size() >= guest::frame_header_size) {
        auto size = std::stoul(std::string{here.substr(0, 8)}, nullptr, 16);
        if (here.size() >= guest::frame_header_size + size) {
          begin_ += guest::frame_header_size + size;
          return here.substr(guest::frame_header_size, size);
        }
      }
      std::memmove(bytes_.data(), here.data(), here.size());
      begin_ = 0;
      filled_ = here.size();
      auto n = ::recv(from_, bytes_.data() + filled_, bytes_.size() - filled_, 0);
      if (n <= 0)
        return {};
      filled_ += static_cast<std::size_t>(n);
    }
  }

private:
  int from_;
  std::string bytes_;
  std::size_t begin_ = 0;
  std::size_t filled_ = 0;
};

std::string pattern(std::size_t size) {
  auto bytes = std::string(size, '\0');
  for (auto i = std::size_t{0}; i < size; ++i)
    bytes[i] = static_cast<char>(i * 2654435761u >> 11);
  return bytes;
}

} // namespace

SCENARIO("a file is streamed in chunks, between what was announced and what was sent") {
  auto world = agent_world{{{"NAMZU_AGENT_READ_FILE_STREAM_CHUNK_BYTES", "1000"}}};
  auto bytes = pattern(2500);
  put(world.workspace() / "f", bytes);
  auto got = read_stream(world, "f");
  CHECK_EQ(got.order, "mdddeT");
  CHECK_EQ(got.meta.dump(), R"({"length":2500,"offset":0,"sizeBytes":2500,"type":"meta"})");
  CHECK((got.chunks == std::vector<std::size_t>{1000, 1000, 500}));
  CHECK(got.bytes == bytes);
  CHECK_EQ(got.last.dump(), R"({"bytesSent":2500,"type":"end"})");
}

SCENARIO("a chunk has 256 KiB unless it is configured") {
  auto world = agent_world{};
  auto bytes = pattern(600'000);
  put(world.workspace() / "f", bytes);
  auto got = read_stream(world, "f");
  CHECK((got.chunks == std::vector<std::size_t>{262'144, 262'144, 75'712}));
  CHECK(got.bytes == bytes);
}

SCENARIO("a range of a stream ends with the file, and has no other limit") {
  auto world = agent_world{};
  auto bytes = pattern(3'000'000);
  put(world.workspace() / "f", bytes);
  auto middle = read_stream(world, "f", {{"offset", 100}, {"length", 2'500'000}});
  CHECK(middle.bytes == bytes.substr(100, 2'500'000));
  CHECK(middle.meta["offset"] == 100);
  CHECK(middle.meta["length"] == 2'500'000);
  CHECK(middle.meta["sizeBytes"] == 3'000'000);
  auto tail = read_stream(world, "f", {{"offset", 2'999'990}, {"length", 1'000}});
  CHECK(tail.bytes == bytes.substr(2'999'990));
  CHECK(tail.meta["length"] == 10);
  auto beyond = read_stream(world, "f", {{"offset", 5'000'000}});
  CHECK_EQ(beyond.order, "meT");
  CHECK(beyond.meta["offset"] == 5'000'000);
  CHECK(beyond.meta["length"] == 0);
  auto none = read_stream(world, "f", {{"length", 0}});
  CHECK_EQ(none.order, "meT");
}

SCENARIO("what cannot be streamed is refused with one event") {
  auto outside = temp_directory{};
  put(outside.path() / "secret", "secret");
  auto world = agent_world{};
  fs::create_symlink(outside.path() / "secret", world.workspace() / "link");
  auto refusal = [&](const json& body) {
    auto client = world.open("read-file-stream", body);
    auto got = listen_to_stream(client);
    CHECK_EQ(got.order, "xT");
    return error_of(got.last);
  };
  CHECK_EQ(refusal(json::object()), "missing_path");
  CHECK_EQ(refusal({{"path", 7}}), "missing_path");
  CHECK_EQ(refusal({{"path", "../f"}}), "path escapes the workspace");
  CHECK_EQ(refusal({{"path", "link"}}), "symlink escapes the workspace");
  CHECK(refusal({{"path", "absent"}}).starts_with("ENOENT"));
}

// [G 113] a directory
SCENARIO("a directory is not streamed") {
  auto world = agent_world{};
  auto got = read_stream(world, ".");
  CHECK_EQ(error_of(got.last), "read_file_stream_not_a_regular_file");
  CHECK_EQ(got.order, "xT");
}

// [G 114] an empty file
SCENARIO("an empty file is announced and ended") {
  auto world = agent_world{};
  put(world.workspace() / "f", "");
  auto got = read_stream(world, "f");
  CHECK_EQ(got.order, "meT");
  CHECK(got.meta["length"] == 0);
  CHECK(got.meta["sizeBytes"] == 0);
  CHECK(got.last["bytesSent"] == 0);
}

// [G 112] a large file
SCENARIO("a file of 1 GiB is streamed in the memory of a few chunks") {
  auto world = agent_world{{{"NAMZU_AGENT_READ_FILE_STREAM_CHUNK_BYTES", "4194304"}}}; // large, so that a busy machine is in time as well
  constexpr auto size = large;
  constexpr auto chunk = std::uint64_t{4} << 20;
  // It is sparse but for a mark at every 64 MiB, each of them another one.
  auto file = ::open((world.workspace() / "f").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(::ftruncate(file, size) == 0);
  auto expected = std::map<std::uint64_t, std::string>{};
  for (auto at = std::uint64_t{0}; at < size; at += 64 << 20) {
    auto bytes = std::string(chunk, '\0');
    bytes.replace(7, 8, std::to_string(10'000'000 + at / 1024).substr(0, 8));
    REQUIRE(::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(at)) == static_cast<ssize_t>(bytes.size()));
    expected[at / chunk] = R"({"type":"data","data":")" + to_base64(bytes) + "\"}";
  }
  ::close(file);
  auto zeros = R"({"type":"data","data":")" + to_base64(std::string(chunk, '\0')) + "\"}";
  auto client = world.open("read-file-stream", json{{"path", "f"}});
  auto frames = frames_in_place{client};
  CHECK(json::parse(frames.next())["length"] == size);
  auto at_once = 1 << 20; // the reader is woken for a MiB, or for the end
  ::setsockopt(client.fd(), SOL_SOCKET, SO_RCVLOWAT, &at_once, sizeof at_once);
  forget_peak();
  auto before = peak_bytes();
  auto wrong = 0;
  for (auto n = std::uint64_t{0}; n < size / chunk && wrong == 0; ++n) {
    auto at = expected.find(n);
    wrong += frames.next() != (at == expected.end() ? zeros : at->second);
  }
  auto grown = peak_bytes() - before;
  CHECK_EQ(wrong, 0);
  CHECK_EQ(frames.next(), R"({"type":"end","bytesSent":)" + std::to_string(size) + "}");
  CHECK_EQ(frames.next(), "");
  // Two chunks as base64, the bytes of one, and what the allocator keeps of those before: a few chunks, not a few hundred.
  if (memory_is_measured)
    CHECK_LT(grown, std::size_t{8} * chunk);
}

SCENARIO("a host that does not read holds two chunks, not the file") {
  auto world = agent_world{};
  auto file = ::open((world.workspace() / "f").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(::ftruncate(file, std::int64_t{1} << 30) == 0);
  ::close(file);
  // The sum of what is read settles once the kernel's buffers are full: the wire answers others, and this one waits.
  auto read_so_far = [] {
    auto io = std::ifstream{"/proc/self/io"};
    auto name = std::string{};
    auto value = std::uint64_t{0};
    io >> name >> value;
    return value;
  };
  auto start = read_so_far();
  auto client = agent_world::connect_to(world.port(), 64 * 1024);
  client.send(agent_world::request("read-file-stream", json{{"path", "f"}}));
  CHECK(client.event()["type"] == "meta");
  auto settled = std::uint64_t{0};
  CHECK(comes_true(world, [&] {
    auto now = read_so_far();
    auto still = now - settled < 64 * 1024;
    settled = now;
    return still;
  }));
  CHECK_LT(settled - start, 64u << 20);
  CHECK(held_open(world.workspace() / "f"));
  client.close();
  CHECK(comes_true(world, [&] { return !held_open(world.workspace() / "f"); }));
}

// [G 115] the guest's half: a file that shrinks while it is streamed
SCENARIO("a file that shrinks during a stream ends early and says how much was sent") {
  auto world = agent_world{{{"NAMZU_AGENT_READ_FILE_STREAM_CHUNK_BYTES", "1000"}}};
  put(world.workspace() / "f", pattern(5000));
  world.work.holding = true;
  auto client = world.open("read-file-stream", json{{"path", "f"}});
  world.work.take()();
  CHECK(client.event()["length"] == 5000);
  world.work.take()(); // the first chunk
  auto second = world.work.take();
  fs::resize_file(world.workspace() / "f", 1500);
  world.work.holding = false;
  second(); // it is short
  auto got = listen_to_stream(client);
  CHECK_EQ(got.order, "ddeT");
  CHECK((got.chunks == std::vector<std::size_t>{1000, 500}));
  CHECK(got.last["bytesSent"] == 1500);
}

SCENARIO("a file that grows during a stream is sent as far as it was announced") {
  auto world = agent_world{{{"NAMZU_AGENT_READ_FILE_STREAM_CHUNK_BYTES", "1000"}}};
  put(world.workspace() / "f", pattern(1500));
  world.work.holding = true;
  auto client = world.open("read-file-stream", json{{"path", "f"}});
  world.work.take()();
  CHECK(client.event()["length"] == 1500);
  auto first = world.work.take();
  put(world.workspace() / "f", pattern(9000));
  world.work.holding = false;
  first();
  auto got = listen_to_stream(client);
  CHECK(got.bytes == pattern(1500));
  CHECK(got.last["bytesSent"] == 1500);
}

// [G 116] a host that hangs up
SCENARIO("a host that hangs up in the middle of a stream ends it, and the descriptor is closed") {
  auto world = agent_world{{{"NAMZU_AGENT_READ_FILE_STREAM_CHUNK_BYTES", "1000"}}};
  auto path = world.workspace() / "f";
  put(path, pattern(5000));
  world.work.holding = true;
  GIVEN("a read that is under way") {
    auto client = world.open("read-file-stream", json{{"path", "f"}});
    world.work.take()();
    CHECK(client.event()["type"] == "meta");
    auto reading = world.work.take();
    CHECK(held_open(path));
    WHEN("the host ends its side") {
      ::shutdown(client.fd(), SHUT_WR);
      // The wire has seen it once the guest's side has ended as well.
      THEN("no data is sent, and nothing is held open once the read is over") {
        CHECK_EQ(client.rest(), "");
        reading();
        reading = nullptr;
        CHECK(comes_true(world, [&] { return !held_open(path); }));
      }
    }
  }
}

SCENARIO("a host that hangs up before the file is open leaves nothing open") {
  auto world = agent_world{};
  auto path = world.workspace() / "f";
  put(path, pattern(5000));
  world.work.holding = true;
  auto client = world.open("read-file-stream", json{{"path", "f"}});
  auto opening = world.work.take();
  ::shutdown(client.fd(), SHUT_WR);
  CHECK_EQ(client.rest(), "");
  opening();
  opening = nullptr;
  world.work.holding = false;
  CHECK(comes_true(world, [&] { return !held_open(path); }));
}

SCENARIO("what a host sends during a stream is ignored") {
  auto world = agent_world{{{"NAMZU_AGENT_READ_FILE_STREAM_CHUNK_BYTES", "1000"}}};
  put(world.workspace() / "f", pattern(5000));
  auto client = world.open("read-file-stream", json{{"path", "f"}});
  client.send(guest::to_frame("not json") + std::string{guest::terminator} + guest::to_frame(R"({"type":"stdin"})"));
  auto got = listen_to_stream(client);
  CHECK_EQ(got.order, "mdddddeT");
}

SCENARIO("sixteen streams at once are each whole") {
  auto world = agent_world{};
  auto clients = std::vector<raw_client>{};
  for (auto i = std::size_t{0}; i < 16; ++i) {
    put(world.workspace() / std::to_string(i), pattern(1'000'000 + i));
    clients.push_back(world.open("read-file-stream", json{{"path", std::to_string(i)}}));
  }
  for (auto i = clients.size(); i-- > 0;) // the first to come waits longest
    CHECK(listen_to_stream(clients[i]).bytes == pattern(1'000'000 + i));
}
