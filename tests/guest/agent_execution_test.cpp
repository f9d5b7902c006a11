#define CAF_SUITE agent_execution

#include "guest/execution_registry.hpp"
#include "tests/guest/agent_world.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

constexpr auto named = "exec_5e2c7a10-94bd-4c3f-a1d8-7f60e3b2c915";
constexpr auto other = "exec_5e2c7a10-94bd-4c3f-a1d8-7f60e3b2c916";

std::string error_of(const json& x) {
  return x.value("error", "(none)");
}

json reserve(const agent_world& world, const std::string& id) {
  return world.ask("reserve-execution", json{{"executionId", id}});
}

} // namespace

// -- reservation -------------------------------------------------------------------------------------------------------

// [G 44] without an id
SCENARIO("a reservation without an id is given one, and a lease") {
  auto world = agent_world{};
  auto reply = world.ask("reserve-execution");
  CHECK(guest::is_execution_id(reply["executionId"].get<std::string>()));
  CHECK_EQ(reply["leaseExpiresAt"].get<std::int64_t>(), 1'767'225'630'000);
  CHECK(reply["protocolVersion"] == 2);
  CHECK(!reply.contains("state"));
}

// [G 45] a named id, twice
SCENARIO("a named reservation is idempotent") {
  auto world = agent_world{{{"NAMZU_AGENT_MAX_TRACKED_EXECUTIONS", "2"}}};
  for (auto i = 0; i < 3; ++i) {
    auto reply = reserve(world, named);
    CHECK_EQ(reply["executionId"].get<std::string>(), named);
    CHECK_EQ(reply["state"].get<std::string>(), "reserved");
  }
  CHECK(reserve(world, other)["ok"] == true); // there was one record
}

// [G 46] a running execution
SCENARIO("reserving what runs tells that it runs") {
  auto world = agent_world{};
  auto id = world.reserve();
  auto client = world.start(id, "echo up; read x", {{"stdinStream", true}});
  client.event();
  auto reply = reserve(world, id);
  CHECK_EQ(reply["state"].get<std::string>(), "running");
  CHECK_EQ(reply["leaseExpiresAt"].get<std::int64_t>(), 1'767'225'600'000);
}

// [G 48] a malformed id
SCENARIO("an id of another shape is refused") {
  auto world = agent_world{};
  CHECK_EQ(reserve(world, "exec_123").dump(), R"({"error":"invalid_execution_id","ok":false})");
  CHECK(guest::is_execution_id(named));
  CHECK(guest::is_execution_id("exec_5E2C7A10-94BD-1C3F-B1D8-7F60E3B2C915"));
  CHECK(!guest::is_execution_id("exec_5e2c7a10-94bd-6c3f-a1d8-7f60e3b2c915"));
  CHECK(!guest::is_execution_id("exec_5e2c7a10-94bd-4c3f-c1d8-7f60e3b2c915"));
  CHECK(!guest::is_execution_id(std::string{named} + "\n"));
}

// [G 49] a full registry
SCENARIO("a registry full of reservations has no room") {
  auto world = agent_world{{{"NAMZU_AGENT_MAX_TRACKED_EXECUTIONS", "2"}}};
  world.reserve();
  world.reserve();
  CHECK_EQ(error_of(world.ask("reserve-execution")), "execution_capacity");
}

// [G 50] room by eviction
SCENARIO("a terminal record makes room") {
  auto world = agent_world{{{"NAMZU_AGENT_MAX_TRACKED_EXECUTIONS", "2"}}};
  auto id = world.reserve();
  world.reserve();
  world.cancel(id);
  CHECK(world.ask("reserve-execution")["ok"] == true);
  CHECK_EQ(error_of(world.cancel(id)), "unknown_execution");
}

// [G 51] asking does not evict
SCENARIO("asking about the only terminal record does not evict it") {
  auto world = agent_world{{{"NAMZU_AGENT_MAX_TRACKED_EXECUTIONS", "2"}}};
  auto id = world.reserve();
  world.reserve();
  world.cancel(id);
  CHECK_EQ(reserve(world, id)["state"].get<std::string>(), "terminal");
  CHECK(world.cancel(id)["ok"] == true);
}

// [G 52] an expired lease
SCENARIO("an expired reservation is unknown") {
  auto world = agent_world{};
  auto id = world.reserve();
  world.time.advance(30s);
  auto said = world.run(id, "echo x > ran");
  CHECK_EQ(error_of(said.last), "unknown_execution");
  CHECK(said.terminated);
  CHECK(!fs::exists(world.workspace() / "ran"));
}

SCENARIO("a terminal record expires, a running one does not") {
  auto world = agent_world{};
  auto id = world.reserve();
  world.run(id, "exit 0");
  auto runs = world.reserve();
  auto client = world.start(runs, "echo up; read x", {{"stdinStream", true}});
  client.event();
  world.time.advance(60s);
  CHECK_EQ(error_of(world.cancel(id)), "unknown_execution");
  CHECK_EQ(reserve(world, runs)["state"].get<std::string>(), "running");
}

// -- execute -----------------------------------------------------------------------------------------------------------

// [G 53] both streams and an exit code
SCENARIO("a command's streams and exit code arrive, then the terminator and the end") {
  auto world = agent_world{};
  auto said = world.run(world.reserve(), "echo out; echo err >&2; exit 7");
  CHECK_EQ(said.out, "out\n");
  CHECK_EQ(said.err, "err\n");
  CHECK_EQ(said.last["type"].get<std::string>(), "result");
  CHECK(said.last["exitCode"] == 7);
  CHECK(said.last["timedOut"] == false);
  CHECK(!said.last.contains("signal"));
  CHECK(said.terminated);
  CHECK(said.ended);
}

// [G 54] executed twice
SCENARIO("a running execution is not started again") {
  auto world = agent_world{};
  auto id = world.reserve();
  auto client = world.start(id, "echo x >> count; echo up; read x", {{"stdinStream", true}});
  client.event();
  auto again = world.run(id, "echo x >> count");
  CHECK_EQ(error_of(again.last), "execution_not_reserved: running");
  CHECK(again.terminated);
  client.send(guest::to_frame(R"({"type":"stdin_end"})"));
  listen_to(client);
  CHECK_EQ(content_of(world.workspace() / "count"), "x\n");
}

// [G 288] two hosts, one reservation
SCENARIO("of two executes of one reservation exactly one starts") {
  auto world = agent_world{};
  REQUIRE_EQ(reserve(world, named)["state"].get<std::string>(), "reserved");
  REQUIRE_EQ(reserve(world, named)["state"].get<std::string>(), "reserved");
  auto a = world.start(named, "echo x >> count");
  auto b = world.start(named, "echo x >> count");
  auto one = listen_to(a);
  auto two = listen_to(b);
  auto refused = [](const transcript& x) { return error_of(x.last).starts_with("execution_not_reserved"); };
  CHECK_EQ(int{refused(one)} + int{refused(two)}, 1);
  CHECK_EQ(content_of(world.workspace() / "count"), "x\n");
}

// [G 55] input
SCENARIO("the text of stdin reaches the command") {
  auto world = agent_world{};
  auto client = world.open("execute", json{{"command", "cat"}, {"stdin", "abc"}});
  CHECK_EQ(listen_to(client).out, "abc");
}

// [G 56] no input
SCENARIO("without stdin a command reads nothing") {
  auto world = agent_world{};
  auto client = world.open("execute", json{{"command", "cat"}});
  auto said = listen_to(client);
  CHECK_EQ(said.out, "");
  CHECK(said.last["exitCode"] == 0);
}

// [G 57] a directory that is not there
SCENARIO("the working directory is created") {
  auto world = agent_world{};
  auto said = world.run(world.reserve(), "pwd", {{"cwd", "a/b"}});
  CHECK_EQ(said.out, (world.workspace() / "a/b").string() + "\n");
  CHECK(fs::is_directory(world.workspace() / "a/b"));
}

// [G 58] a directory outside
SCENARIO("a working directory outside is refused and the reservation is kept") {
  auto world = agent_world{};
  auto id = world.reserve();
  auto said = world.run(id, "true", {{"cwd", "../x"}});
  CHECK_EQ(error_of(said.last), "invalid_cwd: path escapes the workspace");
  CHECK(said.terminated);
  CHECK(world.run(id, "true").last["exitCode"] == 0);
}

SCENARIO("a working directory that cannot be made fails the execution") {
  auto world = agent_world{};
  put(world.workspace() / "f", "");
  auto id = world.reserve();
  auto said = world.run(id, "true", {{"cwd", "f/x"}});
  CHECK(error_of(said.last).starts_with("mkdir_failed: ENOTDIR"));
  auto end = world.cancel(id);
  CHECK_EQ(end["state"].get<std::string>(), "failed");
  CHECK(end["started"] == false);
}

// [G 59] above the ceiling
SCENARIO("a timeout above the ceiling is refused, not shortened") {
  auto world = agent_world{{{"NAMZU_SANDBOX_MAX_TIMEOUT_MS", "400000"}}};
  auto id = world.reserve();
  auto said = world.run(id, "echo x > ran", {{"timeoutMs", 400001}});
  CHECK_EQ(error_of(said.last), "invalid_timeout: timeoutMs must be a finite number in (0, 400000] (NAMZU_SANDBOX_MAX_TIMEOUT_MS)");
  CHECK(!fs::exists(world.workspace() / "ran"));
  CHECK_EQ(reserve(world, id)["state"].get<std::string>(), "reserved");
}

// [G 60] zero
SCENARIO("a timeout of zero is refused") {
  auto world = agent_world{};
  for (auto& bad : {json(0), json(-1), json("x"), json(nullptr)})
    CHECK(error_of(world.run(world.reserve(), "true", {{"timeoutMs", bad}}).last).starts_with("invalid_timeout: "));
}

// [G 61] a timeout
SCENARIO("a command is ended at its timeout and counts as completed") {
  auto world = agent_world{};
  auto id = world.reserve();
  auto client = world.open("execute", json{{"executionId", id}, {"command", "sleep"}, {"args", {"30"}}, {"timeoutMs", 200}});
  auto said = listen_to(client);
  CHECK(said.last["timedOut"] == true);
  CHECK(said.last["exitCode"] == -1);
  CHECK_EQ(said.last["signal"].get<std::string>(), "SIGTERM");
  CHECK_EQ(world.cancel(id)["state"].get<std::string>(), "completed");
  CHECK(!world.on_wire([&] { return world.agent->retiring(); }));
}

// [G 62] a timeout that SIGTERM does not enforce
SCENARIO("a command that ignores SIGTERM is killed after the grace") {
  auto world = agent_world{{{"NAMZU_AGENT_CANCEL_GRACE_MS", "50"}}};
  auto said = world.run(world.reserve(), "trap '' TERM; while :; do sleep 1; done", {{"timeoutMs", 100}});
  CHECK(said.last["timedOut"] == true);
  CHECK_EQ(said.last["signal"].get<std::string>(), "SIGKILL");
}

// [G 63] a cap
SCENARIO("output over the cap is dropped and the command is not held up") {
  auto world = agent_world{};
  auto said = world.run(world.reserve(), "head -c 100 /dev/zero | tr '\\0' x; echo done >&2; exit 3", {{"maxOutputBytes", 10}});
  CHECK_EQ(said.out, std::string(10, 'x'));
  CHECK(said.last["stdoutTruncated"] == true);
  CHECK(said.last["stderrTruncated"] == false);
  CHECK(said.last["exitCode"] == 3);
}

SCENARIO("a host that does not read text is given up before it costs the guest's memory, and the command goes on") {
  auto world = agent_world{};
  auto id = world.reserve();
  auto body = json{{"executionId", id}, {"command", "/bin/sh"}, {"args", {"-c", "head -c 80000000 /dev/zero | tr '\\0' x; echo x > ran"}}};
  auto client = world.open("execute", body); // and not a byte of it is read
  CHECK(world.reaches(id, "terminal"));
  CHECK_EQ(content_of(world.workspace() / "ran"), "x\n");
  CHECK_EQ(world.cancel(id)["state"].get<std::string>(), "completed");
  auto said = listen_to(client);
  CHECK(said.ended);
  CHECK(!said.terminated);
  CHECK(said.out.size() < 70'000'000);
}

// [G 65] no such program
SCENARIO("a program that does not exist is one error event") {
  auto world = agent_world{};
  auto id = world.reserve();
  auto client = world.open("execute", json{{"executionId", id}, {"command", "no-such-program"}});
  auto said = listen_to(client);
  CHECK_EQ(said.last.dump(), R"({"error":"spawn no-such-program ENOENT","type":"error"})");
  CHECK(said.terminated);
  auto end = world.cancel(id);
  CHECK_EQ(end["state"].get<std::string>(), "failed");
  CHECK(end["started"] == true);
}

SCENARIO("a program is found along the PATH that the request gives") {
  auto world = agent_world{};
  fs::create_directories(world.workspace() / "bin");
  put(world.workspace() / "bin/tool", "echo from a script without an interpreter line\n");
  fs::permissions(world.workspace() / "bin/tool", fs::perms{0755});
  auto client = world.open("execute", json{{"command", "tool"}, {"env", {{"PATH", (world.workspace() / "bin").string() + ":/bin"}}}});
  CHECK_EQ(listen_to(client).out, "from a script without an interpreter line\n");
}

// [G 66] a lost connection
SCENARIO("a command survives its connection") {
  auto world = agent_world{};
  auto id = world.reserve();
  {
    auto client = world.start(id, "echo up; while [ ! -e go ]; do sleep 0.01; done; echo x > ran; exit 4");
    client.event();
  }
  put(world.workspace() / "go", "");
  REQUIRE(world.reaches(id, "terminal"));
  CHECK_EQ(content_of(world.workspace() / "ran"), "x\n");
  auto end = world.cancel(id);
  CHECK_EQ(end["state"].get<std::string>(), "completed");
  CHECK(end["result"]["exitCode"] == 4);
}

// [G 67] the scrubbed environment
SCENARIO("a command sees neither the token nor any variable of the agent") {
  auto world = agent_world{};
  auto said = world.run(world.reserve(), "env");
  CHECK(said.out.find("NAMZU_") == std::string::npos);
  CHECK(said.out.find(token) == std::string::npos);
  CHECK(said.out.find("HOME=/home/somebody\n") != std::string::npos);
}

// [G 68] the overlay wins
SCENARIO("the environment of the request may name anything") {
  auto world = agent_world{};
  auto said = world.run(world.reserve(), "env", {{"env", {{"NAMZU_AGENT_X", "1"}, {"HOME", "/h"}}}});
  CHECK(said.out.find("NAMZU_AGENT_X=1\n") != std::string::npos);
  CHECK(said.out.find("HOME=/h\n") != std::string::npos);
}

SCENARIO("a command has a session of its own, no descriptor of the agent and default signals") {
  auto world = agent_world{};
  auto said = world.run(world.reserve(), "echo $$; ps -o pgid=,sid= -p $$; ls /proc/$$/fd; grep -E 'Sig(Blk|Ign)' /proc/self/status");
  auto in = std::istringstream{said.out};
  auto pid = 0;
  auto group = 0;
  auto session = 0;
  in >> pid >> group >> session;
  CHECK_EQ(group, pid);
  CHECK_EQ(session, pid);
  auto fds = std::vector<std::string>{};
  auto word = std::string{};
  while (in >> word && word != "SigBlk:")
    fds.push_back(word);
  CHECK((fds == std::vector<std::string>{"0", "1", "2"}));
  auto blocked = std::string{};
  auto ignored = std::string{};
  in >> blocked >> word >> ignored;
  CHECK_EQ(blocked, "0000000000000000");
  CHECK_EQ(ignored, "0000000000000000");
}

// [G 69] survivors
SCENARIO("a group that outlives its leader severs the connection and fences the guest") {
  auto world = agent_world{};
  auto id = world.reserve();
  auto said = world.run(id, "sleep 5 >/dev/null 2>&1 & echo $!; exit 0");
  CHECK(said.last.is_discarded());
  CHECK(!said.terminated);
  CHECK(said.ended);
  CHECK(world.ask("healthz")["retiring"] == true);
  auto survivor = std::stoi(said.out);
  CHECK(alive(survivor)); // it was not signalled
  ::kill(survivor, SIGKILL);
  CHECK(world.log().find("retiring: ") == 0);
}

// [G 70] a child that is waited for
SCENARIO("a command that waits for its children ends normally") {
  auto world = agent_world{};
  auto said = world.run(world.reserve(), "sleep 0.1 & wait");
  CHECK(said.last["exitCode"] == 0);
  CHECK(said.terminated);
  CHECK(world.ask("healthz")["ok"] == true);
}

SCENARIO("a child in the background that keeps a pipe keeps the execution") {
  auto world = agent_world{};
  auto id = world.reserve();
  auto client = world.start(id, "(while [ ! -e go ]; do sleep 0.01; done; echo late) & exit 0");
  REQUIRE(world.reaches(id, "exited"));
  put(world.workspace() / "go", "");
  auto said = listen_to(client);
  CHECK_EQ(said.out, "late\n");
  CHECK(said.last["exitCode"] == 0);
}

// [G 71] retention needs an id
SCENARIO("output is retained under an id only") {
  auto world = agent_world{};
  auto client = world.open("execute", json{{"command", "true"}, {"retainOutput", true}});
  auto said = listen_to(client);
  CHECK_EQ(error_of(said.last), "retain_requires_execution_id");
  CHECK(said.terminated);
}

// [G 74] another session
SCENARIO("a program that left for its own session is not signalled") {
  auto world = agent_world{};
  auto id = world.reserve();
  auto client = world.start(id, "setsid sh -c 'echo $$; exec sleep 30 >/dev/null 2>&1' & wait");
  auto pid = std::stoi(client.event()["data"].get<std::string>());
  auto end = world.cancel(id);
  CHECK_EQ(end["state"].get<std::string>(), "cancelled");
  CHECK(alive(pid));
  ::kill(pid, SIGKILL);
}

// -- cancel ------------------------------------------------------------------------------------------------------------

// [G 75] before the start
SCENARIO("a cancelled reservation never runs") {
  auto world = agent_world{};
  auto id = world.reserve();
  auto end = world.cancel(id);
  CHECK_EQ(end["state"].get<std::string>(), "cancelled");
  CHECK(end["started"] == false);
  CHECK(end["result"]["exitCode"] == 1);
  CHECK(end["result"]["timedOut"] == false);
  CHECK_EQ(error_of(world.run(id, "echo x > ran").last), "execution_not_reserved: terminal");
  CHECK(!fs::exists(world.workspace() / "ran"));
}

// [G 76] a running command
SCENARIO("a cancellation is acknowledged once the process is gone") {
  auto world = agent_world{};
  auto id = world.reserve();
  auto client = world.start(id, "echo $$; exec sleep 30");
  auto pid = std::stoi(client.event()["data"].get<std::string>());
  auto end = world.cancel(id);
  CHECK(!alive(pid));
  CHECK_EQ(end["state"].get<std::string>(), "cancelled");
  CHECK(end["started"] == true);
  CHECK_EQ(end["result"]["signal"].get<std::string>(), "SIGTERM");
  auto said = listen_to(client);
  CHECK_EQ(said.last["signal"].get<std::string>(), "SIGTERM");
  CHECK(said.last["exitCode"] == -1);
  CHECK(said.terminated);
}

// [G 77] two at once
SCENARIO("two cancellations share one termination") {
  auto world = agent_world{};
  auto id = world.reserve();
  // Each SIGTERM that arrives is counted; the command ends only after the grace.
  auto client = world.start(id, "trap 'echo x >> terms' TERM; echo up; while :; do sleep 0.01; done");
  client.event();
  auto a = world.open("cancel-execution", json{{"executionId", id}});
  auto b = world.open("cancel-execution", json{{"executionId", id}});
  auto one = a.rest();
  CHECK(one.find("\"state\":\"cancelled\"") != std::string::npos);
  CHECK_EQ(b.rest(), one);
  CHECK_EQ(content_of(world.workspace() / "terms"), "x\n");
}

// [G 78] after the end
SCENARIO("cancelling what has completed reports the truth, each time") {
  auto world = agent_world{};
  auto id = world.reserve();
  world.run(id, "exit 5");
  auto end = world.cancel(id);
  CHECK_EQ(end["state"].get<std::string>(), "completed");
  CHECK(end["result"]["exitCode"] == 5);
  CHECK(world.cancel(id) == end);
}

// [G 79] an unknown id
SCENARIO("an unknown execution is answered with the boot id") {
  auto world = agent_world{};
  auto reply = world.cancel(named);
  CHECK_EQ(error_of(reply), "unknown_execution");
  CHECK_EQ(reply["guestBootId"].get<std::string>().size(), 36u);
}

// [G 80] a malformed id
SCENARIO("a malformed execution id is answered without it") {
  auto world = agent_world{};
  CHECK_EQ(world.cancel("exec_123").dump(), R"({"error":"invalid_execution_id","ok":false})");
}

// [G 81] cancelling while fenced
SCENARIO("a fenced guest still cancels") {
  auto world = agent_world{};
  auto id = world.reserve();
  auto client = world.start(id, "echo up; exec sleep 30");
  client.event();
  world.fence();
  REQUIRE(world.ask("healthz")["retiring"] == true);
  CHECK_EQ(world.cancel(id)["state"].get<std::string>(), "cancelled");
}

// [G 82] [G 84] a member outlives the leader
SCENARIO("a leader that goes before its group leaves the cancellation unconfirmed") {
  auto world = agent_world{{{"NAMZU_AGENT_CANCEL_GRACE_MS", "100"}, {"NAMZU_AGENT_CANCEL_CONFIRM_TIMEOUT_MS", "400"}}};
  auto id = world.reserve();
  auto client = world.start(id, "sh -c \"trap '' TERM; echo \\$\\$; while :; do sleep 1; done\" & trap 'exit 0' TERM; wait");
  auto member = std::stoi(client.event()["data"].get<std::string>());
  auto reply = world.cancel(id);
  CHECK_EQ(error_of(reply), "cancellation_unconfirmed");
  CHECK(!reply["message"].get<std::string>().empty());
  CHECK_EQ(reply["guestBootId"].get<std::string>().size(), 36u);
  CHECK(world.ask("healthz")["retiring"] == true);
  CHECK(alive(member)); // no SIGKILL to a group whose number may be another's
  ::kill(member, SIGKILL);
}

// [G 83] no grace
SCENARIO("without a grace SIGKILL follows at once") {
  auto world = agent_world{{{"NAMZU_AGENT_CANCEL_GRACE_MS", "0"}}};
  auto id = world.reserve();
  auto client = world.start(id, "trap 'sleep 0.1; exit 0' TERM; echo up; while :; do sleep 0.01; done");
  client.event();
  CHECK_EQ(world.cancel(id)["result"]["signal"].get<std::string>(), "SIGKILL");
}

// [G 85] while the directory is made
SCENARIO("a cancellation during the start wins") {
  auto world = agent_world{};
  auto id = world.reserve();
  world.work.holding = true;
  auto client = world.start(id, "echo x > ran");
  auto making = world.work.take();
  world.work.holding = false;
  auto end = world.cancel(id);
  CHECK_EQ(end["state"].get<std::string>(), "cancelled");
  CHECK(end["started"] == false);
  making();
  auto said = listen_to(client);
  CHECK_EQ(error_of(said.last), "execution_cancelled");
  CHECK(said.terminated);
  CHECK(!fs::exists(world.workspace() / "ran"));
}

SCENARIO("a cancellation that meets the end stays consistent") {
  auto world = agent_world{};
  for (auto i = 0; i < 10; ++i) {
    auto id = world.reserve();
    auto client = world.start(id, "echo up");
    client.event();
    auto end = world.cancel(id);
    auto state = end["state"].get<std::string>();
    CHECK((state == "completed" || state == "cancelled"));
    CHECK(world.cancel(id) == end);
  }
}
