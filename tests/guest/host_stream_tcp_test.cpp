#define CAF_SUITE host_stream_tcp

#include "base/base64.hpp"
#include "tests/guest/stream_world.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using nlohmann::json;
using world = stream_world;

namespace {

constexpr std::size_t piece = 64 * 1024;

/// Bytes of every value that can be told apart by their place.
std::string block(std::size_t index) {
  auto x = std::string(piece, '\0');
  for (auto i = std::size_t{0}; i < x.size(); ++i)
    x[i] = static_cast<char>((i * 31 + index * 7 + i / 251) & 0xff);
  return x;
}

json bytes(const std::string& raw) {
  return world::data(to_base64(raw));
}

std::string received(const world& w) {
  auto got = std::string{};
  for (const auto& x : w.guest.of_type("data"))
    got += from_base64(x["data"].get<std::string>()).value_or("?");
  return got;
}

} // namespace

SCENARIO("a connection to the guest's loopback carries bytes both ways") {
  world w;
  const auto raw = std::string("\0\xff\x80GET", 6);
  auto it = w.open_tcp();
  CHECK(w.guest.requests.at(0)["op"] == "tcp-connect");
  CHECK(w.guest.requests.at(0)["body"] == (json{{"host", "127.0.0.1"}, {"port", 8080}, {"heartbeatMs", 15000}}));
  // It needs no feature, so none is asked for.
  CHECK_EQ(w.guest.ops, std::vector<std::string>{"tcp-connect"});
  CHECK(it->boot() == guest_boot_id{"boot"});
  CHECK(w.finish(it->write(raw)));
  w.guest.say(bytes(raw));
  CHECK_EQ(w.finish(it->next()), raw);
  w.settle();
  CHECK_EQ(received(w), raw);
}

// [G 180] the host's half: only the loopback is dialled
SCENARIO("a target that is not the guest's loopback is refused before anything is dialled") {
  world w;
  for (const auto* host : {"10.0.0.1", "localhost", ""})
    CHECK(failed_with<guest::invalid_argument>(w.try_tcp(host, 80)));
  for (const auto port : {0, -1, 65536})
    CHECK(failed_with<guest::invalid_argument>(w.try_tcp("127.0.0.1", port)));
  w.settle();
  CHECK(w.guest.ops.empty());
}

SCENARIO("a guest that refuses the target all the same rejects the open") {
  world w;
  w.guest.greeting = {json{{"type", "error"}, {"error", "invalid_loopback_target"}}};
  const auto got = w.try_tcp();
  REQUIRE(failed_with<guest::refused>(got));
  CHECK_EQ(std::get<guest::refused>(got.error()).code, "invalid_loopback_target");
}

SCENARIO("a port that nobody listens on, a refusal and a service that closes before ready reject the open") {
  world w;
  w.guest.greeting = {json{{"type", "error"}, {"error", "connect ECONNREFUSED 127.0.0.1:8080"}}};
  CHECK(failed_with<guest::refused>(w.try_tcp()));
  w.guest.greeting = {json{{"ok", false}, {"error", "agent_retiring"}}};
  CHECK(failed_with<guest::retiring>(w.try_tcp()));
  w.guest.greeting = {json{{"type", "end"}}};
  CHECK(failed_with<guest::command_failed>(w.try_tcp()));
  w.settle();
  CHECK(w.guest.left());
}

SCENARIO("60 seconds of silence before ready reject the open") {
  world w;
  auto flow = w.start(w.host->open_tcp(w.guest.where(), "::1", 80, w.soon()));
  w.until([&] { return !w.guest.requests.empty(); });
  w.pass(60s);
  REQUIRE(flow.done());
  CHECK(failed_with<guest::lost>(flow.get()));
}

SCENARIO("a service that closes ends the stream after its last bytes") {
  world w;
  auto it = w.open_tcp();
  w.guest.say(bytes("last"));
  w.guest.say({{"type", "end"}});
  w.guest.finish();
  CHECK_EQ(w.finish(it->next()), "last");
  CHECK(w.finish(it->next()).empty());
  CHECK(w.finish(it->next()).empty());
  CHECK(!w.finish(it->write("late")));
  w.settle();
  CHECK(w.guest.left());
}

SCENARIO("an error and a lost connection only end the stream") {
  for (const auto way : {0, 1, 2}) {
    world w;
    auto it = w.open_tcp();
    if (way == 0)
      w.guest.say({{"type", "error"}, {"error", "read ECONNRESET"}});
    else if (way == 1)
      w.guest.reset();
    else
      w.guest.say(world::data("*no base64*"));
    CHECK(w.finish(it->next()).empty());
    CHECK(!w.finish(it->write("late")));
    CHECK(!w.finish(it->finish()));
  }
}

SCENARIO("a half-close is told to the guest once, and the service may still answer") {
  world w;
  auto it = w.open_tcp();
  CHECK(w.finish(it->write("question")));
  CHECK(w.finish(it->finish()));
  CHECK(w.finish(it->finish()));
  CHECK(!w.finish(it->write("more")));
  w.guest.say(bytes("answer"));
  CHECK_EQ(w.finish(it->next()), "answer");
  w.settle();
  CHECK(!w.guest.left());
  CHECK(w.guest.frames == (std::vector<json>{bytes("question"), json{{"type", "end"}}}));
}

SCENARIO("destroying tells the guest and closes") {
  world w;
  auto it = w.open_tcp();
  auto reading = w.start(it->next());
  w.settle();
  it->destroy();
  w.until([&] { return w.guest.left(); });
  CHECK(w.guest.frames == (std::vector<json>{json{{"type", "destroy"}}}));
  REQUIRE(reading.done());
  CHECK(reading.get().empty());
  CHECK(!w.finish(it->write("late")));
  it->destroy();
  w.settle();
  CHECK_EQ(w.guest.frames.size(), 1u);
  CHECK_EQ(w.time.sleeping(), 0u);
}

SCENARIO("destroying closes within a second when the guest does not read") {
  world w;
  auto it = w.open_tcp();
  w.guest.reading = false;
  auto writing = w.start(it->write(std::string(32 * 1024 * 1024, 'x')));
  w.settle();
  auto queued = w.start(it->write("never"));
  w.settle();
  it->destroy();
  w.settle();
  REQUIRE(queued.done());
  CHECK(!queued.get());
  w.pass(1s);
  REQUIRE(writing.done());
  CHECK(!writing.get());
  w.guest.read_on();
  w.until([&] { return w.guest.left(); });
  CHECK_EQ(w.time.sleeping(), 0u);
  CHECK(received(w).find("never") == std::string::npos);
}

SCENARIO("a stream that is destroyed by going away closes without a word") {
  world w;
  auto it = w.open_tcp();
  it.reset();
  w.until([&] { return w.guest.left(); });
  CHECK(w.guest.frames.empty());
}

SCENARIO("not a byte is lost once somebody listens, and a guest that floods waits") {
  world w;
  auto it = w.open_tcp();
  auto first = w.start(it->next());
  w.settle();
  constexpr auto count = std::size_t{256};
  for (auto i = std::size_t{0}; i < count; ++i)
    w.guest.say(bytes(block(i)));
  w.guest.say({{"type", "end"}});
  w.until([&] { return first.done(); });
  auto before = std::size_t{1};
  while (before != w.guest.said()) {
    before = w.guest.said();
    w.settle();
  }
  CHECK(!w.guest.all_said());
  auto whole = first.get() == block(0);
  for (auto i = std::size_t{1}; i < count; ++i)
    whole = whole && w.finish(it->next()) == block(i);
  CHECK(whole);
  CHECK(w.finish(it->next()).empty());
}

SCENARIO("before anybody listens the newest MiB waits") {
  world w;
  auto it = w.open_tcp();
  auto all = std::string{};
  for (auto i = std::size_t{0}; i < 32; ++i) {
    all += block(i);
    w.guest.say(bytes(block(i)));
  }
  w.guest.say({{"type", "end"}});
  w.until([&] { return w.guest.left(); });
  auto got = std::string{};
  while (true) {
    auto next = w.finish(it->next());
    if (next.empty())
      break;
    got += next;
  }
  CHECK_EQ(got.size(), 16 * piece);
  CHECK(all.ends_with(got));
}

SCENARIO("what is written arrives in pieces that every guest takes, and whole") {
  world w;
  auto it = w.open_tcp();
  auto all = std::string{};
  for (auto i = std::size_t{0}; i < 40; ++i)
    all += block(i);
  all += "x";
  CHECK(w.finish(it->write(all)));
  CHECK(w.finish(it->write("")));
  w.until([&] { return w.guest.of_type("data").size() == 41; });
  CHECK(received(w) == all);
}
