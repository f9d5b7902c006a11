#define CAF_SUITE agent_session

#include "base/base64.hpp"
#include "tests/guest/agent_world.hpp"
#include "tests/guest/memory.hpp"
#include "tests/guest/terminal_client.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

json persistent(const std::string& id, const std::string& line, json extra = json::object()) {
  auto body = json{{"command", "/bin/sh"}, {"args", {"-c", line}}, {"cols", 80}, {"rows", 24}, {"sessionId", id}, {"persistent", true}};
  body.update(extra);
  return body;
}

json detached(const std::string& id, const std::string& line) {
  return {{"sessionId", id}, {"command", "/bin/sh"}, {"args", {"-c", line}}};
}

json attach(const std::string& id, json extra = json::object()) {
  auto body = json{{"sessionId", id}};
  body.update(extra);
  return body;
}

std::string error_of(const json& x) {
  return x.is_object() ? x.value("error", "(none)") : "(no reply)";
}

/// The row of `id`; null when there is none.
json row(const agent_world& world, const std::string& id) {
  auto reply = world.ask("list-sessions");
  for (const auto& each : reply.at("sessions"))
    if (each.at("sessionId") == id)
      return each;
  return nullptr;
}

bool in_state(const agent_world& world, const std::string& id, const std::string& state) {
  return eventually([&] {
    auto found = row(world, id);
    return found.is_object() && found["state"] == state;
  });
}

bool prints(const agent_world& world, const std::string& id, std::uint64_t next_offset) {
  return eventually([&] {
    auto found = row(world, id);
    return found.is_object() && found["nextOffset"] >= next_offset;
  });
}

} // namespace

// -- persistent terminals ----------------------------------------------------------------------------------------------

// [G 158] the connection drops
SCENARIO("a persistent terminal lives on without its connection") {
  auto world = agent_world{};
  auto client = terminal_client{world.open("terminal", persistent("s", "echo $$ .; read x; echo $x; sleep 1000"))};
  auto ready = client.ready();
  CHECK_EQ(ready["kind"].get<std::string>(), "terminal");
  CHECK_EQ(ready["state"].get<std::string>(), "running");
  CHECK_EQ(ready["sessionId"].get<std::string>(), "s");
  CHECK_EQ(ready["guestBootId"].get<std::string>(), world.agent->boot().text());
  CHECK(ready["fromOffset"] == 0);
  CHECK(ready["droppedBytes"] == 0);
  auto pid = std::stoi(client.until(".\r\n").value_or("0"));
  REQUIRE(pid > 1);
  CHECK(row(world, "s")["attached"] == true);
  client.close();
  CHECK(eventually([&] { return row(world, "s")["attached"] == false; }));
  CHECK(runs(pid));
  CHECK(row(world, "s")["state"] == "running");
  CHECK(!row(world, "s").contains("lastInputAt"));
}

// [G 159] what was missed
SCENARIO("an attachment gets exactly what was printed since the offset") {
  auto world = agent_world{};
  auto offset = std::uint64_t{0};
  {
    auto client = terminal_client{world.open("terminal", persistent("s", "stty -echo; echo one; while [ ! -e go ]; do sleep 0.01; done; "
                                                                         "echo two; echo three; read x; echo got $x"))};
    REQUIRE(client.until("one\r\n"));
    offset = 5;
  }
  put(world.workspace() / "go", "");
  REQUIRE(prints(world, "s", offset + 12));
  auto again = terminal_client{world.open("attach-session", attach("s", {{"fromOffset", offset}}))};
  CHECK(again.ready()["fromOffset"] == offset);
  CHECK(again.ready()["nextOffset"] == offset + 12);
  CHECK_EQ(again.until("three\r\n").value_or(""), "two\r\nthree\r\n");
  again.type("it\n"); // and it is a terminal again
  auto said = again.to_end();
  CHECK_EQ(said.text, "got it\r\n");
  CHECK_EQ(said.last.dump(), R"({"exitCode":0,"nextOffset":25,"type":"exit"})");
  CHECK(said.terminated);
  CHECK(row(world, "s").contains("lastInputAt"));
}

// [G 160] a second attachment
SCENARIO("a second attachment supersedes the first") {
  auto world = agent_world{};
  auto first = terminal_client{world.open("terminal", persistent("s", "echo up; read x; echo $x"))};
  REQUIRE(first.until("up\r\n"));
  auto second = terminal_client{world.open("attach-session", attach("s"))};
  REQUIRE(second.until("up\r\n"));
  auto lost = first.to_end();
  CHECK_EQ(lost.last.dump(), R"({"reason":"superseded","type":"detached"})");
  CHECK(lost.terminated);
  CHECK(row(world, "s")["attached"] == true);
  second.type("mine\n");
  CHECK(second.to_end().text.ends_with("mine\r\n"));
}

// [G 161] a read
SCENARIO("reading a session disturbs no attachment") {
  auto world = agent_world{};
  auto client = terminal_client{world.open("terminal", persistent("s", "stty -echo; echo up; read x; echo $x"))};
  REQUIRE(client.until("up\r\n"));
  auto read = terminal_client{world.open("attach-session", attach("s", {{"follow", false}}))}.to_end();
  CHECK(read.first["nextOffset"] == 4);
  CHECK_EQ(read.text, "up\r\n");
  CHECK(read.last.is_discarded());
  CHECK(read.terminated);
  CHECK(row(world, "s")["attached"] == true);
  client.type("still\n");
  auto said = client.to_end();
  CHECK_EQ(said.text, "still\r\n");
  CHECK_EQ(said.last["type"].get<std::string>(), "exit");
}

// [G 162] an exited session
SCENARIO("attaching to an exited session replays it and tells the exit") {
  auto world = agent_world{};
  world.ask("start-detached", detached("s", "echo out; exit 5"));
  REQUIRE(in_state(world, "s", "exited"));
  auto said = terminal_client{world.open("attach-session", attach("s"))}.to_end();
  CHECK(said.first["state"] == "exited");
  CHECK(said.first["exitCode"] == 5);
  CHECK_EQ(said.text, "out\n");
  CHECK_EQ(said.last.dump(), R"({"exitCode":5,"nextOffset":4,"type":"exit"})");
  CHECK(said.terminated);
  auto read = terminal_client{world.open("attach-session", attach("s", {{"follow", false}, {"fromOffset", 1}}))}.to_end();
  CHECK_EQ(read.text, "ut\n");
  CHECK(read.last.is_discarded());
}

// [G 163] beyond the end
SCENARIO("an offset beyond the end is refused and told where the end is") {
  auto world = agent_world{};
  world.ask("start-detached", detached("s", "echo out"));
  REQUIRE(in_state(world, "s", "exited"));
  for (const auto& bad : {json(5), json(-1), json("x"), json(1.5)}) {
    auto client = world.open("attach-session", attach("s", {{"fromOffset", bad}}));
    CHECK_EQ(client.event().dump(), R"({"error":"invalid_offset","nextOffset":4,"type":"error"})");
    CHECK_EQ(client.rest(), guest::to_frame(""));
  }
  CHECK_EQ(terminal_client{world.open("attach-session", attach("s", {{"fromOffset", 4}}))}.to_end().text, "");
}

// [G 164] a used id
SCENARIO("an id that is used is refused, by both openings") {
  auto world = agent_world{};
  CHECK(world.ask("start-detached", detached("s", "exec sleep 1000"))["ok"] == true);
  CHECK_EQ(error_of(world.ask("start-detached", detached("s", "echo x > ran"))), "session_exists");
  auto client = world.open("terminal", persistent("s", "echo x > ran"));
  CHECK_EQ(client.event().dump(), R"({"error":"session_exists","type":"error"})");
  CHECK_EQ(client.rest(), "");
  CHECK(!fs::exists(world.workspace() / "ran"));
  CHECK(world.ask("list-sessions")["sessions"].size() == 1);
}

// [G 165] a full registry
SCENARIO("sixteen sessions are the most, and an exited one makes room") {
  auto world = agent_world{};
  for (auto i = 0; i < 16; ++i)
    REQUIRE(world.ask("start-detached", detached("s" + std::to_string(i), "exec sleep 1000"))["ok"] == true);
  CHECK_EQ(error_of(world.ask("start-detached", detached("more", "exec sleep 1000"))), "session_capacity");
  auto client = world.open("terminal", persistent("more", "echo x > ran"));
  CHECK_EQ(error_of(client.event()), "session_capacity");
  CHECK_EQ(client.rest(), "");
  CHECK_EQ(world.ask("kill-session", attach("s7"))["state"].get<std::string>(), "exited");
  CHECK(world.ask("start-detached", detached("more", "exec sleep 1000"))["ok"] == true);
  CHECK(row(world, "s7").is_null());
  CHECK(world.ask("list-sessions")["sessions"].size() == 16);
  CHECK_EQ(error_of(world.ask("start-detached", detached("again", "exec sleep 1000"))), "session_capacity");
}

// [G 166] the syntax of ids
SCENARIO("an id of another syntax is refused by every op") {
  auto world = agent_world{};
  for (const auto& bad : {std::string{"-x"}, std::string(65, 'a')}) {
    auto body = attach(bad, {{"command", "true"}});
    CHECK_EQ(error_of(world.ask("start-detached", body)), "invalid_session_id");
    CHECK_EQ(error_of(world.ask("kill-session", body)), "invalid_session_id");
    auto client = world.open("attach-session", body);
    CHECK_EQ(error_of(client.event()), "invalid_session_id");
    CHECK_EQ(client.rest(), guest::to_frame(""));
    auto terminal = world.open("terminal", persistent(bad, "true"));
    CHECK_EQ(error_of(terminal.event()), "invalid_session_id");
    CHECK_EQ(terminal.rest(), "");
  }
  CHECK_EQ(error_of(world.ask("kill-session", attach("other"))), "unknown_session");
  auto unknown = world.open("attach-session", attach("other"));
  CHECK_EQ(error_of(unknown.event()), "unknown_session");
  CHECK_EQ(unknown.rest(), guest::to_frame(""));
}

// -- detached programs -------------------------------------------------------------------------------------------------

// [G 167] a detached program
SCENARIO("a detached program has no terminal and no input, and both its streams are kept") {
  auto world = agent_world{};
  auto reply = world.ask("start-detached",
                         detached("s", "cat; test -t 1 || echo none; echo $$; echo err >&2; sleep 0.1; echo done >&2; exec sleep 1000"));
  CHECK(reply["ok"] == true);
  CHECK_EQ(reply["kind"].get<std::string>(), "detached");
  CHECK_EQ(reply["state"].get<std::string>(), "running");
  CHECK(reply["attached"] == false);
  CHECK_EQ(reply["startedAt"].get<std::int64_t>(), 1'767'225'600'000);
  auto pid = reply["pid"].get<int>();
  auto client = terminal_client{world.open("attach-session", attach("s"))};
  auto text = client.until("done\n").value_or(""); // `cat` has seen the end of its input
  CHECK(text.find("none\n" + std::to_string(pid) + "\n") != std::string::npos);
  CHECK(text.find("err\n") != std::string::npos);
  CHECK(runs(pid));
  client.type("nobody takes it\n");
  client.close();
  CHECK(eventually([&] { return row(world, "s")["attached"] == false; }));
  CHECK(runs(pid));
  CHECK(!row(world, "s").contains("lastInputAt"));
}

// [G 168] no such program
SCENARIO("a detached program that cannot be started leaves its id free") {
  auto world = agent_world{};
  auto reply = world.ask("start-detached", attach("s", {{"command", "no-such-program"}}));
  CHECK_EQ(reply.dump(), R"({"error":"spawn_failed","message":"spawn no-such-program ENOENT","ok":false})");
  CHECK_EQ(world.ask("list-sessions").dump(), R"({"ok":true,"sessions":[]})");
  CHECK_EQ(error_of(world.ask("start-detached", attach("s"))), "missing_command");
  CHECK_EQ(error_of(world.ask("start-detached", attach("s", {{"command", "true"}, {"cwd", "/etc"}}))), "path escapes the workspace");
  CHECK(world.ask("start-detached", detached("s", "exit 0"))["ok"] == true);
}

// [G 173] a failed persistent opening
SCENARIO("a persistent terminal that could not be opened can be tried again") {
  auto world = agent_world{};
  auto client = world.open("terminal", persistent("s", "", {{"command", "no-such-program"}}));
  CHECK_EQ(error_of(client.event()), "spawn no-such-program ENOENT");
  CHECK_EQ(client.rest(), "");
  CHECK(terminal_client{world.open("terminal", persistent("s", "exit 3"))}.to_end().last["exitCode"] == 3);
}

// [G 174] a new agent
SCENARIO("a new agent has no sessions") {
  auto workspace = temp_directory{};
  const auto same = agent_world::variables{{"NAMZU_SANDBOX_WORKSPACE", workspace.path().string()}};
  {
    auto before = agent_world{same};
    REQUIRE(before.ask("start-detached", detached("s", "exec sleep 1000"))["ok"] == true);
    REQUIRE_EQ(before.ask("list-sessions")["sessions"].size(), 1U);
  }
  auto world = agent_world{same};
  CHECK_EQ(world.ask("list-sessions").dump(), R"({"ok":true,"sessions":[]})");
}

SCENARIO("an exited session expires, and is listed until then") {
  auto world = agent_world{};
  world.ask("start-detached", detached("a", "exit 7"));
  world.ask("start-detached", detached("b", "exec sleep 1000"));
  REQUIRE(in_state(world, "a", "exited"));
  CHECK(row(world, "a")["exitCode"] == 7);
  world.time.advance(600s - 1ms);
  CHECK(!row(world, "a").is_null());
  world.time.advance(1ms);
  CHECK(row(world, "a").is_null());
  CHECK(!row(world, "b").is_null());
}

// [G 286] two at once
SCENARIO("of two that start one id at once exactly one does") {
  auto world = agent_world{};
  auto before = children();
  world.work.holding = true;
  auto first = world.open("start-detached", detached("s", "echo x >> ran; exec sleep 1000"));
  auto job = world.work.take();
  // The first is under way, and waits for its directory.
  CHECK_EQ(error_of(world.ask("start-detached", detached("s", "echo x >> ran"))), "session_exists");
  CHECK_EQ(world.ask("list-sessions")["sessions"].size(), 0U); // nothing to name yet
  job();
  CHECK(first.event()["ok"] == true);
  REQUIRE(eventually([&] { return content_of(world.workspace() / "ran") == "x\n"; }));
  CHECK(world.ask("list-sessions")["sessions"].size() == 1);
  CHECK_EQ(world.on_wire([] { return children(); }).size(), before.size() + 1);
}

SCENARIO("the last place is given to one of two at once") {
  auto world = agent_world{{{"NAMZU_AGENT_MAX_SESSIONS", "1"}}};
  world.work.holding = true;
  auto first = world.open("start-detached", detached("a", "exec sleep 1000"));
  auto job = world.work.take();
  CHECK_EQ(error_of(world.ask("start-detached", detached("b", "echo x > ran"))), "session_capacity");
  job();
  CHECK(first.event()["ok"] == true);
}

// -- kill-session ------------------------------------------------------------------------------------------------------

// [G 169] with a background job
SCENARIO("killing a session ends its background jobs too") {
  auto world = agent_world{};
  auto client =
    terminal_client{world.open("terminal", persistent("s", "set -m; (trap '' HUP TERM; sleep 1000) & echo $! $$ .; read never"))};
  auto words = std::stringstream{client.until(".\r\n").value_or("")};
  auto job = 0;
  auto leader = 0;
  words >> job >> leader;
  REQUIRE(job > 1);
  auto reply = world.ask("kill-session", attach("s"));
  CHECK(reply["ok"] == true);
  CHECK_EQ(reply["state"].get<std::string>(), "exited");
  CHECK(reply["signal"] == 9);
  CHECK(reply["exitCode"] == -1);
  CHECK(reply["signalled"] >= 2);
  CHECK(eventually([&] { return !runs(job) && !runs(leader); }));
  auto said = client.to_end();
  CHECK_EQ(said.last["type"].get<std::string>(), "exit");
  CHECK(said.terminated);
}

// [G 170] a program that ignores the signal
SCENARIO("a survivor of a kill is reported as running") {
  auto world = agent_world{{{"NAMZU_AGENT_SESSION_KILL_CONFIRM_TIMEOUT_MS", "300"}}};
  world.ask("start-detached", detached("s", "trap '' TERM; echo up; while :; do sleep 0.05; done"));
  REQUIRE(prints(world, "s", 3));
  auto before = std::chrono::steady_clock::now();
  auto reply = world.ask("kill-session", attach("s", {{"signal", "SIGTERM"}}));
  CHECK(std::chrono::steady_clock::now() - before >= 300ms);
  CHECK(reply["ok"] == true);
  CHECK_EQ(reply["state"].get<std::string>(), "running");
  CHECK(reply["signalled"] >= 1);
  CHECK_EQ(world.ask("kill-session", attach("s", {{"signal", "SIGSTOP"}}))["state"].get<std::string>(), "exited"); // a SIGKILL
}

SCENARIO("a kill waits five seconds by default") {
  auto config = guest::read_agent_config({"NAMZU_AGENT_UNIX_PATH=/x"});
  REQUIRE(config);
  CHECK(config->session_kill_confirm_timeout == 5'000ms);
  CHECK_EQ(config->max_sessions, 16U);
  CHECK_EQ(config->session_log_bytes, 1'048'576U);
  CHECK(config->session_terminal_ttl == 600s);
  CHECK(!guest::read_agent_config({"NAMZU_AGENT_UNIX_PATH=/x", "NAMZU_AGENT_MAX_SESSIONS=0"}));
}

// [G 171] an exited session
SCENARIO("killing what has exited is fine and signals nothing") {
  auto world = agent_world{};
  world.ask("start-detached", detached("s", "exit 2"));
  REQUIRE(in_state(world, "s", "exited"));
  for (auto i = 0; i < 2; ++i) {
    auto reply = world.ask("kill-session", attach("s"));
    CHECK(reply["ok"] == true);
    CHECK(reply["exitCode"] == 2);
    CHECK(!reply.contains("signalled"));
  }
}

// -- readers -----------------------------------------------------------------------------------------------------------

// [G 172] a reader that does not drain
SCENARIO("a reader that falls behind by more than the log is cut off, and the program goes on") {
  auto world = agent_world{{{"NAMZU_AGENT_REFUSAL_FLUSH_GRACE_MS", "20000"}}};
  auto client = terminal_client{agent_world::connect_to(world.port(), 65536)};
  client.raw().send(world.request("terminal", persistent("s", "echo $$ .; while [ ! -e go ]; do sleep 0.01; done; "
                                                              "head -c 4194304 /dev/zero; echo x > ran; exec sleep 1000")));
  auto pid = std::stoi(client.until(".\r\n").value_or("0"));
  put(world.workspace() / "go", "");
  CHECK(eventually([&] { return fs::exists(world.workspace() / "ran"); })); // it was not blocked
  CHECK(row(world, "s")["attached"] == false);
  auto said = client.to_end();
  CHECK_EQ(said.last.dump(), R"({"reason":"slow_reader","type":"detached"})");
  CHECK(!said.terminated); // the socket is destroyed
  CHECK_LT(said.text.size(), 4U << 20U);
  CHECK(runs(pid));
  CHECK_EQ(row(world, "s")["state"].get<std::string>(), "running");
  // The last bytes are there for who attaches now, and the loss is told.
  auto read = terminal_client{world.open("attach-session", attach("s", {{"follow", false}}))}.to_end();
  CHECK_EQ(read.first["nextOffset"].get<std::uint64_t>() - read.first["fromOffset"].get<std::uint64_t>(), 1'048'576U);
  CHECK(read.first["droppedBytes"] == read.first["fromOffset"]);
  CHECK_EQ(read.text.size(), 1'048'576U);
}

SCENARIO("a reader that is never further behind than the log gets every byte under its offset") {
  auto world = agent_world{};
  world.ask("start-detached", detached("s", "while [ ! -e go ]; do sleep 0.01; done; head -c 1000000 /dev/zero; echo end >&2"));
  auto client = world.open("attach-session", attach("s", {{"encoding", "base64"}}));
  CHECK_EQ(client.event().value("encoding", ""), "base64");
  put(world.workspace() / "go", "");
  auto at = std::uint64_t{0};
  auto whole = true;
  auto last = json{};
  for (auto event = client.event(); !event.is_discarded(); event = client.event()) {
    last = event;
    if (event["type"] != "data")
      break;
    auto bytes = from_base64(event["data"].get<std::string>()).value_or("");
    whole = whole && event["offset"] == at && event["nextOffset"] == at + bytes.size();
    at += bytes.size();
  }
  CHECK(whole);
  CHECK_EQ(at, 1'000'004U);
  CHECK_EQ(last.dump(), R"({"exitCode":0,"nextOffset":1000004,"type":"exit"})");
}

// [G 172] as little as that is no reason
SCENARIO("a reader that reads nothing while less than the log is unsent gets all of it afterwards") {
  auto world = agent_world{};
  world.ask("start-detached", detached("s", "while [ ! -e go ]; do sleep 0.01; done; head -c 1000000 /dev/zero; echo end >&2"));
  auto client = terminal_client{agent_world::connect_to(world.port(), 65536)};
  client.raw().send(world.request("attach-session", attach("s")));
  REQUIRE(eventually([&] { return row(world, "s")["attached"] == true; }));
  put(world.workspace() / "go", "");
  REQUIRE(in_state(world, "s", "exited"));
  auto said = client.to_end();
  CHECK_EQ(said.text.size(), 1'000'004U);
  CHECK_EQ(said.last.dump(), R"({"exitCode":0,"nextOffset":1000004,"type":"exit"})");
  CHECK(said.terminated);
}

SCENARIO("a log smaller than what comes at once loses no reader that keeps up") {
  auto world = agent_world{{{"NAMZU_AGENT_SESSION_LOG_BYTES", "4"}}};
  auto said = terminal_client{world.open("terminal", persistent("s", "stty -echo; echo 0123456789; exit 1"))}.to_end();
  CHECK_EQ(said.text, "0123456789\r\n");
  CHECK(said.last["exitCode"] == 1);
}

SCENARIO("each attachment chooses how its bytes are carried, and may set the size") {
  auto world = agent_world{};
  auto first = terminal_client{world.open("terminal", persistent("s", "printf '\\377'; read x; stty size; read x"))};
  REQUIRE(first.until("\xef\xbf\xbd"));
  auto client = world.open("attach-session", attach("s", {{"encoding", "base64"}, {"cols", 132}, {"rows", 50}}));
  CHECK_EQ(client.event().value("encoding", ""), "base64");
  CHECK_EQ(client.event()["data"].get<std::string>(), "/w==");
  client.send(guest::to_frame(json{{"type", "input"}, {"data", to_base64("\n")}}.dump()));
  auto text = std::string{};
  while (text.find("50 132\r\n") == std::string::npos) {
    auto event = client.event();
    REQUIRE(event.is_object());
    REQUIRE(event["type"] == "data");
    text += from_base64(event["data"].get<std::string>()).value_or("");
  }
}

SCENARIO("a program that was detached blocks on nobody when its parent has gone") {
  auto world = agent_world{};
  world.ask("start-detached", detached("s", "(while [ ! -e go ]; do sleep 0.01; done; head -c 1000000 /dev/zero; echo x > ran) & exit 0"));
  REQUIRE(in_state(world, "s", "exited"));
  put(world.workspace() / "go", "");
  CHECK(eventually([&] { return fs::exists(world.workspace() / "ran"); }));
  CHECK(row(world, "s")["nextOffset"] == 0); // what came after the exit is not of the session
}

// -- heartbeat ---------------------------------------------------------------------------------------------------------

// [G 186] fifteen seconds
SCENARIO("an asked heartbeat is echoed, and the guest sends its own") {
  auto world = agent_world{};
  auto body = persistent("s", "echo up; read x; echo got", {{"heartbeatMs", 15'000}});
  for (const auto* op : {"terminal", "attach-session"}) {
    auto client = terminal_client{world.open(op, body)};
    CHECK(client.ready()["heartbeatMs"] == 15'000);
  }
  auto bound = world.open("terminal", json{{"command", "cat"}, {"cols", 80}, {"rows", 24}, {"heartbeatMs", 100}});
  CHECK(bound.event()["heartbeatMs"] == 100);
  // Real polls, a clock by hand: one interval is one frame.
  for (auto i = 0; i < 5; ++i) {
    world.time.advance(100ms);
    CHECK_EQ(bound.event().dump(), R"({"type":"heartbeat"})");
    bound.send(guest::to_frame(R"({"type":"heartbeat"})")); // proof of life, and nothing else
    world.ask("healthz");
  }
  bound.send(guest::to_frame(R"({"type":"input","data":"x\n"})"));
  CHECK_EQ(bound.event()["type"].get<std::string>(), "data");
}

// [G 187] the floor
SCENARIO("an interval that is too short is raised") {
  auto world = agent_world{};
  auto client = terminal_client{world.open("terminal", persistent("s", "sleep 1000", {{"heartbeatMs", 1}}))};
  CHECK(client.ready()["heartbeatMs"] == 100);
}

// [G 188] none asked
SCENARIO("without a heartbeat a silent stream stays for hours") {
  auto world = agent_world{};
  auto client = terminal_client{world.open("terminal", persistent("s", "stty -echo; echo up; read x; echo got $x"))};
  CHECK(!client.ready().contains("heartbeatMs"));
  REQUIRE(client.until("up\r\n"));
  // Another stream, whose heartbeats show that the hours have passed for the agent.
  auto clock = world.open("terminal", json{{"command", "cat"}, {"cols", 80}, {"rows", 24}, {"heartbeatMs", 100}});
  clock.event();
  world.time.advance(5h);
  while (!clock.event().is_discarded()) // it is dead by now
    ;
  client.type("it\n");
  CHECK_EQ(client.raw().event().value("data", ""), "got it\r\n"); // and nothing before it
}

// [G 189] a host that vanishes
SCENARIO("a host of which nothing is heard for three intervals is given up") {
  auto world = agent_world{};
  auto bound = terminal_client{world.open(
    "terminal", json{{"command", "/bin/sh"}, {"args", {"-c", "echo $$ .; sleep 1000"}}, {"cols", 80}, {"rows", 24}, {"heartbeatMs", 100}})};
  auto lost = std::stoi(bound.until(".\r\n").value_or("0"));
  auto session = terminal_client{world.open("terminal", persistent("s", "echo $$ .; exec sleep 1000", {{"heartbeatMs", 100}}))};
  auto kept = std::stoi(session.until(".\r\n").value_or("0"));
  world.time.advance(299ms);
  for (auto* each : {&bound, &session}) // it was looked at, and nobody is dead yet
    CHECK_EQ(each->raw().event().dump(), R"({"type":"heartbeat"})");
  CHECK(runs(lost));
  world.time.advance(1ms); // not a byte has come since; no FIN either
  CHECK(eventually([&] { return !runs(lost); }));
  CHECK(eventually([&] { return row(world, "s")["attached"] == false; }));
  CHECK(runs(kept));
  CHECK(bound.to_end().last.is_discarded());
  CHECK(!session.to_end().terminated);
}

// [G 192] a large frame, slowly
SCENARIO("a frame that takes longer than three intervals keeps the stream alive") {
  auto world = agent_world{};
  auto client = world.open("terminal", json{{"command", "/bin/sh"},
                                            {"args", {"-c", "stty raw -echo; printf up; head -c 2000 | wc -c"}},
                                            {"cols", 80},
                                            {"rows", 24},
                                            {"heartbeatMs", 100}});
  auto ready = client.event();
  CHECK(ready["heartbeatMs"] == 100);
  auto beats = 0;
  auto next = [&] {
    auto event = client.event();
    for (; event.is_object() && event["type"] == "heartbeat"; event = client.event())
      ++beats;
    return event;
  };
  CHECK_EQ(next().value("data", ""), "up");
  auto frame = guest::to_frame(json{{"type", "input"}, {"data", std::string(2000, 'x')}}.dump());
  auto at = std::size_t{0};
  for (; at + 100 < frame.size(); at += 100) {
    client.send(frame.substr(at, 100));
    world.ask("healthz"); // what was sent has come
    world.time.advance(100ms);
    CHECK_EQ(client.event().value("type", ""), "heartbeat"); // the agent has polled
  }
  client.send(frame.substr(at));
  auto text = std::string{};
  while (text.find("2000") == std::string::npos) {
    auto event = next();
    REQUIRE(event.is_object());
    text += event.value("data", "");
  }
}

// -- leaks -------------------------------------------------------------------------------------------------------------

SCENARIO("a thousand sessions leave nothing behind") {
  auto world = agent_world{{{"NAMZU_AGENT_MAX_SESSIONS", "20"}}};
  auto next = 0;
  auto some = [&] { // twenty at once: half of them are killed, the other half end
    auto detached_ones = std::vector<std::string>{};
    auto terminals = std::vector<terminal_client>{};
    for (auto i = 0; i < 10; ++i) {
      detached_ones.push_back("d" + std::to_string(next));
      CHECK(world.ask("start-detached", detached(detached_ones.back(), "exec sleep 1000"))["ok"] == true);
      terminals.emplace_back(world.open("terminal", persistent("t" + std::to_string(next++), "echo x")));
    }
    auto kills = std::vector<raw_client>{};
    for (const auto& id : detached_ones)
      kills.push_back(world.open("kill-session", attach(id)));
    for (auto& each : kills)
      CHECK(each.event()["state"] == "exited");
    for (auto& each : terminals)
      CHECK(each.to_end().last["exitCode"] == 0);
  };
  some();
  auto settled = [&] {
    return world.on_wire([&] {
      world.agent->reap();
      return children().empty();
    });
  };
  REQUIRE(eventually(settled)); // no zombie either: nothing else was in their sessions
  REQUIRE(comes_to_rest([] { return open_descriptors(); }, [] {}));
  auto descriptors = open_descriptors();
  auto memory = resident_bytes();
  for (auto i = 0; i < 50; ++i)
    some();
  REQUIRE(eventually(settled));
  CHECK(eventually([&] { return open_descriptors() <= descriptors; }));
  if (memory_is_measured)
    CHECK_LT(resident_bytes(), memory + (4 << 20));
}
