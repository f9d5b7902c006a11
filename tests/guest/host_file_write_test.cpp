#define CAF_SUITE host_file_write

#include "base/base64.hpp"
#include "guest/flows/file_transport.hpp"
#include "guest/host_requests.hpp"
#include "tests/support/fake_agent.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

template <class T>
bool failed_with(const auto& got) {
  return !got && std::holds_alternative<T>(got.error());
}

std::string pattern(std::size_t n) {
  auto out = std::string(n, '\0');
  for (auto i = std::size_t{0}; i < n; ++i)
    out[i] = static_cast<char>((i * 2654435761u) >> 11);
  return out;
}

/// Gives bytes in pieces whose length is no multiple of anything.
class bytes_source final : public guest::input_source {
public:
  explicit bytes_source(std::string all) : bytes(std::move(all)) {
  }
  boost::asio::awaitable<std::string> next() override {
    ++asked;
    auto piece = bytes.substr(at, 64 * 1024 - 1);
    at += piece.size();
    co_return piece;
  }
  std::string bytes;
  std::size_t at = 0;
  std::size_t asked = 0;
};

struct fixture {
  explicit fixture(guest::file_options options = {}) : files(guest::make_file_host(time, *host, {}, options)) {
    agent.features({"write-file-parts"});
    agent.on("write-file", [this](const json& request) { return answer(request); });
  }
  using flow = started<guest::result<guest::file_written>>;

  boost::asio::io_context context;
  manual_time time;
  fake_agent agent{context};
  std::unique_ptr<guest::host> host = guest::make_host(time);
  std::unique_ptr<guest::file_host> files;
  std::optional<bytes_source> source;

  // What the guest made of the requests.
  std::string written;
  std::string put_in_place; // the target
  std::size_t parts = 0;
  std::size_t discards = 0;
  bool together = false; // two requests at once
  // What it is to answer instead of "well".
  std::optional<std::size_t> fail_at; // the part
  agent_script failing{send({{"ok", false}, {"error", "ENOSPC: no space left on device"}})};
  agent_script discarding{send({{"ok", true}, {"discarded", true}})};
  std::uint64_t size_off = 0;

  agent_script answer(const json& request) {
    together = together || agent.ended() + 1 != agent.connections();
    const auto& body = request["body"];
    if (body.contains("part") && body["part"].contains("discard")) {
      ++discards;
      return discarding;
    }
    const auto bytes = from_base64(body["content"].get<std::string>()).value();
    if (!body.contains("part")) {
      written = bytes;
      put_in_place = body["path"];
      return {send({{"ok", true}, {"guestBootId", "b"}, {"bytesWritten", bytes.size()}})};
    }
    if (fail_at == parts++)
      return failing;
    if (body["part"]["offset"] != written.size())
      return {send({{"ok", false}, {"error", "write_part_offset_mismatch: out of order"}})};
    written += bytes;
    if (body["part"]["final"] == true)
      put_in_place = body["part"]["renameTo"];
    return {send({{"ok", true}, {"guestBootId", "b"}, {"bytesWritten", bytes.size()}, {"sizeBytes", written.size() + size_off}})};
  }
  flow start(std::string bytes, std::optional<std::uint64_t> size, time_source::clock::duration budget = 60min) {
    source.emplace(std::move(bytes));
    return start_flow(context, files->write(agent.where(), "d/f", *source, size, deadline{time, budget}));
  }
  guest::result<guest::file_written> finish(flow it) {
    run_with_sockets(context, time, [&] { return it.done(); });
    return std::move(it.get());
  }
  guest::result<guest::file_written> write(std::string bytes, std::optional<std::uint64_t> size) {
    return finish(start(std::move(bytes), size));
  }
};

guest::file_options parts_of(std::uint64_t n) {
  auto x = guest::file_options{};
  x.part_bytes = n;
  return x;
}

constexpr auto MiB = std::size_t{1024 * 1024};

} // namespace

SCENARIO("content that fits is written in one request, without a probe") {
  for (const auto& bytes : {std::string{}, std::string{"\0\xff caf", 6}, pattern(6'200'000)})
    for (const auto known : {true, false}) {
      fixture f;
      const auto got = f.write(bytes, known ? std::optional{bytes.size()} : std::nullopt);
      REQUIRE(got.has_value());
      CHECK_EQ(got->bytes, bytes.size());
      CHECK_EQ(got->boot, guest_boot_id{"b"});
      CHECK(f.written == bytes);
      CHECK_EQ(f.put_in_place, "d/f");
      CHECK_EQ(f.agent.ops(), std::vector<std::string>{"write-file"});
      CHECK(f.agent.requests()[0]["token"] == "pod-uid");
    }
}

// [G 138] 20 MiB over tcp
SCENARIO("content that does not fit goes out in parts, one at a time, and the size of all is verified") {
  const auto bytes = pattern(20 * MiB);
  for (const auto known : {true, false}) {
    auto largest = guest::file_options{};
    largest.later_part_bytes = 8 * MiB; // more than a frame leaves
    fixture f{largest};
    const auto got = f.write(bytes, known ? std::optional{bytes.size()} : std::nullopt);
    REQUIRE(got.has_value());
    CHECK_EQ(got->bytes, bytes.size());
    CHECK(f.written == bytes);
    CHECK_EQ(f.put_in_place, "d/f");
    CHECK_EQ(f.parts, 4u);
    CHECK(!f.together);
    CHECK_EQ(f.discards, 0u);
    CHECK_EQ(f.agent.ops(), (std::vector<std::string>{"healthz", "write-file", "write-file", "write-file", "write-file"}));
    const auto temporary = f.agent.requests()[1]["body"]["path"].get<std::string>();
    CHECK(temporary.starts_with("d/.namzu-write-"));
    CHECK(temporary.ends_with("-f.part"));
    for (auto i = std::size_t{1}; i < 5; ++i) {
      const auto& request = f.agent.requests()[i];
      CHECK_LE(request.dump().size(), guest::request_ceiling);
      CHECK(request["body"]["path"] == temporary);
      CHECK(request["body"]["part"]["final"] == json(i == 4));
    }
  }
  fixture f;
  f.size_off = 1;
  CHECK(failed_with<guest::protocol_failure>(f.write(bytes, bytes.size())));
  CHECK_EQ(f.discards, 1u);
}

SCENARIO("what is known to go out in parts goes in small ones, and the input is whole whatever it was cut from") {
  const auto bytes = pattern(9 * MiB + 1);
  fixture f;
  REQUIRE(f.write(bytes, bytes.size()).has_value());
  CHECK(f.written == bytes);
  CHECK(!f.together);
  CHECK_EQ(f.parts, 5u);
  fixture unknown; // the first part is as large as the frame that it might have fitted
  REQUIRE(unknown.write(bytes, std::nullopt).has_value());
  CHECK(unknown.written == bytes);
  CHECK(!unknown.together);
  CHECK_EQ(unknown.parts, 3u);
}

SCENARIO("every call has a temporary of its own") {
  fixture f{parts_of(4)};
  REQUIRE(f.write("0123456789", 10).has_value());
  f.written.clear();
  REQUIRE(f.write("0123456789", 10).has_value());
  CHECK(f.agent.requests()[1]["body"]["path"] != f.agent.requests()[4]["body"]["path"]);
}

SCENARIO("the last part is full when the content ends with it") {
  for (const auto known : {true, false}) {
    fixture f{parts_of(4)};
    REQUIRE(f.write("01234567", known ? std::optional<std::uint64_t>{8} : std::nullopt).has_value());
    CHECK_EQ(f.written, "01234567");
    CHECK_EQ(f.parts, 2u);
    fixture one{parts_of(4)};
    REQUIRE(one.write("0123", known ? std::optional<std::uint64_t>{4} : std::nullopt).has_value());
    CHECK_EQ(one.parts, 0u);
    CHECK_EQ(one.put_in_place, "d/f");
  }
}

// [G 139] 7 MiB, and a guest without parts
SCENARIO("content that does not fit is not sent to a guest that takes no parts") {
  for (const auto known : {true, false}) {
    fixture f;
    f.agent.features({"read-file-stream"});
    const auto got = f.write(pattern(7 * MiB), known ? std::optional{7 * MiB} : std::nullopt);
    REQUIRE(failed_with<guest::frame_too_large>(got));
    CHECK_EQ(guest::reason_of(got.error()), "AgentPreauthFrameTooLarge");
    CHECK_EQ(f.agent.ops(), std::vector<std::string>{"healthz"});
  }
}

// [G 140] more than the host writes
SCENARIO("content beyond the bound of this host is refused before anything is dialed") {
  auto options = guest::file_options{};
  options.max_write_bytes = 100;
  for (const auto known : {true, false}) {
    fixture f{options};
    const auto got = f.write(pattern(101), known ? std::optional<std::uint64_t>{101} : std::nullopt);
    REQUIRE(failed_with<guest::file_too_large>(got));
    CHECK_EQ(guest::reason_of(got.error()), "AgentWriteFileTooLarge");
    CHECK_EQ(f.agent.connections(), 0u);
    CHECK_EQ(f.source->asked == 0, known);
    CHECK(f.write(pattern(100), known ? std::optional<std::uint64_t>{100} : std::nullopt).has_value());
  }
}

SCENARIO("an input that turns out too large after parts have gone out is discarded") {
  auto options = parts_of(40);
  options.max_write_bytes = 100;
  fixture f{options};
  CHECK(failed_with<guest::file_too_large>(f.write(pattern(101), std::nullopt)));
  CHECK_EQ(f.parts, 2u);
  CHECK_EQ(f.discards, 1u);
  CHECK_EQ(f.put_in_place, "");
}

// [G 141] a part fails
SCENARIO("a write whose part fails discards once and says why the part failed, whatever becomes of that") {
  const auto refusing = agent_script{send({{"ok", false}, {"error", "EACCES: permission denied"}})};
  for (const auto& discarding :
       {agent_script{send({{"ok", true}, {"discarded", true}})}, refusing, agent_script{reset()}, agent_script{watch()}})
    for (auto n = std::size_t{0}; n < 3; ++n) {
      fixture f{parts_of(4)};
      f.fail_at = n;
      f.discarding = discarding;
      const auto got = f.write("0123456789", 10);
      REQUIRE(failed_with<guest::refused>(got));
      CHECK_EQ(std::get<guest::refused>(got.error()).code, "ENOSPC");
      CHECK_EQ(f.parts, n + 1);
      CHECK_EQ(f.discards, 1u);
      CHECK_EQ(f.put_in_place, "");
      CHECK(
        f.agent.requests().back()["body"]
        == (json{{"path", f.agent.requests()[1]["body"]["path"]}, {"content", ""}, {"encoding", "base64"}, {"part", {{"discard", true}}}}));
      CHECK_LE(f.time.elapsed(), time_source::clock::duration{5s});
    }
}

SCENARIO("a part whose connection ends at any byte of its answer fails the write, and nothing is sent twice") {
  const auto reply = guest::to_frame(json{{"ok", true}, {"bytesWritten", 4}, {"sizeBytes", 4}}.dump());
  for (auto n = std::size_t{0}; n < reply.size(); ++n) {
    fixture f{parts_of(4)};
    f.fail_at = 0;
    f.failing = {send(reply.substr(0, n))};
    CHECK(failed_with<guest::lost>(f.write("0123456789", 10)));
    CHECK_EQ(f.parts, 1u);
    CHECK_EQ(f.discards, 1u);
  }
}

SCENARIO("a write that is withdrawn between or during parts fails, and discards") {
  fixture f{parts_of(4)};
  f.fail_at = 1;
  f.failing = {watch()};
  auto flow = f.start("0123456789", 10);
  run_until(f.context, [&] { return f.parts == 2; });
  flow.cancel();
  CHECK(failed_with<guest::lost>(f.finish(flow)));
  CHECK_EQ(f.parts, 2u);
  CHECK_EQ(f.discards, 1u);
  CHECK_EQ(f.put_in_place, "");
}

SCENARIO("a write is over by its deadline and the bound of the clean-up") {
  fixture f{parts_of(4)};
  f.fail_at = 1;
  f.failing = {watch()};
  f.discarding = {watch()};
  CHECK(failed_with<guest::lost>(f.finish(f.start("0123456789", 10, 3s))));
  CHECK_EQ(f.discards, 1u);
  CHECK_EQ(f.time.elapsed(), time_source::clock::duration{8s});
}

SCENARIO("a write that never connected discards nothing") {
  fixture f{parts_of(4)};
  f.agent.on("healthz", [&f](const json&) {
    f.agent.stop_listening();
    return agent_script{send({{"ok", true}, {"protocolVersion", 2}, {"features", {"write-file-parts"}}})};
  });
  CHECK(failed_with<guest::dial_failed>(f.write("0123456789", 10)));
  CHECK_EQ(f.agent.connections(), 1u);
  CHECK_LE(f.time.elapsed(), time_source::clock::duration{30s});
}

SCENARIO("an input of another size than was said puts nothing in place") {
  for (const auto part : {std::uint64_t{4}, std::uint64_t{400}})
    for (const auto size : {std::uint64_t{9}, std::uint64_t{11}}) {
      fixture f{parts_of(part)};
      CHECK(failed_with<guest::invalid_argument>(f.write("0123456789", size)));
      CHECK_EQ(f.put_in_place, "");
      CHECK_EQ(f.discards, part == 4 ? 1u : 0u);
    }
}

SCENARIO("a path that names no file is refused before anything is dialed") {
  fixture f;
  auto refused_here = [&](const char* path) {
    f.source.emplace("x");
    return failed_with<guest::invalid_argument>(
      f.finish(start_flow(f.context, f.files->write(f.agent.where(), path, *f.source, 1, deadline{f.time, 10s}))));
  };
  CHECK(refused_here(""));
  CHECK(refused_here("d/"));
  CHECK_EQ(f.agent.connections(), 0u);
}
