#define CAF_SUITE agent_program

// The program itself, as a child process.

#include "tests/guest/guest_program.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::test;

namespace {

using program = guest_program;

std::vector<std::string> environment(const fs::path& workspace, std::vector<std::string> extra = {}) {
  return guest_environment(workspace, std::move(extra));
}

} // namespace

// [G 21] TCP without a credential
SCENARIO("the program does not listen on TCP without a credential") {
  auto guest = program{{"NAMZU_AGENT_TCP_PORT=0"}};
  CHECK_EQ(guest.wait(), 1);
  CHECK(guest.said.find("NAMZU_AGENT_BIND_TOKEN") != std::string::npos);
  CHECK(guest.said.find("NAMZU_AGENT_REQUIRE_TOKEN") != std::string::npos);
}

// [G 22] an empty token on a unix socket
SCENARIO("the program does not start with an empty token") {
  auto directory = temp_directory{};
  auto guest = program{{"NAMZU_AGENT_UNIX_PATH=" + (directory.path() / "s").string(), "NAMZU_AGENT_BIND_TOKEN="}};
  CHECK_EQ(guest.wait(), 1);
  CHECK(guest.said.find("NAMZU_AGENT_BIND_TOKEN") != std::string::npos);
  CHECK(fs::is_empty(directory.path()));
}

SCENARIO("the program runs a command and ends on SIGTERM") {
  auto directory = temp_directory{};
  auto guest = program{environment(directory.path())};
  auto port = guest.port();
  auto client = guest.open(port, "execute", json{{"command", "/bin/sh"}, {"args", {"-c", "pwd; exit 9"}}});
  auto said = listen_to(client);
  CHECK_EQ(said.out, directory.path().string() + "\n");
  CHECK(said.last["exitCode"] == 9);
  ::kill(guest.pid, SIGTERM);
  CHECK_EQ(guest.wait(), 0);
}

SCENARIO("SIGTERM stops what runs, tells its host and accepts nobody else") {
  auto directory = temp_directory{};
  auto guest = program{environment(directory.path())};
  auto port = guest.port();
  auto client = guest.open(port, "execute", json{{"command", "/bin/sh"}, {"args", {"-c", "echo $$; exec sleep 30"}}});
  auto pid = std::stoi(client.event()["data"].get<std::string>());
  ::kill(guest.pid, SIGTERM);
  auto said = listen_to(client);
  CHECK_EQ(said.last["signal"].get<std::string>(), "SIGTERM");
  CHECK(said.terminated);
  CHECK(!alive(pid));
  CHECK_EQ(guest.wait(), 0);
}

SCENARIO("an orphan of a command comes to the program and is reaped") {
  auto directory = temp_directory{};
  auto guest = program{environment(directory.path())};
  auto port = guest.port();
  auto client = guest.open(port, "execute",
                           json{{"command", "/bin/sh"},
                                {"args",
                                 {"-c", "setsid sh -c 'echo $$ > pid; while [ ! -e go ]; do sleep 0.01; done' >/dev/null 2>&1 &"
                                        "while [ ! -s pid ]; do sleep 0.01; done"}}});
  CHECK(listen_to(client).last["exitCode"] == 0);
  auto orphan = std::stoi(content_of(directory.path() / "pid"));
  auto status = content_of("/proc/" + std::to_string(orphan) + "/status");
  CHECK(status.find("PPid:\t" + std::to_string(guest.pid) + "\n") != std::string::npos);
  put(directory.path() / "go", "");
  auto until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (alive(orphan) && std::chrono::steady_clock::now() < until) {
    auto probe = guest.open(port, "healthz");
    probe.rest();
  }
  CHECK(!alive(orphan));
}

// [G 213] twice
SCENARIO("a second SIGTERM is logged and changes nothing") {
  auto directory = temp_directory{};
  auto guest = program{environment(directory.path(), {"NAMZU_AGENT_QUIESCE_GRACE_MS=300"})};
  auto port = guest.port();
  auto client = guest.open(port, "execute",
                           json{{"command", "/bin/sh"}, {"args", {"-c", "trap 'echo term' TERM; echo up; while :; do sleep 0.01; done"}}});
  client.event();
  auto begin = std::chrono::steady_clock::now();
  ::kill(guest.pid, SIGTERM);
  auto event = client.event();
  while (!event.is_discarded() && event.value("data", "") != "term\n")
    event = client.event();
  CHECK(!event.is_discarded()); // the first one is being carried out
  auto refused = false;
  try {
    agent_world::connect_to(port);
  } catch (const std::runtime_error&) {
    refused = true;
  }
  CHECK(refused);
  ::kill(guest.pid, SIGTERM);
  CHECK(guest.says("already under way"));
  auto said = listen_to(client);
  CHECK_EQ(said.last["signal"].get<std::string>(), "SIGKILL");
  CHECK_EQ(guest.wait(), 0);
  CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds{290});
}

// [G 36] the log after refusals
SCENARIO("no token is ever logged") {
  auto directory = temp_directory{};
  auto guest = program{environment(directory.path())};
  auto port = guest.port();
  for (auto* request : {R"({"op":"read-file","token":"presented-token"})", R"({"op":"presented-token"})", "nonsense presented-token"}) {
    auto client = agent_world::connect_to(port);
    client.send(guest::to_frame(request));
    client.rest();
  }
  auto big = agent_world::connect_to(port);
  big.send("00800001\n");
  big.rest();
  ::kill(guest.pid, SIGTERM);
  CHECK_EQ(guest.wait(), 0);
  CHECK(guest.said.find("presented-token") == std::string::npos);
  CHECK(guest.said.find(token) == std::string::npos);
}

// [G 38] no mechanism
SCENARIO("a guest without the flush mechanism does not advertise it and says so") {
  auto directory = temp_directory{};
  // A mount namespace without any program in /usr/bin and /bin: the flush command has no shell to run it.
  auto words = std::vector<std::string>{"unshare", "--mount"};
  if (::getuid() != 0)
    words.push_back("--map-root-user");
  words.insert(words.end(), {"/bin/sh", "-c", "mount -t tmpfs none \"$(readlink -f /bin)\" && exec \"$0\""});
  auto guest = program{environment(directory.path(), {"NAMZU_AGENT_FLUSH_COMMAND=true"}), words};
  auto port = guest.port();
  auto features = guest.ask(port, "healthz")["features"];
  CHECK(std::find(features.begin(), features.end(), "flush") == features.end());
  CHECK(std::find(features.begin(), features.end(), "quiesce") != features.end());
  auto reply = guest.ask(port, "flush");
  CHECK(reply["ok"] == false);
  CHECK_EQ(reply["error"].get<std::string>(), "flush_unsupported");
  CHECK(!reply["message"].get<std::string>().empty());
}

SCENARIO("SIGUSR1 runs the reseed hook and listens again at once, on the same port") {
  auto directory = temp_directory{};
  auto hook = "NAMZU_AGENT_RESEED_HOOK=env > " + (directory.path() / "env").string() + "; echo run >> "
              + (directory.path() / "runs").string() + "; exit 3";
  auto guest = program{environment(directory.path(), {hook, "VISIBLE=yes"})};
  auto port = guest.port();
  CHECK_EQ(content_of(directory.path() / "runs"), "run\n"); // before it listens
  CHECK(content_of(directory.path() / "env").find("VISIBLE=yes") != std::string::npos);
  CHECK(content_of(directory.path() / "env").find("NAMZU_") == std::string::npos);
  auto client =
    guest.open(port, "execute", json{{"command", "/bin/sh"}, {"args", {"-c", "echo up; read x; echo got $x"}}, {"stdinStream", true}});
  CHECK_EQ(client.event()["data"].get<std::string>(), "up\n");
  ::kill(guest.pid, SIGUSR1);
  REQUIRE(guest.says("listening 127.0.0.1:" + std::to_string(port), 2));
  CHECK_EQ(content_of(directory.path() / "runs"), "run\nrun\n");
  CHECK(guest.ask(port, "healthz")["ok"] == true);
  client.send(guest::to_frame(R"({"type":"stdin","data":"eA=="})") + guest::to_frame(R"({"type":"stdin_end"})"));
  CHECK_EQ(listen_to(client).out, "got x\n"); // the old connection goes on
}

SCENARIO("SIGTERM during the reseed hook ends the program, and it never listens") {
  auto directory = temp_directory{};
  auto started = (directory.path() / "started").string();
  auto guest = program{environment(directory.path(), {"NAMZU_AGENT_RESEED_HOOK=echo hook > " + started + "; exec sleep 60"})};
  auto until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (content_of(started).empty() && std::chrono::steady_clock::now() < until) {
  }
  ::kill(guest.pid, SIGTERM);
  CHECK_EQ(guest.wait(), 0);
  CHECK(guest.said.find("listening") == std::string::npos);
}

SCENARIO("a listener that cannot be had ends the program with an error") {
  auto directory = temp_directory{};
  auto guest = program{{"NAMZU_AGENT_UNIX_PATH=" + (directory.path() / "none" / "s").string(), "PATH=/usr/bin:/bin"}};
  CHECK_EQ(guest.wait(), 1);
  CHECK(guest.said.find("ENOENT") != std::string::npos);
}
