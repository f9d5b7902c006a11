#define CAF_SUITE agent_terminal

#include "base/base64.hpp"
#include "tests/guest/agent_world.hpp"
#include "tests/guest/memory.hpp"
#include "tests/guest/other_end.hpp"
#include "tests/guest/terminal_client.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

json shell(const std::string& line, json extra = json::object()) {
  auto body = json{{"command", "/bin/sh"}, {"args", {"-c", line}}, {"cols", 80}, {"rows", 24}};
  body.update(extra);
  return body;
}

/// The process group that has the terminal of `pid`.
pid_t foreground_of(pid_t pid) {
  auto text = content_of("/proc/" + std::to_string(pid) + "/stat");
  auto rest = std::stringstream{text.substr(std::min(text.rfind(") ") + 2, text.size()))};
  auto state = std::string{};
  auto parent = 0;
  auto group = 0;
  auto session = 0;
  auto terminal = 0;
  auto foreground = 0;
  rest >> state >> parent >> group >> session >> terminal >> foreground;
  return foreground;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

// -- size and environment ----------------------------------------------------------------------------------------------

// [G 144] the size inside
SCENARIO("a program finds the size of its terminal from its first moment on") {
  auto world = agent_world{};
  auto said = terminal_client{world.open("terminal", shell("stty size"))}.to_end();
  CHECK_EQ(said.first["type"].get<std::string>(), "ready");
  CHECK_EQ(said.text, "24 80\r\n");
  CHECK_EQ(said.last.dump(), R"({"exitCode":0,"type":"exit"})");
}

// [G 145] a resize
SCENARIO("a resize signals the program and is what it sees") {
  auto world = agent_world{};
  auto client = terminal_client{world.open("terminal", shell("trap 'stty size; exit 0' WINCH; echo up; while :; do sleep 0.02; done"))};
  REQUIRE(client.until("up\r\n"));
  client.send({{"type", "resize"}, {"cols", 100}, {"rows", 30}});
  auto said = client.to_end();
  CHECK_EQ(said.text, "30 100\r\n");
  CHECK(said.last["exitCode"] == 0);
}

// [G 146] a size out of bounds
SCENARIO("a terminal without a size that may be is refused, and nothing is started") {
  auto world = agent_world{};
  auto before = children();
  for (auto bad : {0, 1001}) {
    auto client = world.open("terminal", shell("echo x > ran", {{"cols", bad}}));
    CHECK_EQ(client.event().dump(), R"({"error":"cols must be an integer in [1, 1000]","type":"error"})");
    CHECK_EQ(client.rest(), ""); // no terminator
  }
  auto rows = world.open("terminal", shell("echo x > ran", {{"rows", 0}}));
  CHECK_EQ(rows.event()["error"].get<std::string>(), "rows must be an integer in [1, 1000]");
  CHECK(!fs::exists(world.workspace() / "ran"));
  CHECK(world.on_wire([] { return children(); }) == before);
}

// [G 147] an invalid resize
SCENARIO("a resize to what cannot be is ignored") {
  auto world = agent_world{};
  auto client = terminal_client{world.open("terminal", shell("read x; stty size"))};
  for (const auto& bad :
       {json{{"cols", 0}, {"rows", 5}}, json{{"cols", 5}}, json{{"cols", 5}, {"rows", 1001}}, json{{"cols", "x"}, {"rows", 5}}}) {
    auto frame = bad;
    frame["type"] = "resize";
    client.send(frame);
  }
  client.type("\n");
  auto said = client.to_end();
  CHECK(contains(said.text, "24 80\r\n"));
  CHECK(said.last["exitCode"] == 0);
}

// [G 148] TERM
SCENARIO("TERM has a default that the request may override") {
  auto world = agent_world{{{"TERM", "agents-own"}}};
  CHECK_EQ((terminal_client{world.open("terminal", shell("echo $TERM"))}.to_end().text), "xterm-256color\r\n");
  CHECK_EQ((terminal_client{world.open("terminal", shell("echo $TERM", {{"env", {{"TERM", "dumb"}}}}))}.to_end().text), "dumb\r\n");
}

SCENARIO("a program in a terminal sees nothing of the agent's configuration") {
  auto world = agent_world{};
  auto said = terminal_client{world.open("terminal", shell("env", {{"env", {{"OWN", "1"}}}}))}.to_end();
  CHECK(contains(said.text, "OWN=1\r\n"));
  CHECK(contains(said.text, "HOME=/home/somebody\r\n"));
  CHECK(!contains(said.text, "NAMZU"));
  CHECK(!contains(said.text, token));
}

// -- the program -------------------------------------------------------------------------------------------------------

SCENARIO("the program leads a session whose controlling terminal it has") {
  auto world = agent_world{};
  auto said = terminal_client{world.open("terminal", shell("echo to-tty > /dev/tty; test -t 0 -a -t 1 -a -t 2 && echo all; "
                                                           "set -- $(cat /proc/$$/stat); echo $1 $5 $6 $8; ls /proc/self/fd | wc -l"))}
                .to_end();
  CHECK(contains(said.text, "to-tty\r\nall\r\n"));
  auto line = said.text.substr(said.text.find("all\r\n") + 5);
  auto words = std::stringstream{line};
  auto pid = 0, group = 0, session = 0, foreground = 0, descriptors = 0;
  words >> pid >> group >> session >> foreground >> descriptors;
  CHECK_EQ(pid, group);
  CHECK_EQ(pid, session);
  CHECK_EQ(pid, foreground);
  CHECK_LE(descriptors, 4); // the three, and the one that lists them
}

SCENARIO("a shell in a terminal has job control") {
  auto world = agent_world{};
  auto bash = fs::exists("/bin/bash");
  auto body = json{{"command", bash ? "/bin/bash" : "/bin/sh"},
                   {"args", bash ? json{"--norc", "-i"} : json{"-i"}},
                   {"env", {{"PS1", "$ "}, {"TERM", "dumb"}}},
                   {"cols", 80},
                   {"rows", 24}};
  auto client = terminal_client{world.open("terminal", body)};
  client.type("echo $$ > pid\n");
  REQUIRE(eventually([&] { return content_of(world.workspace() / "pid").ends_with("\n"); }));
  auto shell_pid = std::stoi(content_of(world.workspace() / "pid"));
  client.type("sleep 1000\n");
  REQUIRE(eventually([&] { return foreground_of(shell_pid) != shell_pid; }));
  auto job = foreground_of(shell_pid);
  REQUIRE(eventually([&] { return content_of("/proc/" + std::to_string(job) + "/comm") == "sleep\n"; }));
  client.type("\x1a"); // stops what is in the foreground
  CHECK(eventually([&] { return foreground_of(shell_pid) == shell_pid; }));
  CHECK(runs(job));
  client.type("kill -KILL %1\n");
  CHECK(eventually([&] { return !runs(job); }));
  client.type("exit 3\nexit 3\n"); // a shell that has not heard of the end of the job yet wants to be told twice
  CHECK(client.to_end().last["exitCode"] == 3);
}

// [G 151] the exit code
SCENARIO("the end of the program ends the stream, without a terminator") {
  auto world = agent_world{};
  auto client = terminal_client{world.open("terminal", shell("echo last; exit 5"))};
  auto said = client.to_end();
  CHECK_EQ(said.text, "last\r\n");
  CHECK_EQ(said.last.dump(), R"({"exitCode":5,"type":"exit"})");
  CHECK(!said.terminated);
}

SCENARIO("a death by a signal is told with its number") {
  auto world = agent_world{};
  auto said = terminal_client{world.open("terminal", shell("kill -KILL $$"))}.to_end();
  CHECK_EQ(said.last.dump(), R"({"exitCode":-1,"signal":9,"type":"exit"})");
}

SCENARIO("all that a program printed comes before its exit") {
  auto world = agent_world{};
  for (auto i = 0; i < 20; ++i) {
    auto said = terminal_client{world.open("terminal", shell("head -c 200000 /dev/zero | tr '\\0' x; echo end"))}.to_end();
    CHECK_EQ(said.text.size(), 200'005U);
    CHECK(said.text.ends_with("xend\r\n"));
  }
}

SCENARIO("a program that cannot be started is an error without a terminator") {
  auto world = agent_world{};
  auto client = world.open("terminal", json{{"command", "no-such-program"}, {"cols", 80}, {"rows", 24}});
  CHECK_EQ(client.event().dump(), R"({"error":"spawn no-such-program ENOENT","type":"error"})");
  CHECK_EQ(client.rest(), "");
  auto nul = world.open("terminal", shell(std::string{"a\0b", 3}));
  CHECK_EQ(nul.event()["type"].get<std::string>(), "error");
  put(world.workspace() / "file", "");
  auto directory = world.open("terminal", shell("echo", {{"cwd", "file/below"}}));
  CHECK(contains(directory.event()["error"].get<std::string>(), "mkdir"));
  CHECK_EQ(directory.rest(), "");
  auto options = world.connect();
  options.send(guest::to_frame(R"({"op":"terminal","body":[],"token":")" + std::string{token} + R"("})"));
  CHECK_EQ(options.event()["error"].get<std::string>(), "missing_terminal_options");
}

// -- signals and the end -----------------------------------------------------------------------------------------------

// [G 149] the connection closes
SCENARIO("a terminal that loses its connection is ended with its background jobs") {
  auto world = agent_world{};
  // The job has a process group of its own and ignores the hang-up.
  auto client =
    terminal_client{world.open("terminal", shell("set -m; (trap '' HUP TERM; sleep 1000; sleep 1000) & echo $! $$ .; sleep 1000"))};
  auto text = client.until(".\r\n").value_or("");
  auto words = std::stringstream{text};
  auto job = 0, leader = 0;
  words >> job >> leader;
  REQUIRE(job > 1);
  REQUIRE(runs(job));
  client.close();
  CHECK(eventually([&] { return !runs(job) && !runs(leader); }));
  CHECK(eventually([&] { return world.on_wire([leader] { return !is_child(leader); }); })); // and reaped
}

// [G 150] a signal that is not allowed
SCENARIO("a kill with a signal that may not be sent is a SIGTERM") {
  auto world = agent_world{};
  auto client = terminal_client{world.open("terminal", shell("echo up; exec sleep 1000"))};
  REQUIRE(client.until("up\r\n"));
  client.send({{"type", "kill"}, {"signal", "SIGSTOP"}});
  CHECK_EQ(client.to_end().last.dump(), R"({"exitCode":-1,"signal":15,"type":"exit"})");
}

SCENARIO("a kill reaches the background jobs of the terminal") {
  auto world = agent_world{};
  auto client = terminal_client{
    world.open("terminal", shell("set -m; sleep 1000 & echo $! .; exec sleep 1000"))}; // no shell that could end on its own in between
  auto job = std::stoi(client.until(".\r\n").value_or("0"));
  REQUIRE(job > 1);
  client.send({{"type", "kill"}, {"signal", "SIGKILL"}});
  CHECK_EQ(client.to_end().last.dump(), R"({"exitCode":-1,"signal":9,"type":"exit"})");
  CHECK(eventually([&] { return !runs(job); }));
}

SCENARIO("a job that outlives the program is left alone when the program had ended first") {
  auto world = agent_world{};
  auto said =
    terminal_client{
      world.open("terminal", shell("set -m; (trap '' HUP; sleep 1000) >/dev/null 2>&1 </dev/null & echo $!; sleep 0.1; exit 0"))}
      .to_end();
  auto job = std::stoi(said.text);
  CHECK(said.last["exitCode"] == 0);
  CHECK_EQ(world.ask("healthz")["ok"].dump(), "true");
  CHECK(runs(job));
  ::kill(-job, SIGKILL);
}

SCENARIO("a program that nobody has a terminal of still ends with an exit") {
  auto world = agent_world{};
  auto said = terminal_client{world.open("terminal", shell("exec </dev/null >/dev/null 2>&1; sleep 0.3; exit 4"))}.to_end();
  CHECK(said.last["exitCode"] == 4);
}

// -- order and back-pressure -------------------------------------------------------------------------------------------

// [G 153] input before ready
SCENARIO("what arrives before the program is applied after ready, in order") {
  auto world = agent_world{};
  world.work.holding = true;
  auto client = terminal_client{world.open("terminal", shell("stty -echo; read a; read b; stty size; echo $a-$b"))};
  client.type("one\n");
  client.send({{"type", "resize"}, {"cols", 90}, {"rows", 20}});
  client.type("two\n");
  auto job = world.work.take();
  world.ask("healthz"); // the frames of the terminal have been read by now, or will be in order
  job();
  auto said = client.to_end();
  CHECK_EQ(said.first["type"].get<std::string>(), "ready");
  CHECK(contains(said.text, "20 90\r\none-two\r\n"));
}

// [G 154] a flood into a host that does not read
SCENARIO("a terminal is not read while its host does not keep up") {
  auto world = agent_world{};
  auto client = terminal_client{agent_world::connect_to(world.port(), 65536)};
  client.raw().send(world.request("terminal", shell("echo $$ .; exec yes 0123456789abcdef0123456789abcdef")));
  auto pid = std::stoi(client.until(".\r\n").value_or("0"));
  REQUIRE(pid > 1);
  // The program comes to rest: it writes no more, while the agent serves others.
  CHECK(comes_to_rest([&] { return bytes_written(pid); }, [&] { world.ask("healthz"); }));
  auto before = bytes_written(pid);
  CHECK_LT(before, 64U << 20U);
  // And it goes on once the host reads.
  for (auto i = 0; i < 400; ++i)
    client.raw().frame();
  CHECK(eventually([&] { return bytes_written(pid) > before; }));
  client.close();
  CHECK(eventually([&] { return !runs(pid); }));
}

SCENARIO("a program that does not read holds its host up, and loses no byte") {
  auto world = agent_world{};
  auto client = terminal_client{
    world.open("terminal", shell("stty raw -echo; echo up; while [ ! -e go ]; do sleep 0.01; done; head -c 16777216 | md5sum"))};
  REQUIRE(client.until("up"));
  auto bytes = std::string(16 << 20, 'x');
  for (auto i = std::size_t{0}; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>('a' + i % 23);
  auto sent = std::atomic<std::size_t>{0};
  auto sender = std::thread{[&] {
    for (auto i = std::size_t{0}; i < bytes.size(); i += 16384, sent = i)
      client.type(bytes.substr(i, 16384));
  }};
  // It comes to rest before all is sent.
  CHECK(comes_to_rest([&] { return sent.load(); }, [&] { world.ask("healthz"); }));
  CHECK_LT(sent.load(), bytes.size());
  put(world.workspace() / "go", "");
  sender.join();
  put(world.workspace() / "all", bytes);
  auto sum = world.run(world.reserve(), "md5sum < all").out;
  CHECK(contains(client.to_end().text, sum.substr(0, 32)));
}

SCENARIO("a host that leaves while its input is held up takes the program with it") {
  auto world = agent_world{};
  auto client = terminal_client{world.open("terminal", shell("stty raw -echo; echo $$ .; exec sleep 1000"))};
  auto pid = std::stoi(client.until(".\n").value_or("0"));
  REQUIRE(pid > 1);
  auto end = other_end(client.raw());
  REQUIRE(end >= 0);
  // One piece more whenever the guest has read all, until it leaves one unread: so the end of the host waits behind little.
  auto typed = 0;
  CHECK(comes_to_rest([&] { return typed; },
                      [&] {
                        if (all_read(client.raw(), end)) {
                          client.type(std::string(16384, 'x'));
                          ++typed;
                        }
                        world.ask("healthz");
                      }));
  client.close();
  CHECK(eventually([&] { return !runs(pid); }));
}

// -- preparation -------------------------------------------------------------------------------------------------------

// [G 285] the connection closes during preparation
SCENARIO("a terminal whose host leaves while it is prepared starts nothing") {
  auto world = agent_world{};
  auto before = children();
  for (auto persistent : {false, true}) {
    world.work.holding = true;
    auto client = world.open("terminal", shell("echo x > ran; sleep 1000", {{"persistent", persistent}, {"sessionId", "s"}}));
    auto job = world.work.take();
    client.close();
    for (auto i = 0; i < 3; ++i) // that it left was there before these were
      world.ask("healthz");
    job();
    world.work.holding = false;
    // What the job has led to has had its turn before this is answered.
    CHECK_EQ(world.ask("list-sessions")["sessions"].size(), 0U);
    CHECK(!fs::exists(world.workspace() / "ran"));
    CHECK(world.on_wire([] { return children(); }) == before);
  }
  CHECK(world.ask("start-detached", json{{"sessionId", "s"}, {"command", "true"}})["ok"] == true); // the id is free
}

// -- limits and leaks --------------------------------------------------------------------------------------------------

// [G 32] an open terminal
SCENARIO("an authenticated terminal outlives the deadline of those that are not") {
  auto world = agent_world{{{"NAMZU_AGENT_PREAUTH_DEADLINE_MS", "100"}, {"NAMZU_AGENT_PREAUTH_IDLE_TIMEOUT_MS", "100"}}};
  auto client = terminal_client{world.open("terminal", shell("echo up; read x; echo got $x"))};
  REQUIRE(client.until("up\r\n"));
  auto silent = world.connect();
  CHECK(silent.closed_silently()); // it came later, and its time is over
  client.type("it\n");
  CHECK(contains(client.to_end().text, "got it\r\n"));
}

SCENARIO("a quiesce that came during the preparation lets nothing start") {
  auto world = agent_world{};
  world.work.holding = true;
  auto client = world.open("terminal", shell("echo x > ran"));
  auto job = world.work.take();
  world.work.holding = false;
  CHECK(world.ask("quiesce", json{{"graceMs", 50}})["ok"] == true);
  job();
  CHECK_EQ(client.event()["error"].get<std::string>(), "quiesce_in_progress");
  CHECK(!fs::exists(world.workspace() / "ran"));
}

SCENARIO("bytes pass both ways as they are where both sides agree") {
  auto world = agent_world{};
  auto bytes = std::string{};
  for (auto i = 0; i < 256; ++i)
    bytes += static_cast<char>(i);
  auto client = world.open("terminal", shell("stty raw -echo; printf 'up\\377'; head -c 256; printf '\\200'", {{"encoding", "base64"}}));
  CHECK_EQ(client.event().value("encoding", ""), "base64");
  auto got = std::string{};
  auto more = [&] {
    auto event = client.event();
    if (event["type"] != "data")
      return false;
    got += from_base64(event["data"].get<std::string>()).value_or("(not base64)");
    return true;
  };
  while (got.size() < 3)
    REQUIRE(more());
  client.send(guest::to_frame(R"({"type":"input","data":"*"})")); // ignored
  client.send(guest::to_frame(json{{"type", "input"}, {"data", to_base64(bytes)}}.dump()));
  while (more())
    ;
  CHECK_EQ(to_base64(got), to_base64("up\xff" + bytes + "\x80"));
}

SCENARIO("a thousand terminals leave nothing behind") {
  auto world = agent_world{};
  // Twenty at once: half of them leave, the other half see the end.
  auto some = [&] {
    auto all = std::vector<terminal_client>{};
    for (auto i = 0; i < 20; ++i)
      all.emplace_back(world.open("terminal", shell(i % 2 == 0 ? "exec sleep 1000" : "exit 0")));
    for (auto i = 0U; i < all.size(); ++i)
      if (i % 2 == 0)
        CHECK_EQ(all[i].raw().event()["type"].get<std::string>(), "ready");
      else
        CHECK(all[i].to_end().last["exitCode"] == 0);
  };
  some();
  auto settled = [&] {
    return world.on_wire([&] {
      world.agent->reap();
      return children().empty();
    });
  };
  REQUIRE(eventually(settled));
  auto descriptors = std::size_t{0}; // the connections of the agent are in this process as well
  REQUIRE(comes_to_rest([] { return open_descriptors(); }, [] {}));
  descriptors = open_descriptors();
  auto memory = resident_bytes();
  for (auto i = 0; i < 50; ++i)
    some();
  REQUIRE(eventually(settled));
  CHECK(eventually([&] { return open_descriptors() <= descriptors; }));
  if (memory_is_measured)
    CHECK_LT(resident_bytes(), memory + (4 << 20));
}
