#define CAF_SUITE host_stream_heartbeat

#include "base/base64.hpp"
#include "tests/guest/stream_world.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using nlohmann::json;
using world = stream_world;

namespace {

json beating(json ready, std::int64_t interval) {
  ready["heartbeatMs"] = interval;
  return ready;
}

const auto beat = json{{"type", "heartbeat"}};

std::size_t beats(const world& w) {
  return w.guest.of_type("heartbeat").size();
}

} // namespace

// [G 186] the host's half
SCENARIO("a host that asked for 15 seconds and got the echo sends a heartbeat every 15 seconds") {
  world w;
  w.guest.greeting = {beating(world::ready(), 15000)};
  auto it = w.open_terminal();
  CHECK(w.guest.requests.at(0)["body"]["heartbeatMs"] == 15000);
  for (auto i = std::size_t{1}; i <= 8; ++i) {
    w.pass(14999ms);
    CHECK_EQ(beats(w), i - 1);
    w.guest.say(beat);
    w.pass(1ms);
    CHECK_EQ(beats(w), i);
  }
  CHECK(!w.guest.left());
  w.guest.say(world::data("alive"));
  CHECK_EQ(w.finish(it->next()), "alive");
}

// [G 190] the guest vanishes
SCENARIO("a guest that is silent for three intervals is dead: a terminal ends with -1") {
  world w;
  w.guest.greeting = {beating(world::ready(), 15000)};
  auto it = w.open_terminal();
  auto end = w.start(it->end());
  w.pass(44999ms);
  CHECK(!end.done());
  CHECK(!w.guest.left());
  w.pass(1ms);
  w.until([&] { return w.guest.left(); });
  REQUIRE(end.done());
  CHECK_EQ(end.get().value().exit_code, -1);
  CHECK(!w.finish(it->write("late")));
  CHECK_EQ(w.time.sleeping(), 0u);
}

// [G 190] the guest vanishes, and a session lives on
SCENARIO("a guest that is silent for three intervals is dead: a session is detached") {
  world w;
  w.guest.greeting = {beating(world::session_ready(7, 7), 15000)};
  auto it = w.attach(7);
  auto end = w.start(it->end());
  w.pass(44999ms);
  CHECK(!end.done());
  w.pass(1ms);
  REQUIRE(end.done());
  REQUIRE(failed_with<guest::session_detached>(end.get()));
  CHECK(std::get<guest::session_detached>(end.get().error()).next_offset == std::optional<std::uint64_t>{7});
}

SCENARIO("a guest that is silent for three intervals is dead: a connection to a port ends") {
  world w;
  w.guest.greeting = {beating(world::ready(), 15000)};
  auto it = w.open_tcp();
  auto next = w.start(it->next());
  w.pass(44999ms);
  CHECK(!next.done());
  w.pass(1ms);
  REQUIRE(next.done());
  CHECK(next.get().empty());
}

SCENARIO("any byte is proof of life") {
  world w;
  w.guest.greeting = {beating(world::ready(), 15000)};
  auto it = w.open_terminal();
  auto end = w.start(it->end());
  for (auto i = 0; i < 10; ++i) {
    w.pass(44s);
    w.guest.say(i % 2 == 0 ? beat : world::data("x"));
  }
  w.settle();
  CHECK(!end.done());
}

// [G 191] an echo far beyond what was asked
SCENARIO("a guest cannot put its death further off than four times what was asked") {
  world w;
  w.guest.greeting = {beating(world::ready(), 86'400'000)};
  auto it = w.open_terminal();
  auto end = w.start(it->end());
  w.pass(59999ms);
  CHECK_EQ(beats(w), 0u);
  w.pass(1ms);
  CHECK_EQ(beats(w), 1u);
  w.pass(119999ms);
  CHECK(!end.done());
  CHECK_EQ(beats(w), 2u);
  w.pass(1ms);
  REQUIRE(end.done());
  CHECK_EQ(end.get().value().exit_code, -1);
}

// [G 192] a large frame that arrives slowly
SCENARIO("a frame that takes longer than three intervals is not taken for silence") {
  world w;
  w.guest.greeting = {beating(world::ready(), 15000)};
  auto it = w.open_terminal();
  auto next = w.start(it->next());
  const auto text = std::string(2000, 'x');
  const auto frame = guest::to_frame(world::data(text).dump());
  for (auto at = std::size_t{0}; at < frame.size(); at += 100) {
    w.pass(40s);
    CHECK(!next.done());
    w.guest.say_bytes(frame.substr(at, 100));
    w.settle();
  }
  REQUIRE(next.done());
  CHECK_EQ(next.get(), text);
  CHECK(!w.guest.left());
}

// [G 193] a host whose caller does not read
SCENARIO("a host that its caller has paused does not take the guest for dead, and goes on beating") {
  for (const auto tcp : {false, true}) {
    world w;
    w.guest.greeting = {beating(world::ready(), 15000)};
    auto terminal = tcp ? nullptr : w.open_terminal();
    auto port = tcp ? w.open_tcp() : nullptr;
    auto ask = [&] { return tcp ? port->next() : terminal->next(); };
    auto first = w.start(ask());
    w.settle();
    const auto raw = std::string(64 * 1024, 'x');
    // One was asked for and one MiB waits; nothing is left in the socket that could pass for proof of life.
    constexpr auto count = std::size_t{17};
    for (auto i = std::size_t{0}; i < count; ++i)
      w.guest.say(world::data(tcp ? to_base64(raw) : raw));
    w.until([&] { return first.done() && w.guest.all_said(); });
    w.settle();
    w.pass(10min);
    CHECK(!w.guest.left());
    CHECK_EQ(beats(w), 40u);
    // It reads again, and the three intervals begin anew.
    auto got = std::size_t{1};
    for (; got < count; ++got)
      CHECK_EQ(w.finish(ask()), raw);
    w.settle();
    w.pass(44999ms);
    CHECK(!w.guest.left());
    w.pass(1ms);
    w.until([&] { return w.guest.left(); });
    CHECK(w.finish(ask()).empty());
  }
}

SCENARIO("a process that was held up looks at what has arrived before it gives up its guest") {
  world w;
  w.guest.greeting = {beating(world::ready(), 15000)};
  auto it = w.open_terminal();
  auto end = w.start(it->end());
  w.settle();
  // Both are due at once, and the watchdog is first.
  w.guest.say_now(beat);
  w.time.advance(1h);
  w.settle();
  CHECK(!end.done());
  CHECK(!w.guest.left());
}

SCENARIO("without an echo, or with one that is no interval, nobody beats and nobody watches") {
  for (const auto& echo : {json(), json("15000"), json(0), json(-1), json(true)}) {
    world w;
    auto ready = world::ready();
    if (!echo.is_null())
      ready["heartbeatMs"] = echo;
    w.guest.greeting = {ready};
    auto it = w.open_terminal();
    w.pass(24h);
    CHECK(w.guest.frames.empty());
    CHECK(!w.guest.left());
    CHECK_EQ(w.time.sleeping(), 0u);
  }
}

SCENARIO("a host that asks for no heartbeat has none, whatever the guest says") {
  world w;
  w.options({0ms});
  w.guest.greeting = {beating(world::ready(), 15000)};
  auto it = w.open_terminal();
  CHECK(!w.guest.requests.at(0)["body"].contains("heartbeatMs"));
  w.pass(24h);
  CHECK(w.guest.frames.empty());
  CHECK(!w.guest.left());
}

SCENARIO("heartbeats do not pile up behind a guest that does not read") {
  world w;
  w.guest.greeting = {beating(world::ready(), 15000)};
  auto it = w.open_terminal();
  w.guest.reading = false;
  auto writing = w.start(it->write(std::string(32 * 1024 * 1024, 'x')));
  w.settle();
  for (auto i = 0; i < 100; ++i) {
    w.guest.say(beat);
    w.pass(15s);
  }
  CHECK(!writing.done());
  w.guest.read_on();
  CHECK(w.finish(writing));
  w.settle();
  CHECK_LE(beats(w), 2u);
  CHECK(!w.guest.left());
}
