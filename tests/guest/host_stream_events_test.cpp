#define CAF_SUITE host_stream_events

#include "base/base64.hpp"
#include "guest/host_stream_events.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace std::chrono_literals;
using guest::stream_events;
using nlohmann::json;

namespace {

guest::asked_stream terminal(bool bytes = false) {
  auto x = guest::asked_stream{};
  x.bytes = bytes;
  x.heartbeat = 15s;
  return x;
}

guest::asked_stream session(std::string id) {
  auto x = terminal();
  x.session = std::move(id);
  return x;
}

guest::asked_stream tcp() {
  auto x = guest::asked_stream{};
  x.what = guest::asked_stream::kind::tcp;
  x.heartbeat = 15s;
  return x;
}

const auto ready = json{{"type", "ready"}, {"guestBootId", "b"}};
const auto session_ready = json{{"type", "ready"},    {"guestBootId", "b"}, {"sessionId", "dev"}, {"kind", "terminal"},
                                {"state", "running"}, {"fromOffset", 10},   {"droppedBytes", 10}, {"nextOffset", 25}};

struct reading {
  explicit reading(guest::asked_stream asked) : events(std::move(asked)) {
  }
  stream_events::event take(const json& frame) {
    return events.take(frame.dump());
  }
  stream_events events;
};

template <class T>
bool is(const stream_events::event& x) {
  return std::holds_alternative<T>(x);
}

std::string output_in(const stream_events::event& x) {
  const auto* got = std::get_if<guest::stream_output>(&x);
  return got == nullptr ? "(none)" : got->bytes;
}

std::string broken_text(const stream_events::event& x) {
  const auto* got = std::get_if<stream_events::broken>(&x);
  return got == nullptr ? "(none)" : got->text;
}

template <class T>
bool broken_with(const stream_events::event& x) {
  const auto* got = std::get_if<stream_events::broken>(&x);
  return got != nullptr && std::holds_alternative<T>(got->why);
}

} // namespace

// -- ready -----------------------------------------------------------------------

SCENARIO("what a guest says of an error is bounded, and cut between two characters") {
  auto it = reading{terminal()};
  const auto text = std::string(4095, 'x') + "\u00e9 and more";
  const auto got = it.take({{"type", "error"}, {"error", text}});
  const auto* why = std::get_if<stream_events::broken>(&got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->text, std::string(4095, 'x'));
}

SCENARIO("the first ready opens a stream, with the boot id and the heartbeat that the guest echoes") {
  auto r = reading{terminal()};
  const auto got = r.take({{"type", "ready"}, {"guestBootId", "b"}, {"heartbeatMs", 15000}, {"more", 1}});
  REQUIRE(is<stream_events::opened>(got));
  const auto& opened = std::get<stream_events::opened>(got);
  CHECK(opened.boot == guest_boot_id{"b"});
  CHECK(opened.heartbeat == std::optional<std::chrono::milliseconds>{15s});
  CHECK(!opened.position);
  CHECK(!opened.bytes);
  CHECK(is<stream_events::nothing>(r.take(ready)));
}

SCENARIO("a session says where it stands when it is ready") {
  auto r = reading{session("dev")};
  const auto got = r.take(session_ready);
  REQUIRE(is<stream_events::opened>(got));
  const auto& opened = std::get<stream_events::opened>(got);
  REQUIRE(opened.position.has_value());
  CHECK_EQ(opened.position->kind, "terminal");
  CHECK_EQ(opened.position->state, "running");
  CHECK_EQ(opened.position->from_offset, 10u);
  CHECK_EQ(opened.position->dropped_bytes, 10u);
  CHECK_EQ(opened.position->next_offset, 25u);
  CHECK(opened.resume_at == std::optional<std::uint64_t>{10});
}

SCENARIO("what a session does not say, or says wrongly, is not made up") {
  auto r = reading{session("dev")};
  const auto got = r.take({{"type", "ready"}, {"sessionId", "dev"}, {"fromOffset", -1}, {"nextOffset", "7"}, {"kind", 3}});
  REQUIRE(is<stream_events::opened>(got));
  const auto& opened = std::get<stream_events::opened>(got);
  CHECK(!opened.resume_at);
  CHECK_EQ(opened.position->kind, "terminal");
  CHECK_EQ(opened.position->state, "running");
  CHECK_EQ(opened.position->next_offset, 0u);
  CHECK(!opened.boot);
}

SCENARIO("a guest that opens something else than the session is not believed") {
  CHECK(broken_with<guest::protocol_failure>(reading{session("dev")}.take(ready)));
  CHECK(broken_with<guest::protocol_failure>(reading{session("other")}.take(session_ready)));
}

// -- output ----------------------------------------------------------------------

SCENARIO("output that comes before ready is given with it, the newest of it") {
  auto asked = terminal();
  asked.waiting_bytes = 6;
  auto r = reading{asked};
  for (const auto* x : {"aaa", "bbb", "ccc"})
    CHECK(is<stream_events::nothing>(r.take({{"type", "data"}, {"data", x}})));
  auto got = r.take(ready);
  REQUIRE(is<stream_events::opened>(got));
  auto& early = std::get<stream_events::opened>(got).early;
  CHECK_EQ(early.bytes(), 6u);
  CHECK_EQ(early.pop().bytes, "bbb");
  CHECK_EQ(early.pop().bytes, "ccc");
}

SCENARIO("output is text, with the offset that the guest states") {
  auto r = reading{session("dev")};
  static_cast<void>(r.take(session_ready));
  const auto got = r.take({{"type", "data"}, {"stream", "stdout"}, {"data", "h\u00e4"}, {"offset", 10}, {"nextOffset", 13}});
  CHECK_EQ(output_in(got), "h\u00e4");
  CHECK(std::get<guest::stream_output>(got).next_offset == std::optional<std::uint64_t>{13});
  CHECK_EQ(output_in(r.events.take(R"({"type":"data","data":"\ud83d"})")), "\xef\xbf\xbd");
}

SCENARIO("a session whose place in the log goes back is no protocol") {
  auto data = [](int next) { return json{{"type", "data"}, {"data", "x"}, {"nextOffset", next}}; };
  auto r = reading{session("dev")};
  static_cast<void>(r.take(session_ready));
  CHECK_EQ(output_in(r.take(data(13))), "x");
  CHECK_EQ(output_in(r.take(data(13))), "x");
  CHECK_EQ(broken_text(r.take(data(12))), "a session that goes back in its log");
  CHECK(r.events.over());
  auto before_its_start = reading{session("dev")};
  static_cast<void>(before_its_start.take(session_ready));
  CHECK(is<stream_events::broken>(before_its_start.take(data(9))));
  auto at_its_end = reading{session("dev")};
  static_cast<void>(at_its_end.take(session_ready));
  CHECK(is<stream_events::broken>(at_its_end.take({{"type", "exit"}, {"exitCode", 0}, {"nextOffset", 9}})));
  auto without_a_log = reading{terminal()};
  static_cast<void>(without_a_log.take(ready));
  static_cast<void>(without_a_log.take(data(13)));
  CHECK_EQ(output_in(without_a_log.take(data(12))), "x"); // it means nothing there
}

SCENARIO("bytes survive when both sides have agreed on base64, before ready too") {
  const auto raw = std::string("\0\xff\xc3", 3);
  auto r = reading{terminal(true)};
  CHECK(is<stream_events::nothing>(r.take({{"type", "data"}, {"data", to_base64(raw)}})));
  auto got = r.take({{"type", "ready"}, {"encoding", "base64"}});
  REQUIRE(is<stream_events::opened>(got));
  CHECK(std::get<stream_events::opened>(got).bytes);
  CHECK_EQ(std::get<stream_events::opened>(got).early.pop().bytes, raw);
  CHECK_EQ(output_in(r.take({{"type", "data"}, {"data", to_base64(raw)}})), raw);
  CHECK(broken_with<guest::protocol_failure>(r.take({{"type", "data"}, {"data", "*"}})));
}

SCENARIO("without the echo everything is text, and an echo that nobody asked for is ignored") {
  for (const auto asked : {false, true}) {
    auto r = reading{terminal(asked)};
    auto echo = ready;
    echo["encoding"] = asked ? "utf8" : "base64";
    const auto got = r.take(echo);
    REQUIRE(is<stream_events::opened>(got));
    CHECK(!std::get<stream_events::opened>(got).bytes);
    CHECK_EQ(output_in(r.take({{"type", "data"}, {"data", "YQ=="}})), "YQ==");
  }
}

SCENARIO("a connection to a port carries base64 in any case, and ends with `end`") {
  auto r = reading{tcp()};
  CHECK(is<stream_events::opened>(r.take(ready)));
  CHECK_EQ(output_in(r.take({{"type", "data"}, {"data", "AP8="}})), std::string("\0\xff", 2));
  CHECK(is<stream_events::nothing>(r.take({{"type", "exit"}, {"exitCode", 0}})));
  CHECK(is<stream_events::nothing>(r.take({{"type", "detached"}})));
  CHECK(is<stream_events::ended>(r.take({{"type", "end"}})));
  CHECK(r.events.over());
}

// -- the end ---------------------------------------------------------------------

SCENARIO("an exit tells code, signal and offset, and -1 for what it does not tell") {
  auto end_of = [](json frame) {
    auto r = reading{session("dev")};
    static_cast<void>(r.take(session_ready));
    frame["type"] = "exit";
    auto got = r.take(frame);
    return is<stream_events::ended>(got) ? std::get<stream_events::ended>(got) : stream_events::ended{{-99, {}}, {}};
  };
  CHECK_EQ(end_of({{"exitCode", 5}}).how.exit_code, 5);
  CHECK(!end_of({{"exitCode", 5}}).how.signal);
  CHECK(end_of({{"exitCode", 5}, {"nextOffset", 30}}).next_offset == std::optional<std::uint64_t>{30});
  CHECK(end_of({{"exitCode", -1}, {"signal", 9}}).how.signal == std::optional<int>{9});
  CHECK_EQ(end_of(json::object()).how.exit_code, -1);
  CHECK_EQ(end_of({{"exitCode", "5"}}).how.exit_code, -1);
  CHECK_EQ(end_of({{"exitCode", 1e12}}).how.exit_code, -1);
  CHECK(!end_of({{"exitCode", -1}, {"signal", "SIGKILL"}}).how.signal);
}

SCENARIO("what comes after the end means nothing, another end included") {
  auto r = reading{terminal()};
  static_cast<void>(r.take(ready));
  CHECK(is<stream_events::ended>(r.take({{"type", "exit"}, {"exitCode", 0}})));
  CHECK(is<stream_events::nothing>(r.take({{"type", "exit"}, {"exitCode", 1}})));
  CHECK(is<stream_events::nothing>(r.take({{"type", "data"}, {"data", "late"}})));
  CHECK(is<stream_events::nothing>(r.take({{"type", "error"}, {"error", "late"}})));
  CHECK(is<stream_events::nothing>(r.events.take("not json")));
}

SCENARIO("a program that ends before ready fails the open") {
  auto r = reading{terminal()};
  const auto got = r.take({{"type", "exit"}, {"exitCode", 127}});
  REQUIRE(broken_with<guest::command_failed>(got));
  CHECK_EQ(broken_text(got), "it ended before it was ready, with exit code 127");
  CHECK(is<stream_events::nothing>(r.take(ready)));
}

SCENARIO("empty frames, heartbeats and unknown types mean nothing") {
  auto r = reading{terminal()};
  for (const auto* x : {"", " \n", R"({"type":"heartbeat"})", R"({"type":"weather"})", R"({"type":"end"})"})
    CHECK(is<stream_events::nothing>(r.events.take(x)));
  CHECK(is<stream_events::opened>(r.take(ready)));
  CHECK(is<stream_events::nothing>(r.events.take("")));
  CHECK(!r.events.over());
}

SCENARIO("what is no frame of the protocol ends the stream") {
  for (const auto* x : {"not json", "[]", "7", "null", R"({"data":"x"})", R"({"type":7})", R"({"ok":true})", R"({"type":"data"})",
                        R"({"type":"data","data":7})"}) {
    auto r = reading{terminal()};
    static_cast<void>(r.take(ready));
    CHECK(broken_with<guest::protocol_failure>(r.events.take(x)));
    CHECK(r.events.over());
  }
}

SCENARIO("a detached frame ends the stream and names its reason") {
  for (const auto* reason : {"superseded", "slow_reader"}) {
    auto r = reading{session("dev")};
    static_cast<void>(r.take(session_ready));
    CHECK_EQ(broken_text(r.take({{"type", "detached"}, {"reason", reason}})), std::string{"detached by the guest: "} + reason);
  }
}

// -- refusals --------------------------------------------------------------------

SCENARIO("a refusal without a type is an error whose text is its own") {
  auto r = reading{terminal()};
  const auto got = r.take({{"ok", false}, {"error", "unauthorized"}});
  CHECK(broken_with<guest::unauthorized>(got));
  CHECK_EQ(broken_text(got), "unauthorized");
  CHECK(broken_with<guest::retiring>(reading{terminal()}.take({{"ok", false}, {"error", "agent_retiring"}})));
  CHECK(broken_with<guest::refused>(reading{tcp()}.take({{"ok", false}, {"error", "unknown_op: tcp-connect"}})));
  CHECK(broken_with<guest::refused>(reading{tcp()}.take({{"ok", false}})));
  auto open = reading{terminal()};
  static_cast<void>(open.take(ready));
  CHECK_EQ(broken_text(open.take({{"ok", false}, {"error", "frame_too_large: 9 bytes"}})), "frame_too_large: 9 bytes");
}

SCENARIO("an error event before ready says the same as the refusal of a reply") {
  CHECK(broken_with<guest::unauthorized>(reading{terminal()}.take({{"type", "error"}, {"error", "unauthorized"}})));
  const auto got = reading{tcp()}.take({{"type", "error"}, {"error", "invalid_loopback_target"}});
  REQUIRE(broken_with<guest::refused>(got));
  CHECK_EQ(std::get<guest::refused>(std::get<stream_events::broken>(got).why).code, "invalid_loopback_target");
  CHECK(broken_with<guest::guest_mismatch>(
    reading{terminal()}.take({{"type", "error"}, {"error", "guest_mismatch"}, {"guestBootId", "other"}})));
  CHECK(broken_with<guest::guest_mismatch>(
    reading{session("dev")}.take({{"ok", false}, {"error", "guest_mismatch"}, {"guestBootId", "other"}})));
}

SCENARIO("a session is refused when the whole text is one of its codes, in either shape") {
  for (const auto* code : {"unknown_session", "invalid_session_id", "invalid_offset", "session_exists", "session_capacity",
                           "missing_command", "spawn_failed", "agent_retiring"})
    for (const auto& shape : {json{{"type", "error"}, {"error", code}}, json{{"ok", false}, {"error", code}}}) {
      const auto got = reading{session("dev")}.take(shape);
      REQUIRE(broken_with<guest::session_refused>(got));
      const auto& why = std::get<guest::session_refused>(std::get<stream_events::broken>(got).why);
      CHECK_EQ(why.session_id, "dev");
      CHECK_EQ(why.reason, code);
    }
}

SCENARIO("any other text of a session's stream passes through as it is") {
  for (const auto* text : {"session_capacity: 16 of 16", "no unknown_session here", "posix_openpt: out of devices"})
    CHECK(broken_with<guest::refused>(reading{session("dev")}.take({{"type", "error"}, {"error", text}})));
  CHECK(broken_with<guest::unauthorized>(reading{session("dev")}.take({{"ok", false}, {"error", "unauthorized"}})));
  CHECK(broken_with<guest::refused>(reading{session("dev")}.take({{"type", "error"}, {"error", "quiesce_in_progress"}})));
}

SCENARIO("the codes of sessions mean nothing special to a terminal without one") {
  CHECK(broken_with<guest::refused>(reading{terminal()}.take({{"type", "error"}, {"error", "session_capacity"}})));
}

SCENARIO("an offset outside the log is refused with the end of the log") {
  const auto got = reading{session("dev")}.take({{"type", "error"}, {"error", "invalid_offset"}, {"nextOffset", 70}});
  REQUIRE(broken_with<guest::session_refused>(got));
  CHECK_EQ(std::get<guest::session_refused>(std::get<stream_events::broken>(got).why).text, "invalid_offset: the log ends at byte 70");
}

// -- waiting output --------------------------------------------------------------

SCENARIO("of waiting output the newest is kept, and the last piece whatever its size") {
  auto waiting = guest::waiting_output{};
  waiting.push({""});
  CHECK(waiting.empty());
  waiting.push({"aaaa"});
  waiting.push({"bbbb"});
  waiting.keep_newest(8);
  CHECK_EQ(waiting.bytes(), 8u);
  waiting.push({"cccccccccccc"});
  waiting.keep_newest(8);
  CHECK_EQ(waiting.bytes(), 12u);
  CHECK_EQ(waiting.pop().bytes, "cccccccccccc");
  CHECK(waiting.empty());
  CHECK_EQ(waiting.bytes(), 0u);
}
