#define CAF_SUITE host_stream_terminal

#include "base/base64.hpp"
#include "tests/guest/stream_world.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using nlohmann::json;
using world = stream_world;

namespace {

constexpr std::size_t mebibyte = 1024 * 1024;

json exit_frame(int code) {
  return {{"type", "exit"}, {"exitCode", code}};
}

guest::terminal_request persistent(std::string id) {
  auto x = guest::terminal_request{};
  x.session = std::move(id);
  return x;
}

/// Pieces of `size` bytes that can be told apart.
std::string block(std::size_t index, std::size_t size = 64 * 1024) {
  auto x = std::to_string(index) + ":";
  x.resize(size, static_cast<char>('a' + index % 26));
  return x;
}

boost::asio::awaitable<std::string> all_of(guest::terminal_stream& from) {
  auto all = std::string{};
  while (true) {
    auto piece = co_await from.next();
    if (piece.empty())
      co_return all;
    all += piece;
  }
}

guest::result<guest::terminal_end> ended(world& w, guest::terminal_stream& it) {
  return w.finish(it.end());
}

} // namespace

SCENARIO("a terminal is opened, typed into, resized and read to its end") {
  world w;
  auto what = guest::terminal_request{};
  what.program = "bash";
  what.size = {100, 30};
  auto it = w.open_terminal(what);
  REQUIRE_EQ(w.guest.requests.size(), 1u);
  const auto request = w.guest.requests.at(0);
  CHECK(request["op"] == "terminal");
  CHECK(request["token"] == "pod-uid");
  CHECK(request["body"] == (json{{"command", "bash"}, {"args", json::array()}, {"cols", 100}, {"rows", 30}, {"heartbeatMs", 15000}}));
  CHECK(it->boot() == guest_boot_id{"boot"});
  CHECK(!it->position());
  CHECK(!it->next_offset());
  CHECK(w.finish(it->write("ls\n")));
  CHECK(w.finish(it->resize({120, 40})));
  CHECK(w.finish(it->resize({0, 40})));
  w.guest.say(world::data("one"));
  CHECK_EQ(w.finish(it->next()), "one");
  w.guest.say(exit_frame(5));
  w.guest.finish();
  CHECK(w.finish(it->next()).empty());
  const auto end = ended(w, *it);
  REQUIRE(end.has_value());
  CHECK_EQ(end->exit_code, 5);
  CHECK(!end->signal);
  CHECK(w.guest.frames == (std::vector<json>{{{"type", "input"}, {"data", "ls\n"}}, {{"type", "resize"}, {"cols", 120}, {"rows", 40}}}));
  CHECK(!w.finish(it->write("late")));
  CHECK(!w.finish(it->resize({80, 24})));
  CHECK(!w.finish(it->kill("SIGTERM")));
  w.settle();
  CHECK(w.guest.left());
}

SCENARIO("a signal that ended the program is a number") {
  world w;
  auto it = w.open_terminal();
  w.guest.say({{"type", "exit"}, {"exitCode", -1}, {"signal", 9}});
  const auto end = ended(w, *it);
  REQUIRE(end.has_value());
  CHECK_EQ(end->exit_code, -1);
  CHECK(end->signal == std::optional<int>{9});
}

// -- the open --------------------------------------------------------------------

// [G 152] the host's half: a program that ends before it is ready
SCENARIO("an exit before ready rejects the open") {
  world w;
  w.guest.greeting = {world::data("sh: not found"), exit_frame(127)};
  const auto got = w.try_terminal();
  CHECK(failed_with<guest::command_failed>(got));
  w.settle();
  CHECK(w.guest.left());
}

SCENARIO("an error before ready rejects the open with the guest's text") {
  world w;
  w.guest.greeting = {json{{"type", "error"}, {"error", "cols must be an integer in [1, 1000]"}}};
  const auto got = w.try_terminal();
  REQUIRE(failed_with<guest::refused>(got));
  CHECK_EQ(std::get<guest::refused>(got.error()).text, "cols must be an integer in [1, 1000]");
}

SCENARIO("refusals of the gate and the fence, which have no type, reject the open") {
  world w;
  w.guest.greeting = {json{{"ok", false}, {"error", "unauthorized"}}};
  CHECK(failed_with<guest::unauthorized>(w.try_terminal()));
  w.guest.greeting = {json{{"ok", false}, {"error", "agent_retiring"}}};
  CHECK(failed_with<guest::retiring>(w.try_terminal()));
  w.guest.greeting = {json{{"ok", false}, {"error", "quiesce_in_progress"}}};
  const auto got = w.try_terminal();
  REQUIRE(failed_with<guest::refused>(got));
  CHECK_EQ(std::get<guest::refused>(got.error()).code, "quiesce_in_progress");
}

SCENARIO("a stream that ends before ready rejects the open, empty frames or not") {
  world w;
  auto flow = w.start(w.host->open_terminal(w.guest.where(), {}, w.soon()));
  w.until([&] { return !w.guest.requests.empty(); });
  w.guest.say_bytes(std::string{guest::terminator});
  w.guest.finish();
  CHECK(failed_with<guest::lost>(w.finish(flow)));
}

SCENARIO("bytes that are no frames reject the open") {
  world w;
  auto flow = w.start(w.host->open_terminal(w.guest.where(), {}, w.soon()));
  w.until([&] { return !w.guest.requests.empty(); });
  w.guest.say_bytes("HTTP/1.1 400 Bad Request\r\n");
  CHECK(failed_with<guest::protocol_failure>(w.finish(flow)));
}

SCENARIO("60 seconds of silence before ready reject the open, and every byte starts them anew") {
  world w;
  auto flow = w.start(w.host->open_terminal(w.guest.where(), {}, w.soon()));
  w.until([&] { return !w.guest.requests.empty(); });
  w.pass(59s);
  w.guest.say_bytes("0000");
  w.pass(59s);
  w.guest.say_bytes("0000\n");
  w.pass(59999ms);
  CHECK(!flow.done());
  w.pass(1ms);
  REQUIRE(flow.done());
  CHECK(failed_with<guest::lost>(flow.get()));
  w.settle();
  CHECK(w.guest.left());
}

SCENARIO("the deadline of the open and its caller end it, and leave no connection behind") {
  for (const auto cancelled : {false, true}) {
    world w;
    auto flow = w.start(w.host->open_terminal(w.guest.where(), {}, deadline{w.time, 5s}));
    w.until([&] { return !w.guest.requests.empty(); });
    if (cancelled)
      flow.cancel();
    else
      w.pass(5s);
    w.until([&] { return flow.done(); });
    CHECK(failed_with<guest::lost>(flow.get()));
    w.until([&] { return w.guest.left(); });
  }
}

SCENARIO("nothing is sent to a guest that cannot be reached") {
  world w;
  auto nowhere = w.guest.where();
  nowhere.port = 1;
  auto flow = w.start(w.host->open_terminal(nowhere, {}, deadline{w.time, 1s}));
  w.until([&] {
    w.pass(100ms);
    return flow.done();
  });
  CHECK(failed_with<guest::dial_failed>(flow.get()));
}

SCENARIO("output that comes before ready is delivered after it, in order") {
  world w;
  w.guest.greeting = {world::data("a"), world::data("b"), world::ready(), world::data("c")};
  auto it = w.open_terminal();
  CHECK_EQ(w.finish(it->next()), "a");
  CHECK_EQ(w.finish(it->next()), "b");
  CHECK_EQ(w.finish(it->next()), "c");
}

SCENARIO("a size that no terminal has is refused before anything is dialled") {
  world w;
  auto what = guest::terminal_request{};
  what.size = {1001, 24};
  CHECK(failed_with<guest::invalid_argument>(w.try_terminal(what)));
  CHECK(w.guest.ops.empty());
}

// -- the end ---------------------------------------------------------------------

// [G 155] a lost connection of a connection-bound terminal
SCENARIO("a terminal whose connection is lost ends with -1") {
  for (const auto reset : {false, true}) {
    world w;
    auto it = w.open_terminal();
    w.guest.say(world::data("last words"));
    w.settle();
    if (reset)
      w.guest.reset();
    else
      w.guest.hang_up();
    const auto end = ended(w, *it);
    REQUIRE(end.has_value());
    CHECK_EQ(end->exit_code, -1);
    CHECK(!end->signal);
    CHECK_EQ(w.finish(all_of(*it)), "last words");
  }
}

SCENARIO("an error after ready ends a terminal with -1") {
  world w;
  auto it = w.open_terminal();
  w.guest.say({{"type", "error"}, {"error", "EIO"}});
  const auto end = ended(w, *it);
  REQUIRE(end.has_value());
  CHECK_EQ(end->exit_code, -1);
  w.settle();
  CHECK(w.guest.left());
}

SCENARIO("what follows the end changes nothing") {
  world w;
  auto it = w.open_terminal();
  w.guest.say(world::data("a"));
  w.guest.say_bytes(guest::to_frame(exit_frame(3).dump()) + guest::to_frame(world::data("late").dump())
                    + guest::to_frame(exit_frame(4).dump()) + guest::to_frame(R"({"type":"error","error":"late"})"));
  CHECK_EQ(w.finish(all_of(*it)), "a");
  for (auto i = 0; i < 2; ++i) {
    const auto end = ended(w, *it);
    REQUIRE(end.has_value());
    CHECK_EQ(end->exit_code, 3);
  }
}

SCENARIO("empty frames, heartbeats that nobody asked for and unknown types are ignored") {
  world w;
  auto it = w.open_terminal();
  w.guest.say_bytes(std::string{guest::terminator} + guest::to_frame(R"({"type":"heartbeat"})") + guest::to_frame(R"({"type":"new"})"));
  w.guest.say(world::data("still here"));
  CHECK_EQ(w.finish(it->next()), "still here");
}

SCENARIO("bytes that are no frames end a terminal with -1") {
  for (const auto& bytes : {std::string{"zzzzzzzz\n"}, guest::to_frame("not json"), std::string{"ffffffff\n"}}) {
    world w;
    auto it = w.open_terminal();
    w.guest.say_bytes(bytes);
    const auto end = ended(w, *it);
    REQUIRE(end.has_value());
    CHECK_EQ(end->exit_code, -1);
    w.settle();
    CHECK(w.guest.left());
  }
}

// [G 156] kill and a guest that does not answer
SCENARIO("a terminal whose guest does not end it within 5 seconds of a kill is severed") {
  world w;
  auto it = w.open_terminal();
  auto end = w.start(it->end());
  CHECK(w.finish(it->kill("SIGHUP")));
  w.settle();
  CHECK(w.guest.of_type("kill") == std::vector<json>{(json{{"type", "kill"}, {"signal", "SIGHUP"}})});
  w.pass(4999ms);
  CHECK(!end.done());
  CHECK(!w.guest.left());
  w.pass(1ms);
  w.until([&] { return w.guest.left(); });
  REQUIRE(end.done());
  CHECK_EQ(end.get().value().exit_code, -1);
}

SCENARIO("a kill that a guest which does not read never gets is severed all the same") {
  world w;
  auto it = w.open_terminal();
  w.guest.reading = false;
  auto flood = w.start(it->write(std::string(32 * mebibyte, 'x')));
  w.settle();
  auto kill = w.start(it->kill("SIGKILL"));
  w.settle();
  CHECK(!kill.done());
  w.pass(5s);
  REQUIRE(kill.done());
  CHECK(!kill.get());
  CHECK(!flood.get());
  CHECK_EQ(ended(w, *it).value().exit_code, -1);
}

SCENARIO("a guest that answers a kill in time is heard, and a second kill gives no more time") {
  world w;
  auto it = w.open_terminal();
  CHECK(w.finish(it->kill("SIGTERM")));
  w.pass(3s);
  CHECK(w.finish(it->kill("SIGKILL")));
  w.pass(1999ms);
  w.guest.say({{"type", "exit"}, {"exitCode", -1}, {"signal", 15}});
  w.settle();
  w.pass(1h);
  CHECK(ended(w, *it).value().signal == std::optional<int>{15});
  world x;
  auto other = x.open_terminal();
  CHECK(x.finish(other->kill("SIGTERM")));
  x.pass(4s);
  CHECK(x.finish(other->kill("SIGKILL")));
  x.pass(1s);
  x.until([&] { return x.guest.left(); });
  CHECK_EQ(ended(x, *other).value().exit_code, -1);
}

SCENARIO("a terminal that is left is severed at once, without a word to its guest") {
  world w;
  auto it = w.open_terminal();
  it->detach();
  const auto end = ended(w, *it);
  CHECK_EQ(end.value().exit_code, -1);
  w.until([&] { return w.guest.left(); });
  CHECK(w.guest.frames.empty());
}

// -- output that waits -----------------------------------------------------------

// [G 157] three MiB and nobody who listens
SCENARIO("who listens late gets the last MiB of the output") {
  world w;
  auto it = w.open_terminal();
  auto all = std::string{};
  for (auto i = std::size_t{0}; i < 48; ++i) {
    all += block(i);
    w.guest.say(world::data(block(i)));
  }
  w.guest.say(exit_frame(0));
  CHECK_EQ(ended(w, *it).value().exit_code, 0);
  const auto got = w.finish(all_of(*it));
  CHECK_LE(got.size(), mebibyte);
  CHECK_GE(got.size(), mebibyte - 64 * 1024);
  CHECK(all.ends_with(got));
}

SCENARIO("a last piece of more than a MiB is kept whole for who listens late") {
  world w;
  auto it = w.open_terminal();
  w.guest.say(world::data("old"));
  w.guest.say(world::data(std::string(2 * mebibyte, 'x')));
  w.guest.say(exit_frame(0));
  CHECK(ended(w, *it).has_value());
  CHECK_EQ(w.finish(all_of(*it)).size(), 2 * mebibyte);
}

SCENARIO("once somebody listens, a guest that floods waits, and nothing is lost") {
  world w;
  auto it = w.open_terminal();
  auto first = w.start(it->next());
  w.settle();
  constexpr auto count = std::size_t{512};
  for (auto i = std::size_t{0}; i < count; ++i)
    w.guest.say(world::data(block(i)));
  w.guest.say(exit_frame(7));
  w.until([&] { return first.done(); });
  auto before = std::size_t{1};
  while (before != w.guest.said()) {
    before = w.guest.said();
    w.settle();
  }
  CHECK(!w.guest.all_said());
  // The kernel's buffers, and about one MiB here.
  CHECK_LT(w.guest.said(), count * 64 * 1024 - 2 * mebibyte);
  CHECK_EQ(first.get(), block(0));
  auto whole = true;
  for (auto i = std::size_t{1}; i < count; ++i)
    whole = whole && w.finish(it->next()) == block(i);
  CHECK(whole);
  CHECK(w.finish(it->next()).empty());
  CHECK_EQ(ended(w, *it).value().exit_code, 7);
}

SCENARIO("a cancelled wait for output loses nothing") {
  world w;
  auto it = w.open_terminal();
  auto asked = w.start(it->next());
  w.settle();
  asked.cancel();
  w.settle();
  REQUIRE(asked.done());
  CHECK_THROWS_AS(asked.get(), boost::system::system_error);
  w.guest.say(world::data("kept"));
  CHECK_EQ(w.finish(it->next()), "kept");
}

// -- input -----------------------------------------------------------------------

SCENARIO("input waits for a guest that does not read, and arrives whole and in order") {
  world w;
  auto it = w.open_terminal();
  w.guest.reading = false;
  auto all = std::string{};
  for (auto i = std::size_t{0}; i < 512; ++i)
    all += block(i);
  auto writing = w.start(it->write(all));
  w.settle();
  CHECK(!writing.done());
  w.guest.read_on();
  CHECK(w.finish(writing));
  w.settle();
  auto got = std::string{};
  for (const auto& x : w.guest.of_type("input"))
    got += x["data"].get<std::string>();
  CHECK(got == all);
}

SCENARIO("a cancelled write leaves whole frames, and what it had not begun is not sent") {
  world w;
  auto it = w.open_terminal();
  w.guest.reading = false;
  auto first = w.start(it->write(std::string(32 * mebibyte, 'x')));
  w.settle();
  auto second = w.start(it->write("never"));
  w.settle();
  second.cancel();
  first.cancel();
  w.settle();
  REQUIRE(first.done());
  REQUIRE(second.done());
  CHECK_THROWS_AS(first.get(), boost::system::system_error);
  CHECK_THROWS_AS(second.get(), boost::system::system_error);
  w.guest.read_on();
  CHECK(w.finish(it->write("after")));
  w.settle();
  const auto inputs = w.guest.of_type("input");
  REQUIRE(!inputs.empty());
  CHECK(inputs.back()["data"] == "after");
  CHECK(std::ranges::none_of(inputs, [](const json& x) { return x["data"] == "never"; }));
}

SCENARIO("a character that two writes share arrives whole, and bytes that are no text as U+FFFD") {
  world w;
  auto it = w.open_terminal();
  CHECK(w.finish(it->write("a\xe2\x82")));
  CHECK(w.finish(it->write("\xac")));
  CHECK(w.finish(it->write("\xff")));
  w.settle();
  auto got = std::string{};
  for (const auto& x : w.guest.of_type("input"))
    got += x["data"].get<std::string>();
  CHECK_EQ(got, "a\xe2\x82\xac\xef\xbf\xbd");
}

SCENARIO("with a guest that has stream-bytes, bytes survive both ways") {
  world w;
  const auto raw = std::string("\0\xff\xe2\x82\x1b", 5);
  w.guest.features = {"stream-bytes"};
  auto greeting = world::ready();
  greeting["encoding"] = "base64";
  w.guest.greeting = {greeting};
  auto it = w.open_terminal();
  CHECK(w.guest.requests.at(0)["body"]["encoding"] == "base64");
  CHECK(w.finish(it->write(raw)));
  w.guest.say(world::data(to_base64(raw)));
  CHECK_EQ(w.finish(it->next()), raw);
  w.settle();
  CHECK(w.guest.of_type("input") == std::vector<json>{(json{{"type", "input"}, {"data", to_base64(raw)}})});
}

SCENARIO("a guest with stream-bytes that does not echo it is spoken to in text") {
  world w;
  w.guest.features = {"stream-bytes"};
  auto it = w.open_terminal();
  CHECK(w.guest.requests.at(0)["body"]["encoding"] == "base64");
  CHECK(w.finish(it->write("ls")));
  w.guest.say(world::data("bHM="));
  CHECK_EQ(w.finish(it->next()), "bHM=");
  w.settle();
  CHECK(w.guest.of_type("input").at(0)["data"] == "ls");
}

SCENARIO("a guest without stream-bytes is not asked for it") {
  world w;
  auto it = w.open_terminal();
  CHECK(!w.guest.requests.at(0)["body"].contains("encoding"));
}

// -- sessions --------------------------------------------------------------------

// [G 175] a persistent terminal and a guest without sessions
SCENARIO("a guest without sessions is not asked for one") {
  world w;
  w.guest.greeting = {world::session_ready()};
  const auto got = w.try_terminal(persistent("dev"));
  REQUIRE(failed_with<guest::unsupported>(got));
  CHECK_EQ(std::get<guest::unsupported>(got.error()).feature, "sessions");
  CHECK_EQ(guest::reason_of(got.error()), "SessionsUnsupported");
  const auto attached = w.finish(w.host->attach_session(w.guest.where(), {"dev", 0, std::nullopt}, w.soon()));
  CHECK(failed_with<guest::unsupported>(attached));
  CHECK(w.guest.requests.empty());
  CHECK_EQ(w.guest.ops, std::vector<std::string>{"healthz"});
}

// [G 176] persistent without an id
SCENARIO("a persistent terminal without an id, or with one that is none, is a local error") {
  world w;
  w.guest.features = {"sessions"};
  for (const auto* id : {"", "-x", "a b"}) {
    CHECK(failed_with<guest::invalid_argument>(w.try_terminal(persistent(id))));
    CHECK(failed_with<guest::invalid_argument>(w.finish(w.host->attach_session(w.guest.where(), {id, 0, std::nullopt}, w.soon()))));
  }
  CHECK(w.guest.ops.empty());
}

SCENARIO("a persistent terminal is opened with both fields and says where it stands") {
  world w;
  w.guest.features = {"sessions"};
  w.guest.greeting = {world::session_ready(0, 0)};
  auto it = w.open_terminal(persistent("dev"));
  CHECK(w.guest.requests.at(0)["body"]["sessionId"] == "dev");
  CHECK(w.guest.requests.at(0)["body"]["persistent"] == true);
  REQUIRE(it->position().has_value());
  CHECK_EQ(it->position()->state, "running");
  CHECK(it->next_offset() == std::optional<std::uint64_t>{0});
}

SCENARIO("the next attach goes on after what was given, by the guest's numbers") {
  world w;
  w.guest.greeting = {world::session_ready(100, 120)};
  auto it = w.attach(90);
  CHECK(w.guest.requests.at(0)["op"] == "attach-session");
  CHECK(w.guest.requests.at(0)["body"] == (json{{"sessionId", "dev"}, {"fromOffset", 90}, {"heartbeatMs", 15000}}));
  CHECK(it->next_offset() == std::optional<std::uint64_t>{100});
  // Two bytes in the log became one U+FFFD of three.
  w.guest.say({{"type", "data"}, {"data", "\xef\xbf\xbd"}, {"offset", 100}, {"nextOffset", 102}});
  w.guest.say({{"type", "data"}, {"data", "x"}, {"offset", 102}, {"nextOffset", 103}});
  w.settle();
  CHECK(it->next_offset() == std::optional<std::uint64_t>{100});
  CHECK_EQ(w.finish(it->next()), "\xef\xbf\xbd");
  CHECK(it->next_offset() == std::optional<std::uint64_t>{102});
  w.guest.say({{"type", "exit"}, {"exitCode", 0}, {"nextOffset", 103}});
  CHECK(ended(w, *it).has_value());
  CHECK(it->next_offset() == std::optional<std::uint64_t>{102});
  CHECK_EQ(w.finish(it->next()), "x");
  CHECK(it->next_offset() == std::optional<std::uint64_t>{103});
}

// [G 177] a session that somebody else attaches to
SCENARIO("a session whose attachment ends while its program lives is detached, at the guest's offset") {
  for (const auto* reason : {"superseded", "slow_reader"}) {
    world w;
    auto it = w.attach(10);
    w.guest.say({{"type", "data"}, {"data", "\xef\xbf\xbd"}, {"offset", 10}, {"nextOffset", 12}});
    w.guest.say_bytes(guest::to_frame(json{{"type", "detached"}, {"reason", reason}}.dump()) + std::string{guest::terminator});
    w.guest.finish();
    CHECK_EQ(w.finish(all_of(*it)), "\xef\xbf\xbd");
    const auto end = ended(w, *it);
    REQUIRE(failed_with<guest::session_detached>(end));
    const auto& why = std::get<guest::session_detached>(end.error());
    CHECK(why.next_offset == std::optional<std::uint64_t>{12});
    CHECK(why.text.find(reason) != std::string::npos);
    CHECK_EQ(guest::reason_of(end.error()), "AgentSessionDetached");
  }
}

SCENARIO("a session whose connection is lost, severed or left is detached too") {
  enum class how { hang_up, reset, error, leave, kill };
  for (const auto way : {how::hang_up, how::reset, how::error, how::leave, how::kill}) {
    world w;
    auto it = w.attach(10);
    switch (way) {
      case how::hang_up: w.guest.hang_up(); break;
      case how::reset: w.guest.reset(); break;
      case how::error: w.guest.say({{"type", "error"}, {"error", "EIO"}}); break;
      case how::leave: it->detach(); break;
      case how::kill:
        CHECK(w.finish(it->kill("SIGKILL")));
        w.pass(5s);
        break;
    }
    const auto end = ended(w, *it);
    REQUIRE(failed_with<guest::session_detached>(end));
    CHECK(std::get<guest::session_detached>(end.error()).next_offset == std::optional<std::uint64_t>{10});
    if (way == how::leave) {
      w.until([&] { return w.guest.left(); });
      CHECK(w.guest.frames.empty());
    }
  }
}

SCENARIO("an ended session that is attached to is replayed and then tells its end") {
  world w;
  auto greeting = world::session_ready(0, 3);
  greeting["state"] = "exited";
  greeting["exitCode"] = 4;
  w.guest.greeting = {greeting, world::data("abc"), exit_frame(4)};
  auto it = w.attach();
  w.guest.say_bytes(std::string{guest::terminator});
  w.guest.finish();
  CHECK_EQ(it->position()->state, "exited");
  CHECK_EQ(w.finish(all_of(*it)), "abc");
  CHECK_EQ(ended(w, *it).value().exit_code, 4);
}

SCENARIO("a session that the guest refuses is refused by its code, in either shape") {
  world w;
  w.guest.greeting = {json{{"type", "error"}, {"error", "unknown_session"}}};
  auto got = w.try_attach();
  REQUIRE(failed_with<guest::session_refused>(got));
  CHECK_EQ(std::get<guest::session_refused>(got.error()).reason, "unknown_session");
  w.guest.greeting = {json{{"ok", false}, {"error", "agent_retiring"}}};
  got = w.try_terminal(persistent("dev"));
  REQUIRE(failed_with<guest::session_refused>(got));
  CHECK_EQ(std::get<guest::session_refused>(got.error()).reason, "agent_retiring");
  w.guest.greeting = {json{{"type", "error"}, {"error", "session_capacity is what this is about"}}};
  CHECK(failed_with<guest::refused>(w.try_terminal(persistent("dev"))));
  w.guest.greeting = {json{{"ok", false}, {"error", "unauthorized"}}};
  CHECK(failed_with<guest::unauthorized>(w.try_attach()));
}

SCENARIO("a guest that opens a plain terminal in place of a session is left at once") {
  world w;
  w.guest.features = {"sessions"};
  w.guest.greeting = {world::ready()};
  CHECK(failed_with<guest::protocol_failure>(w.try_terminal(persistent("dev"))));
  w.until([&] { return w.guest.left(); });
}

// -- pins ------------------------------------------------------------------------

SCENARIO("a pinned stream is opened only with a guest that honours pins") {
  world w;
  w.guest.greeting = {world::ready()};
  auto where = w.guest.where();
  where.pinned = guest_boot_id{"boot"};
  CHECK(failed_with<guest::unsupported>(w.finish(w.host->open_terminal(where, {}, w.soon()))));
  CHECK(failed_with<guest::unsupported>(w.finish(w.host->open_tcp(where, "::1", 80, w.soon()))));
  CHECK(w.guest.requests.empty());
  w.guest.features = {"pinned-guest"};
  w.host = guest::make_stream_host(w.time);
  CHECK(w.finish(w.host->open_terminal(where, {}, w.soon())).has_value());
  CHECK(w.guest.requests.at(0)["expectedGuestBootId"] == "boot");
}

// -- ends that nobody waits for --------------------------------------------------

SCENARIO("a session that is lost while nobody looks at its end harms nobody") {
  world w;
  auto it = w.attach();
  w.guest.reset();
  w.settle();
  it.reset();
  w.settle();
  CHECK_EQ(w.time.sleeping(), 0u);
}

SCENARIO("a stream that is destroyed in the middle of everything leaves nothing behind") {
  world w;
  auto ready = world::ready();
  ready["heartbeatMs"] = 15000;
  w.guest.greeting = {ready};
  auto it = w.open_terminal();
  w.guest.reading = false;
  auto reading = w.start(it->next());
  auto writing = w.start(it->write(std::string(32 * mebibyte, 'x')));
  w.settle();
  auto queued = w.start(it->write("y"));
  auto killing = w.start(it->kill("SIGTERM"));
  auto ending = w.start(it->end());
  w.settle();
  CHECK(!reading.done());
  CHECK(!writing.done());
  CHECK_GE(w.time.sleeping(), 2u);
  it.reset();
  w.settle();
  REQUIRE(reading.done());
  REQUIRE(writing.done());
  REQUIRE(queued.done());
  REQUIRE(killing.done());
  REQUIRE(ending.done());
  CHECK(reading.get().empty());
  CHECK(!writing.get());
  CHECK(!queued.get());
  CHECK(!killing.get());
  CHECK_EQ(ending.get().value().exit_code, -1);
  CHECK_EQ(w.time.sleeping(), 0u);
  w.guest.read_on();
  w.until([&] { return w.guest.left(); });
}

SCENARIO("a stream that waits for its reader can be destroyed") {
  world w;
  auto it = w.open_terminal();
  auto first = w.start(it->next());
  for (auto i = std::size_t{0}; i < 128; ++i)
    w.guest.say(world::data(block(i)));
  w.until([&] { return first.done(); });
  w.settle();
  CHECK(!w.guest.all_said());
  it.reset();
  w.until([&] { return w.guest.left(); });
}

SCENARIO("a program that ends leaves live streams behind") {
  auto w = std::make_unique<world>();
  auto other = w->attach();
  auto it = w->open_terminal();
  auto reading = w->start(it->next());
  w->settle();
  it.reset();
  other.reset();
  w.reset();
  CHECK(!reading.done());
}
