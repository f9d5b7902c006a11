#define CAF_SUITE session_replies

#include "guest/session_replies.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::guest;
using namespace std::chrono_literals;

namespace {

const auto boot = guest_boot_id{"b"};

session_summary row() {
  auto result = session_summary{};
  result.id = "s";
  result.command = "sh";
  result.arguments = {"-i"};
  result.started_at_ms = 5;
  result.next_offset = 9;
  result.dropped_bytes = 2;
  return result;
}

} // namespace

SCENARIO("a summary tells of times and of an end when there are any") {
  auto x = row();
  CHECK_EQ(sessions_reply({&x, 1}),
           R"({"ok":true,"sessions":[{"sessionId":"s","kind":"terminal","command":"sh","args":["-i"],"startedAt":5,"nextOffset":9,)"
           R"("droppedBytes":2,"state":"running","attached":false}]})");
  x.kind = session_kind::detached;
  x.last_input_at_ms = 6;
  x.last_output_at_ms = 7;
  x.attached = true;
  x.state = session_state::exited;
  x.exit = {-1, 9};
  CHECK_EQ(killed_reply(x, 3),
           R"({"ok":true,"sessionId":"s","kind":"detached","command":"sh","args":["-i"],"startedAt":5,"lastInputAt":6,"lastOutputAt":7,)"
           R"("nextOffset":9,"droppedBytes":2,"state":"exited","attached":true,"exitCode":-1,"signal":9,"signalled":3})");
  CHECK_EQ(sessions_reply({}), R"({"ok":true,"sessions":[]})");
}

SCENARIO("ready says what both sides agreed on, and nothing else") {
  CHECK_EQ(terminal_ready_event(boot, {}), R"({"type":"ready","guestBootId":"b"})");
  CHECK_EQ(terminal_ready_event(boot, {15'000ms, true}), R"({"type":"ready","guestBootId":"b","heartbeatMs":15000,"encoding":"base64"})");
  CHECK_EQ(session_ready_event(boot, row(), 4, 1, {100ms, false}),
           R"({"type":"ready","guestBootId":"b","sessionId":"s","kind":"terminal","state":"running","fromOffset":4,"droppedBytes":1,)"
           R"("nextOffset":9,"heartbeatMs":100})");
}

SCENARIO("data is text or base64, and the offsets are the bytes'") {
  CHECK_EQ(terminal_data_event("a\xff", false), "{\"type\":\"data\",\"data\":\"a\xef\xbf\xbd\"}");
  CHECK_EQ(terminal_data_event("a\xff", true), R"({"type":"data","data":"Yf8="})");
  CHECK_EQ(session_data_event(stream::err, "\xff", 3, false),
           "{\"type\":\"data\",\"stream\":\"stderr\",\"data\":\"\xef\xbf\xbd\",\"offset\":3,\"nextOffset\":4}");
  CHECK_EQ(session_data_event(stream::out, "\xff", 3, true),
           R"({"type":"data","stream":"stdout","data":"/w==","offset":3,"nextOffset":4})");
}

SCENARIO("the ends of a stream") {
  CHECK_EQ(exit_event({3, std::nullopt}, std::nullopt), R"({"type":"exit","exitCode":3})");
  CHECK_EQ(exit_event({-1, 15}, 8), R"({"type":"exit","exitCode":-1,"signal":15,"nextOffset":8})");
  CHECK_EQ(detached_event("superseded"), R"({"type":"detached","reason":"superseded"})");
  CHECK_EQ(invalid_offset_event(8), R"({"type":"error","error":"invalid_offset","nextOffset":8})");
  CHECK_EQ(spawn_failed_reply("x"), R"({"ok":false,"error":"spawn_failed","message":"x"})");
}
