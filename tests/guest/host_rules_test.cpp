#define CAF_SUITE host_rules

#include "base/utf8.hpp"
#include "guest/host_replies.hpp"
#include "guest/host_requests.hpp"
#include "guest/replies.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::guest;
using nlohmann::json;

namespace {

const auto where = endpoint{"10.0.0.7", 1024, secret{"b7c1e0a4-52d3-4f8e-8a16-0c94d2f7a311"}};
constexpr auto id = "exec_5e2c7a10-94bd-4c3f-a1d8-7f60e3b2c915";

json body_of(const result<std::string>& frame) {
  return json::parse(std::string_view{*frame}.substr(9))["body"];
}

command shell(std::string line) {
  return {"/bin/sh", {"-c", std::move(line)}, {}, {}, {}, false};
}

template <class T>
bool failed_with(const auto& got) {
  return !got && std::holds_alternative<T>(got.error());
}

json result_event() {
  return {{"type", "result"}, {"exitCode", 0}, {"timedOut", false}, {"durationMs", 7}};
}

json reservation_reply() {
  return {{"ok", true}, {"protocolVersion", 2}, {"executionId", id}, {"leaseExpiresAt", 1}};
}

json acknowledgement_reply() {
  return {{"ok", true}, {"state", "cancelled"}, {"started", true}};
}

} // namespace

SCENARIO("requests are byte for byte those of the specification") {
  CHECK_EQ(healthz_frame(), "00000010\n{\"op\":\"healthz\"}");
  CHECK_EQ(reserve_frame(where).value(), "00000049\n{\"op\":\"reserve-execution\",\"token\":\"b7c1e0a4-52d3-4f8e-8a16-0c94d2f7a311\"}");
  CHECK_EQ(cancel_frame(where, id).value(),
           "0000008b\n{\"op\":\"cancel-execution\",\"body\":{\"executionId\":\"exec_5e2c7a10-94bd-4c3f-a1d8-7f60e3b2c915\"},"
           "\"token\":\"b7c1e0a4-52d3-4f8e-8a16-0c94d2f7a311\"}");
}

SCENARIO("a request carries no token when there is none") {
  CHECK_EQ(reserve_frame(endpoint{}).value(), "0000001a\n{\"op\":\"reserve-execution\"}");
}

SCENARIO("an execute request carries what the caller gave and nothing else") {
  auto plain = body_of(execute_frame(where, id, shell("true"), {}));
  CHECK(plain == (json{{"executionId", id}, {"command", "/bin/sh"}, {"args", {"-c", "true"}}, {"maxOutputBytes", 9007199254740991}}));
  auto all = shell("cat");
  all.directory = "a/b";
  all.environment = {{"A", "1"}};
  all.limit = std::chrono::milliseconds{5000};
  auto text = body_of(execute_frame(where, id, all, {false, "abc"}));
  CHECK(text["cwd"] == "a/b");
  CHECK(text["env"] == (json{{"A", "1"}}));
  CHECK(text["timeoutMs"] == 5000);
  CHECK(text["stdin"] == "abc");
  CHECK(!text.contains("outputEncoding"));
  CHECK(!text.contains("stdinStream"));
}

SCENARIO("bytes are asked for only in the form that has them") {
  auto what = shell("cat");
  auto quiet = body_of(execute_frame(where, id, what, {true, {}}));
  CHECK(quiet["outputEncoding"] == "base64");
  CHECK(!quiet.contains("stdinStream"));
  what.with_input = true;
  auto fed = body_of(execute_frame(where, id, what, {true, {}}));
  CHECK(fed["stdinStream"] == true);
  CHECK(!fed.contains("stdin"));
}

SCENARIO("an empty input is an empty pipe and no input is none") {
  CHECK(body_of(execute_frame(where, id, shell("cat"), {false, ""}))["stdin"] == "");
  CHECK(!body_of(execute_frame(where, id, shell("cat"), {})).contains("stdin"));
}

SCENARIO("what is not text is refused and not altered") {
  auto got = execute_frame(where, id, shell("echo \xff"), {});
  REQUIRE(failed_with<refused>(got));
  CHECK_EQ(std::get<refused>(got.error()).code, "command_not_text");
  auto input = execute_frame(where, id, shell("cat"), {false, "\xc3"});
  REQUIRE(failed_with<refused>(input));
  CHECK_EQ(std::get<refused>(input.error()).code, "stdin_not_text");
  auto path = read_file_frame(where, "\x80");
  REQUIRE(failed_with<refused>(path));
  CHECK_EQ(std::get<refused>(path.error()).code, "path_not_text");
}

SCENARIO("a request of exactly the ceiling is sent and one byte more is not") {
  const auto empty = execute_frame(where, id, shell("cat"), {false, ""}).value().size() - 9;
  const auto fits = std::string(request_ceiling - empty, 'x');
  CHECK_EQ(execute_frame(where, id, shell("cat"), {false, fits}).value().size(), request_ceiling + 9);
  auto over = execute_frame(where, id, shell("cat"), {false, fits + "x"});
  REQUIRE(failed_with<frame_too_large>(over));
  CHECK_EQ(std::get<frame_too_large>(over.error()).size, request_ceiling + 1);
  CHECK_EQ(std::get<frame_too_large>(over.error()).limit, request_ceiling);
}

SCENARIO("a file that encoded exceeds the ceiling is refused") {
  CHECK(write_file_frame(where, "f", std::string(6'000'000, 'x')).has_value());
  CHECK(failed_with<frame_too_large>(write_file_frame(where, "f", std::string(6'400'000, 'x'))));
}

SCENARIO("input travels in frames that name their end") {
  CHECK_EQ(stdin_frame("abc"), "0000001e\n{\"type\":\"stdin\",\"data\":\"YWJj\"}");
  CHECK_EQ(stdin_frame(""), "00000014\n{\"type\":\"stdin_end\"}");
}

SCENARIO("refusals are told apart by their whole text") {
  auto of = [](const char* error) { return *refusal_in({{"ok", false}, {"error", error}}); };
  CHECK(std::holds_alternative<unauthorized>(of("unauthorized")));
  CHECK(std::holds_alternative<retiring>(of("agent_retiring")));
  CHECK(std::holds_alternative<refused>(of("unauthorized: really")));
  CHECK(std::holds_alternative<refused>(of("EACCES: unauthorized")));
  const auto evicted = std::get<refused>(of("too_many_unauthenticated_connections: limit 64 (X)"));
  CHECK_EQ(evicted.code, "too_many_unauthenticated_connections");
  CHECK_EQ(evicted.text, "too_many_unauthenticated_connections: limit 64 (X)");
  CHECK(!refusal_in({{"ok", true}}));
  CHECK(std::holds_alternative<protocol_failure>(*refusal_in({{"ok", "no"}})));
  CHECK(std::holds_alternative<protocol_failure>(*refusal_in(json::array())));
  CHECK(std::holds_alternative<refused>(*refusal_in({{"ok", false}})));
}

SCENARIO("a reservation needs its four fields") {
  auto good = reservation_reply();
  good["guestBootId"] = "b";
  REQUIRE(read_reservation(good).has_value());
  CHECK_EQ(read_reservation(good)->execution_id, id);
  CHECK_EQ(read_reservation(good)->boot, guest_boot_id{"b"});
  CHECK_EQ(read_reservation(reservation_reply())->boot, std::nullopt);
  for (const auto* name : {"ok", "protocolVersion", "executionId", "leaseExpiresAt"}) {
    MESSAGE(name);
    auto without = good;
    without.erase(name);
    CHECK(failed_with<protocol_failure>(read_reservation(without)));
    auto wrong = good;
    wrong[name] = "x";
    CHECK(failed_with<protocol_failure>(read_reservation(wrong)));
  }
  auto other = good;
  other["protocolVersion"] = 3;
  CHECK(failed_with<protocol_failure>(read_reservation(other)));
  CHECK(failed_with<unauthorized>(read_reservation({{"ok", false}, {"error", "unauthorized"}})));
  CHECK(failed_with<retiring>(read_reservation({{"ok", false}, {"error", "agent_retiring"}})));
}

SCENARIO("an acknowledgement is taken only when it is well-formed") {
  CHECK(read_acknowledgement(acknowledgement_reply()).has_value());
  auto full = acknowledgement_reply();
  full["result"] = result_event();
  full["result"]["exitCode"] = -1;
  full["result"]["signal"] = "SIGTERM";
  full["error"] = "spawn x ENOENT";
  const auto got = read_acknowledgement(full);
  REQUIRE(got.has_value());
  CHECK_EQ(got->end->signal, "SIGTERM");
  CHECK_EQ(got->error, "spawn x ENOENT");
  const auto broken =
    std::vector<std::pair<std::string, json>>{{"ok", false},       {"state", "gone"},          {"state", nullptr}, {"started", "yes"},
                                              {"result", nullptr}, {"result", json::object()}, {"error", 7}};
  for (const auto& [name, value] : broken) {
    MESSAGE(name << " " << value.dump());
    auto bad = acknowledgement_reply();
    bad[name] = value;
    CHECK(!read_acknowledgement(bad));
  }
}

SCENARIO("health is read leniently where the specification says so") {
  auto well = read_health({{"ok", true}, {"protocolVersion", 2}, {"features", {"flush", 7, "exec-bytes"}}});
  REQUIRE(well.has_value());
  CHECK_EQ(well->features, (std::vector<std::string>{"flush", "exec-bytes"}));
  auto fenced = read_health({{"ok", false}, {"protocolVersion", 2}, {"features", json::array()}, {"retiring", true}});
  CHECK(!fenced->ok);
  CHECK(fenced->retiring);
  CHECK(failed_with<protocol_failure>(read_health({{"ok", true}, {"protocolVersion", 3}})));
  CHECK(failed_with<protocol_failure>(read_health({{"ok", true}})));
  CHECK(failed_with<protocol_failure>(read_health("ok")));
}

SCENARIO("an event of a wrong shape is a protocol failure") {
  const auto bad = std::vector<json>{
    json::array(),       {{"type", 7}}, {{"type", "stdout"}}, {{"type", "stdout_delta"}}, {{"type", "stderr_delta"}, {"data", 7}},
    {{"type", "error"}}, {{"ok", true}}};
  for (const auto& x : bad) {
    MESSAGE(x.dump());
    CHECK(failed_with<protocol_failure>(read_event(x, false)));
  }
  for (const auto* name : {"exitCode", "timedOut", "durationMs"}) {
    auto x = result_event();
    x.erase(name);
    CHECK(failed_with<protocol_failure>(read_event(x, false)));
    x[name] = "7";
    CHECK(failed_with<protocol_failure>(read_event(x, false)));
  }
  for (const auto* name : {"signal", "stdoutTruncated", "stderrTruncated"}) {
    auto x = result_event();
    x[name] = 7;
    CHECK(failed_with<protocol_failure>(read_event(x, false)));
  }
}

SCENARIO("an error event is the command's and a bare refusal the guest's") {
  CHECK(failed_with<command_failed>(read_event({{"type", "error"}, {"error", "spawn x ENOENT"}}, true)));
  CHECK(failed_with<unauthorized>(read_event({{"ok", false}, {"error", "unauthorized"}}, true)));
  CHECK(failed_with<retiring>(read_event({{"ok", false}, {"error", "agent_retiring"}}, true)));
}

SCENARIO("output is decoded when bytes were asked for and taken as text otherwise") {
  auto raw = read_event({{"type", "stderr_delta"}, {"encoding", "base64"}, {"data", "/wA="}}, true);
  CHECK_EQ(std::get<delta>(*raw).bytes, (std::string{"\xff\0", 2}));
  CHECK(std::get<delta>(*raw).which == paddock::guest::stream::err);
  auto text = read_event({{"type", "stdout_delta"}, {"data", "/wA="}}, false);
  CHECK_EQ(std::get<delta>(*text).bytes, "/wA=");
  CHECK(failed_with<protocol_failure>(read_event({{"type", "stdout_delta"}, {"data", "/wA="}}, true)));
  CHECK(failed_with<protocol_failure>(read_event({{"type", "stdout_delta"}, {"encoding", "base64"}, {"data", "?"}}, true)));
}

SCENARIO("a delta as our agent writes it is taken as it stands, and any other form is left to the parser") {
  const auto bytes = std::string{"\0\xff caf\xc3\xa9", 8};
  for (const auto which : {stream::out, stream::err}) {
    auto payload = delta_event(which, bytes, true);
    const auto got = lift_delta(payload);
    REQUIRE(got.has_value());
    REQUIRE(got->has_value());
    CHECK((*got)->which == which);
    CHECK((*got)->bytes == bytes);
  }
  for (const auto* other :
       {R"({"type":"stdout_delta","data":"AAAA"})", R"({"type":"stdout_delta","data":"AA\/A","encoding":"base64"})",
        R"({"type":"stdout_delta","data":"AAAA","more":"x","encoding":"base64"})", R"({"type":"result","data":"AAAA","encoding":"base64"})",
        R"({"type":"stdout_delta","data":"AAAA","encoding":"base64","offset":0})", R"(","encoding":"base64"})", ""}) {
    auto payload = std::string{other};
    CHECK(!lift_delta(payload).has_value());
    CHECK_EQ(payload, other);
  }
  auto bad = std::string{R"({"type":"stdout_delta","data":"?","encoding":"base64"})"};
  const auto refused = lift_delta(bad);
  REQUIRE(refused.has_value());
  CHECK(failed_with<protocol_failure>(*refused));
}

SCENARIO("a file reply has to be what it says") {
  CHECK_EQ(read_content({{"ok", true}, {"content", "YWJj"}, {"sizeBytes", 3}}).value(), "abc");
  CHECK(failed_with<protocol_failure>(read_content({{"ok", true}, {"content", "YWJj"}, {"sizeBytes", 4}})));
  CHECK(failed_with<protocol_failure>(read_content({{"ok", true}, {"content", 7}})));
  CHECK(failed_with<refused>(read_content({{"ok", false}, {"error", "ENOENT: no such file"}})));
  CHECK_EQ(read_written({{"ok", true}, {"bytesWritten", 3}}, 3).value(), 3u);
  CHECK(failed_with<protocol_failure>(read_written({{"ok", true}, {"bytesWritten", 2}}, 3)));
}

SCENARIO("a huge text of a guest is cut before it becomes ours") {
  const auto got = refusal_in({{"ok", false}, {"error", std::string(1'000'000, 'x')}});
  CHECK_LT(to_string(*got).size(), 10'000u);
  // Not within a character.
  for (const auto* before : {"", "x"}) {
    auto text = std::string{before};
    for (auto i = 0; i < 4096; ++i)
      text += "\xc3\xa9";
    const auto cut = refusal_in({{"ok", false}, {"error", text}});
    CHECK(is_utf8(to_string(*cut)));
    CHECK_GT(to_string(*cut).size(), 4095u);
  }
}
