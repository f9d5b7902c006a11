#define CAF_SUITE agent_shutdown

// The end of the agent on SIGTERM ([G] 14).

#include "tests/guest/guest_program.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <sys/ptrace.h>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

bool refused(std::uint16_t port) {
  try {
    agent_world::connect_to(port);
    return false;
  } catch (const std::runtime_error&) {
    return true;
  }
}

bool wait_for(raw_client& client, const std::string& output) {
  for (auto event = client.event(); !event.is_discarded(); event = client.event())
    if (event.value("data", "") == output)
      return true;
  return false;
}

/// A call of the kernel that returns when the test says so.
class held_flush {
public:
  int operator()() {
    auto lock = std::unique_lock{mutex_};
    begun_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return gone_; });
    return 0;
  }
  bool begun() {
    auto lock = std::unique_lock{mutex_};
    return changed_.wait_for(lock, 20s, [this] { return begun_; });
  }
  void let_go() {
    auto lock = std::lock_guard{mutex_};
    gone_ = true;
    changed_.notify_all();
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool begun_ = false;
  bool gone_ = false;
};

} // namespace

// [G 211] the whole of it
SCENARIO("SIGTERM in a pod: no new connection, work and escapees stopped, then the flush, then exit 0") {
  auto directory = temp_directory{};
  auto flushed = (directory.path() / "flushed").string();
  auto pids = (directory.path() / "pids").string();
  // The flush command tells which of the processes it still finds.
  auto command = "NAMZU_AGENT_FLUSH_COMMAND=for p in $(cat " + pids + "); do grep -s State: /proc/$p/status | grep -v Z; done > " + flushed
                 + "; echo flushed >> " + flushed + "; while [ ! -e " + directory.path().string() + "/go ]; do sleep 0.01; done";
  auto pod = guest_program{guest_environment(directory.path(), {"NAMZU_AGENT_QUIESCE_SCOPE=", "NAMZU_AGENT_QUIESCE_GRACE_MS=200", command}),
                           in_a_pod()};
  auto port = pod.port();
  auto ready = agent_world::connect_to(port);
  auto client = pod.open(port, "execute",
                         json{{"command", "/bin/sh"},
                              {"args",
                               {"-c", "(setsid sh -c \"trap '' TERM; echo \\$\\$ >> pids; exec sleep 100\" >/dev/null 2>&1 &);"
                                      "while [ ! -s pids ]; do sleep 0.01; done; echo $$ >> pids; echo up; exec sleep 101"}}});
  REQUIRE(wait_for(client, "up\n"));
  ::kill(child_of(pod.pid), SIGTERM); // the init hands it on
  auto said = listen_to(client);
  CHECK_EQ(said.last["signal"].get<std::string>(), "SIGTERM");
  CHECK(said.terminated);
  auto until = std::chrono::steady_clock::now() + 20s;
  while (content_of(flushed).find("flushed") == std::string::npos && std::chrono::steady_clock::now() < until) {
  }
  CHECK_EQ(content_of(flushed), "flushed\n"); // nothing was alive when it ran
  CHECK(refused(port));
  ready.send(agent_world::request("healthz")); // accepted before, served still
  CHECK(ready.event()["ok"] == true);
  put(directory.path() / "go", "");
  CHECK_EQ(pod.wait(), 0);
}

// [G 212] a process whose end cannot be seen
// The deadline is lowered from 15,000 to 1,500 ms. No process of the agent's uid is beyond SIGKILL, so this is one whose end
// stays invisible: a tracer, the test, keeps one of its threads a zombie, and so its leader never goes. The flush never
// returns either.
SCENARIO("SIGTERM with a process that will not go and a flush that will not end: exit 0 at the deadline") {
  auto directory = temp_directory{};
  auto guest =
    guest_program{guest_environment(directory.path(), {"NAMZU_AGENT_SHUTDOWN_DEADLINE_MS=1500", "NAMZU_AGENT_QUIESCE_GRACE_MS=100",
                                                       "NAMZU_AGENT_FLUSH_COMMAND=exec sleep 100"})};
  auto port = guest.port();
  // A program with two threads: another guest.
  auto inner =
    guest.open(port, "execute",
               json{{"command", PADDOCK_GUEST_PROGRAM}, {"env", {{"NAMZU_AGENT_UNIX_PATH", (directory.path() / "socket").string()}}}});
  auto until = std::chrono::steady_clock::now() + 20s;
  while (!fs::exists(directory.path() / "socket") && std::chrono::steady_clock::now() < until) {
  }
  auto pid = child_of(guest.pid);
  auto thread = pid_t{0};
  for (const auto& each : fs::directory_iterator{"/proc/" + std::to_string(pid) + "/task"})
    if (auto number = std::stoi(each.path().filename()); number != pid)
      thread = number;
  REQUIRE(thread != 0);
  REQUIRE_EQ(::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr), 0);
  auto begin = std::chrono::steady_clock::now();
  ::kill(guest.pid, SIGTERM);
  CHECK_EQ(guest.wait(), 0);
  auto took = std::chrono::steady_clock::now() - begin;
  CHECK(took >= 1'450ms);
  CHECK(took < 5s);
  CHECK(guest.said.find("pid " + std::to_string(pid) + " (paddock-guest) outlived SIGKILL") != std::string::npos);
  CHECK(alive(pid)); // a zombie by now, and not over
  auto status = 0;
  ::waitpid(thread, &status, __WALL);
}

// [G 214] a quiesce in flight
SCENARIO("a quiesce that is under way at SIGTERM leaves the gate up when it ends") {
  auto flush = held_flush{};
  auto world = agent_world{{}, {}, [&](const std::string&) { return flush(); }};
  auto id = world.reserve();
  auto early = world.connect();
  auto client = world.start(id, "trap 'echo term' TERM; echo up; while :; do sleep 0.01; done");
  REQUIRE(wait_for(client, "up\n"));
  auto quiesce = world.open("quiesce", json{{"graceMs", 700}});
  REQUIRE(wait_for(client, "term\n"));
  auto done = std::promise<void>{};
  world.on_wire([&] { world.agent->shut_down([&] { done.set_value(); }); });
  auto reply = quiesce.event();
  CHECK(reply["ok"] == true);
  REQUIRE(flush.begun()); // the agent has gone on to its flush
  early.send(world.request("execute", json{{"executionId", id}, {"command", "true"}}));
  CHECK_EQ(early.rest(), guest::to_frame(R"({"type":"error","error":"quiesce_in_progress"})") + std::string{guest::terminator});
  flush.let_go();
  CHECK(done.get_future().wait_for(20s) == std::future_status::ready);
}

SCENARIO("SIGTERM stops the survivors of a fenced guest, whose group is provably theirs") {
  auto directory = temp_directory{};
  auto guest = guest_program{guest_environment(directory.path(), {"NAMZU_AGENT_QUIESCE_GRACE_MS=200"})};
  auto port = guest.port();
  // The leader is reaped; its session holds a process from before that, and one from after it.
  auto said =
    guest.run(port, "(trap '' TERM; echo $$ > pid; (while [ ! -e go ]; do sleep 0.01; done; sleep 101 & echo $! > later; exec sleep 100)"
                    " & wait) >/dev/null 2>&1 & while [ ! -s pid ]; do sleep 0.01; done");
  CHECK(said.last.is_discarded()); // severed
  CHECK(guest.ask(port, "healthz")["retiring"] == true);
  put(directory.path() / "go", "");
  auto until = std::chrono::steady_clock::now() + 20s;
  while (content_of(directory.path() / "later").empty() && std::chrono::steady_clock::now() < until) {
  }
  auto later = std::stoi(content_of(directory.path() / "later"));
  CHECK(alive(later));
  ::kill(guest.pid, SIGTERM);
  CHECK_EQ(guest.wait(), 0);
  CHECK(ends(later));
  CHECK(guest.said.find("quiesce:") == std::string::npos);
}

SCENARIO("a flush that fails at SIGTERM is logged without what it printed, and the exit is 0") {
  auto directory = temp_directory{};
  auto guest = guest_program{guest_environment(directory.path(), {"NAMZU_AGENT_FLUSH_COMMAND=echo something private >&2; exit 6"})};
  guest.port();
  ::kill(guest.pid, SIGTERM);
  CHECK_EQ(guest.wait(), 0);
  CHECK(guest.said.find("flush_unconfirmed: the flush command exited with status 6\n") != std::string::npos);
  CHECK(guest.said.find("private") == std::string::npos);
}

SCENARIO("what ignores SIGTERM is killed at SIGTERM, and its host hears of it") {
  auto directory = temp_directory{};
  auto guest = guest_program{guest_environment(directory.path(), {"NAMZU_AGENT_QUIESCE_GRACE_MS=100"})};
  auto port = guest.port();
  auto client = guest.open(port, "execute", json{{"command", "/bin/sh"}, {"args", {"-c", "trap '' TERM; echo up; exec sleep 100"}}});
  REQUIRE(wait_for(client, "up\n"));
  ::kill(guest.pid, SIGTERM);
  auto said = listen_to(client);
  CHECK_EQ(said.last["signal"].get<std::string>(), "SIGKILL");
  CHECK(said.terminated);
  CHECK_EQ(guest.wait(), 0);
}
