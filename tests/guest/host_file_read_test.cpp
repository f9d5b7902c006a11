#define CAF_SUITE host_file_read

#include "base/base64.hpp"
#include "guest/flows/file_transport.hpp"
#include "tests/support/fake_agent.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

template <class T>
bool failed_with(const auto& got) {
  return !got && std::holds_alternative<T>(got.error());
}

/// Takes bytes, and waits in `take` while it is held.
class holding_sink final : public guest::byte_sink {
public:
  boost::asio::awaitable<void> take(std::string piece) override {
    ++calls;
    bytes += piece;
    auto lane = co_await boost::asio::this_coro::executor;
    while (held) {
      bell = std::make_shared<boost::asio::steady_timer>(lane, boost::asio::steady_timer::time_point::max());
      [[maybe_unused]] auto [ec] = co_await bell->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
      if (stops_when_cancelled && ec == boost::asio::error::operation_aborted && held)
        co_return;
    }
    if (breaks)
      throw std::runtime_error{"the disk is full"};
  }
  void let_go() {
    held = false;
    if (bell)
      bell->cancel();
  }
  std::string bytes;
  std::size_t calls = 0;
  bool held = false;
  bool breaks = false;
  bool stops_when_cancelled = true;
  std::shared_ptr<boost::asio::steady_timer> bell;
};

json meta(std::uint64_t size, std::uint64_t offset, std::uint64_t length) {
  return {{"type", "meta"}, {"sizeBytes", size}, {"offset", offset}, {"length", length}};
}
json data_of(std::string_view bytes) {
  return {{"type", "data"}, {"data", to_base64(bytes)}};
}
json end_of(std::uint64_t sent) {
  return {{"type", "end"}, {"bytesSent", sent}};
}

struct fixture {
  boost::asio::io_context context;
  manual_time time;
  fake_agent agent{context};
  std::unique_ptr<guest::host> host = guest::make_host(time);
  std::unique_ptr<guest::file_host> files = guest::make_file_host(time, *host);
  holding_sink sink;

  fixture() {
    agent.features({"read-file-stream"});
  }
  [[nodiscard]] deadline in(time_source::clock::duration budget) const {
    return deadline{time, budget};
  }
  started<guest::result<guest::file_read>> start(guest::file_part part = {}, time_source::clock::duration budget = 60min) {
    return start_flow(context, files->read(agent.where(), "f", part, sink, in(budget)));
  }
  guest::result<guest::file_read> finish(started<guest::result<guest::file_read>> flow) {
    run_with_sockets(context, time, [&] { return flow.done(); });
    return std::move(flow.get());
  }
  guest::result<guest::file_read> read(guest::file_part part = {}) {
    return finish(start(part));
  }
  guest::result<guest::file_read> read_of(agent_script script, guest::file_part part = {}) {
    agent.on("read-file-stream", std::move(script));
    return read(part);
  }
};

const auto abc = agent_script{send(meta(3, 0, 3)), send(data_of("a")), send(data_of("bc")), send(end_of(3)), send_end()};

} // namespace

SCENARIO("a file is streamed with one probe and one request") {
  fixture f;
  const auto got = f.read_of(abc);
  REQUIRE(got.has_value());
  CHECK_EQ(f.sink.bytes, "abc");
  CHECK_EQ(got->size, 3u);
  CHECK_EQ(got->length, 3u);
  CHECK_EQ(f.agent.ops(), (std::vector<std::string>{"healthz", "read-file-stream"}));
  CHECK(f.agent.requests().at(1) == (json{{"op", "read-file-stream"}, {"body", {{"path", "f"}}}, {"token", "pod-uid"}}));
  // The features are remembered.
  f.sink.bytes.clear();
  REQUIRE(f.read().has_value());
  CHECK_EQ(f.agent.count("healthz"), 1u);
}

SCENARIO("a part of a file is asked for as it was stated") {
  fixture f;
  const auto got = f.read_of({send(meta(10, 4, 2)), send(data_of("xy")), send(end_of(2)), send_end()}, {4, 2});
  REQUIRE(got.has_value());
  CHECK_EQ(got->size, 10u);
  CHECK_EQ(got->offset, 4u);
  CHECK_EQ(got->length, 2u);
  CHECK(f.agent.requests().at(1)["body"] == (json{{"path", "f"}, {"offset", 4}, {"length", 2}}));
}

SCENARIO("offsets that JSON cannot carry are refused before anything is dialed") {
  fixture f;
  CHECK(failed_with<guest::invalid_argument>(f.read({9007199254740992, {}})));
  CHECK(failed_with<guest::invalid_argument>(f.read({{}, 9007199254740992})));
  CHECK_EQ(f.agent.connections(), 0u);
}

// -- features --------------------------------------------------------------------

// [G 142] a range, and a guest that cannot stream
SCENARIO("a part of a file is not asked of a guest that cannot stream") {
  for (const auto part : {guest::file_part{0, {}}, guest::file_part{{}, 5}, guest::file_part{2, 5}}) {
    fixture f;
    f.agent.features({});
    const auto got = f.read(part);
    REQUIRE(failed_with<guest::unsupported>(got));
    CHECK_EQ(guest::reason_of(got.error()), "AgentReadFileStreamUnsupported");
    CHECK_EQ(f.agent.ops(), std::vector<std::string>{"healthz"});
    CHECK_EQ(f.sink.calls, 0u);
  }
}

SCENARIO("a whole file of a guest that cannot stream is one reply") {
  fixture f;
  f.agent.features({});
  const auto bytes = std::string(300'000, 'x');
  f.agent.on("read-file", {send({{"ok", true}, {"guestBootId", "b"}, {"content", to_base64(bytes)}, {"sizeBytes", bytes.size()}})});
  const auto got = f.read();
  REQUIRE(got.has_value());
  CHECK_EQ(f.sink.bytes, bytes);
  CHECK_EQ(got->size, bytes.size());
  CHECK_EQ(got->boot, guest_boot_id{"b"});
}

SCENARIO("which guest it is comes before whether it is retiring, so a pinned read is asked of a fenced guest") {
  fixture f;
  f.agent.on("healthz", {send({{"ok", false}, {"retiring", true}, {"features", {"read-file-stream", "pinned-guest"}}})});
  f.agent.on("read-file-stream", {send({{"ok", false}, {"error", "guest_mismatch"}, {"guestBootId", "other"}})});
  auto where = f.agent.where();
  where.pinned = guest_boot_id{fake_agent::boot};
  CHECK(failed_with<guest::guest_mismatch>(f.finish(start_flow(f.context, f.files->read(where, "f", {}, f.sink, f.in(1min))))));
  CHECK_EQ(f.agent.count("read-file-stream"), 1u);
}

SCENARIO("features that cannot be had fail the read and are asked for again") {
  fixture f;
  f.agent.on("healthz", {send({{"ok", false}, {"retiring", true}})});
  CHECK(failed_with<guest::retiring>(f.read_of(abc)));
  CHECK_EQ(f.agent.count("read-file-stream"), 0u);
  f.agent.on("healthz", {send({{"ok", true}, {"protocolVersion", 2}, {"features", {"read-file-stream"}}})});
  CHECK(f.read().has_value());
}

// -- what a guest may not do -----------------------------------------------------

// [G 143] more announced than there is
SCENARIO("a part that is longer than its file is refused when it is announced") {
  fixture f;
  const auto huge = 9007199254740991;
  const auto got = f.read_of({send(meta(10, 0, huge)), watch()});
  REQUIRE(failed_with<guest::protocol_failure>(got));
  CHECK_EQ(f.time.elapsed(), time_source::clock::duration::zero());
  // A length that the file may have is not allocated either.
  CHECK(failed_with<guest::lost>(f.read_of({send(meta(huge, 0, huge)), send(data_of("a"))})));
}

// [G 115] the host's half: a file that shrinks while it is streamed
SCENARIO("a file that became shorter while it was streamed fails the read") {
  fixture f;
  const auto got = f.read_of({send(meta(10, 0, 10)), send(data_of("abc")), send(end_of(3)), send_end()});
  REQUIRE(failed_with<guest::lost>(got));
  CHECK_NE(guest::to_string(got.error()).find("shorter"), std::string::npos);
}

SCENARIO("rows, bytes and frames that may not come fail the read") {
  fixture f;
  CHECK(failed_with<guest::protocol_failure>(f.read_of({send(meta(3, 0, 3)), send(meta(3, 0, 3)), watch()})));
  CHECK(failed_with<guest::protocol_failure>(f.read_of({send(data_of("abc")), watch()})));
  CHECK(failed_with<guest::protocol_failure>(f.read_of({send(meta(3, 0, 3)), send(data_of("abcd")), watch()})));
  CHECK(failed_with<guest::protocol_failure>(f.read_of({send(meta(3, 0, 3)), send(data_of("abc")), send(end_of(2)), watch()})));
  CHECK(failed_with<guest::protocol_failure>(f.read_of({send(std::string{"zzzzzzzz\n"}), watch()})));
  CHECK(failed_with<guest::protocol_failure>(f.read_of({send(std::string{"10000000\n"}), watch()})));
  auto whole = abc;
  whole.push_back(send(std::string{"x"}));
  CHECK(failed_with<guest::protocol_failure>(f.read_of(whole)));
  whole.back() = send(end_of(3));
  CHECK(failed_with<guest::protocol_failure>(f.read_of(whole)));
  // In the bytes that brought the terminator, too.
  auto at_once = abc;
  at_once.back() = send(std::string{guest::terminator} + "x");
  CHECK(failed_with<guest::protocol_failure>(f.read_of(at_once)));
  // None of these waited for anything.
  CHECK_EQ(f.time.elapsed(), time_source::clock::duration::zero());
  whole.back() = watch();
  CHECK(failed_with<guest::protocol_failure>(f.read_of(whole)));
  CHECK_EQ(f.time.elapsed(), time_source::clock::duration{1s});
}

SCENARIO("a terminator before the end, and an end before meta, give no file") {
  fixture f;
  CHECK(failed_with<guest::lost>(f.read_of({send(meta(3, 0, 3)), send(data_of("abc")), send_end()})));
  CHECK(failed_with<guest::lost>(f.read_of({send_end()})));
  CHECK(failed_with<guest::protocol_failure>(f.read_of({send(end_of(0)), send_end()})));
}

SCENARIO("the guest's text about a file is passed on") {
  fixture f;
  const auto got = f.read_of({send(json{{"type", "error"}, {"error", "symlink escapes the workspace"}}), send_end()});
  REQUIRE(failed_with<guest::refused>(got));
  CHECK_EQ(std::get<guest::refused>(got.error()).code, "symlink escapes the workspace");
  CHECK(failed_with<guest::unauthorized>(f.read_of({send({{"ok", false}, {"error", "unauthorized"}})})));
  CHECK_EQ(f.sink.calls, 0u);
}

SCENARIO("a stream that is cut after n bytes never gives a file before the last") {
  auto all = std::size_t{0};
  for (const auto& x : abc)
    all += x.bytes.size();
  for (auto n = std::size_t{0}; n <= all; ++n) {
    fixture f;
    f.agent.limit("read-file-stream", n);
    const auto got = f.read_of(abc);
    if (n < all)
      CHECK(failed_with<guest::lost>(got));
    else
      CHECK(got.has_value());
    CHECK_EQ(f.agent.count("read-file-stream"), 1u);
  }
}

// [G 256] the pod is replaced in the middle of a streamed read
SCENARIO("a read that has handed out bytes fails with its pod and does not start again") {
  fixture f;
  f.agent.on("read-file-stream", {send(meta(6, 0, 6)), send(data_of("abc")), wait_for("replaced"), reset()});
  auto flow = f.start();
  run_until(f.context, [&] { return f.sink.bytes == "abc"; });
  f.agent.open("replaced");
  const auto got = f.finish(flow);
  // Neither of the two failures that prove that nothing was handed out.
  CHECK(failed_with<guest::lost>(got));
  CHECK_EQ(f.sink.bytes, "abc");
  CHECK_EQ(f.agent.count("read-file-stream"), 1u);
}

// -- time ------------------------------------------------------------------------

SCENARIO("a guest that is silent for a minute fails the read") {
  fixture f;
  CHECK(failed_with<guest::lost>(f.read_of({watch()})));
  CHECK_EQ(f.time.elapsed(), time_source::clock::duration{60s});
  CHECK(failed_with<guest::lost>(f.read_of({send(meta(3, 0, 3)), send(data_of("a")), watch()})));
  CHECK_EQ(f.time.elapsed(), time_source::clock::duration{120s});
}

SCENARIO("each byte starts the minute of silence anew") {
  fixture f;
  const auto whole = guest::to_frame(meta(0, 0, 0).dump());
  f.agent.on("read-file-stream", {send(whole.substr(0, 5)), wait_for("rest"), send(whole.substr(5)), send(end_of(0)), send_end()});
  auto flow = f.start();
  run_until(f.context, [&] { return f.agent.count("read-file-stream") == 1; });
  f.time.advance(59s);
  run_ready(f.context);
  f.agent.open("rest");
  run_until(f.context, [&] { return flow.done(); });
  CHECK(flow.get().has_value());
}

SCENARIO("a read is over by its deadline") {
  fixture f;
  f.agent.on("read-file-stream", {send(meta(3, 0, 3)), watch()});
  CHECK(failed_with<guest::lost>(f.finish(f.start({}, 3s))));
  CHECK_EQ(f.time.elapsed(), time_source::clock::duration{3s});
  run_until(f.context, [&] { return f.agent.ended() == f.agent.connections(); });
}

// -- back-pressure and the end of a consumer -------------------------------------

namespace {

constexpr auto chunk = std::size_t{256 * 1024};

agent_script chunks(std::size_t n) {
  auto all = agent_script{send(meta(n * chunk, 0, n * chunk))};
  for (auto i = std::size_t{0}; i < n; ++i)
    all.push_back(send(data_of(std::string(chunk, static_cast<char>('a' + i % 26)))));
  all.push_back(send(end_of(n * chunk)));
  all.push_back(send_end());
  return all;
}

/// What `port` of this process has sent and nobody has read yet: the kernel keeps it, as much as it likes.
std::size_t in_the_kernel(std::uint16_t port) {
  auto port_at = [](auto name, int fd) {
    auto where = sockaddr_in{};
    auto size = socklen_t{sizeof where};
    return name(fd, reinterpret_cast<sockaddr*>(&where), &size) == 0 && where.sin_family == AF_INET ? ntohs(where.sin_port) : 0;
  };
  auto all = 0;
  for (auto fd = 3; fd < 1024; ++fd) {
    auto here = 0;
    if (port_at(::getsockname, fd) == port && ::ioctl(fd, SIOCOUTQ, &here) == 0)
      all += here;
    if (port_at(::getpeername, fd) == port && ::ioctl(fd, FIONREAD, &here) == 0)
      all += here;
  }
  return static_cast<std::size_t>(all);
}

/// Runs until the guest can send no more.
void run_until_stuck(fixture& f) {
  auto before = std::size_t{0};
  do {
    before = f.agent.sent();
    f.context.restart();
    while (f.context.run_one_for(std::chrono::milliseconds{30}) != 0) {
    }
  } while (f.agent.sent() != before);
}

} // namespace

// [G 117] a slow consumer
SCENARIO("a consumer that is slow stops the guest at 4 MiB, and no silence counts") {
  fixture f;
  constexpr auto n = std::size_t{128}; // 32 MiB
  f.agent.on("read-file-stream", chunks(n));
  f.sink.held = true;
  auto flow = f.start();
  run_until_stuck(f);
  REQUIRE_EQ(f.sink.calls, 1u);
  // 4 MiB in the queue, at most two pieces more in hands, and the rest in the buffers of the kernel, of 43 MiB on the wire.
  const auto sent = f.agent.sent();
  CHECK_GE(sent, 16 * chunk / 3 * 4);
  const auto taken = sent - in_the_kernel(f.agent.where().port);
  MESSAGE("sent " << sent << ", taken " << taken);
  CHECK_LE(taken, 19 * chunk / 3 * 4);
  // Ten minutes, in which the guest can say nothing.
  for (auto i = 0; i < 20; ++i) {
    f.time.advance(30s);
    run_ready(f.context);
  }
  CHECK(!flow.done());
  CHECK_EQ(f.agent.sent(), sent);
  f.sink.let_go();
  const auto got = f.finish(flow);
  REQUIRE(got.has_value());
  CHECK_EQ(f.sink.bytes.size(), n * chunk);
  CHECK_EQ(f.sink.bytes[3 * chunk], 'd');
  CHECK_EQ(f.sink.bytes.back(), static_cast<char>('a' + (n - 1) % 26));
}

SCENARIO("a stream that is whole hands out all of its queue") {
  fixture f;
  f.agent.on("read-file-stream", chunks(8));
  f.sink.held = true;
  auto flow = f.start();
  run_until(f.context, [&] { return f.agent.ended() == 2; });
  run_until_stuck(f);
  CHECK(!flow.done());
  CHECK_EQ(f.sink.calls, 1u);
  f.sink.let_go();
  REQUIRE(f.finish(flow).has_value());
  CHECK_EQ(f.sink.bytes.size(), 8 * chunk);
  CHECK_EQ(f.sink.calls, 8u);
}

// [G 118] aborted with queued bytes
SCENARIO("a consumer that pulls after the abort gets the abort, not what was queued") {
  fixture f;
  f.agent.on("read-file-stream", chunks(128));
  f.sink.held = true;
  f.sink.stops_when_cancelled = false;
  auto flow = f.start();
  run_until_stuck(f);
  REQUIRE_EQ(f.sink.calls, 1u);
  flow.cancel();
  boost::asio::post(f.context, [&f] { f.sink.let_go(); }); // it pulls as soon as the abort has been heard of
  run_until(f.context, [&] { return flow.done(); });
  CHECK(failed_with<guest::lost>(flow.get()));
  CHECK_EQ(f.sink.calls, 1u);
  // And the connection is destroyed.
  run_until(f.context, [&] { return f.agent.ended() == f.agent.connections(); });
}

SCENARIO("a failure comes before what was queued when it happened") {
  fixture f;
  auto script = chunks(8);
  script.resize(6);
  script.push_back(send(json{{"type", "error"}, {"error", "EIO: input/output error"}}));
  f.agent.on("read-file-stream", std::move(script));
  f.sink.held = true;
  f.sink.stops_when_cancelled = false;
  auto flow = f.start();
  run_until_stuck(f);
  REQUIRE_EQ(f.sink.calls, 1u);
  f.sink.let_go();
  const auto got = f.finish(flow);
  REQUIRE(failed_with<guest::refused>(got));
  CHECK_EQ(std::get<guest::refused>(got.error()).code, "EIO");
  CHECK_EQ(f.sink.calls, 1u);
}

SCENARIO("a consumer that fails ends the read, and the connection is destroyed") {
  fixture f;
  f.agent.on("read-file-stream", chunks(128));
  f.sink.breaks = true;
  const auto got = f.read();
  REQUIRE(failed_with<guest::lost>(got));
  CHECK_NE(guest::to_string(got.error()).find("the disk is full"), std::string::npos);
  CHECK_EQ(f.sink.calls, 1u);
  run_until(f.context, [&] { return f.agent.ended() == f.agent.connections(); });
}

SCENARIO("a read that is withdrawn before a connection stands has sent nothing") {
  fixture f;
  const auto where = f.agent.where();
  f.agent.stop_listening();
  auto flow = start_flow(f.context, f.files->read(where, "f", {}, f.sink, f.in(10min)));
  run_until(f.context, [&] { return f.time.sleeping() >= 2; });
  flow.cancel();
  run_until(f.context, [&] { return flow.done(); });
  CHECK(failed_with<guest::withdrawn>(flow.get()));
}
