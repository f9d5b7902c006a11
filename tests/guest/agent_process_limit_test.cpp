#define CAF_SUITE agent_process_limit

#include "tests/guest/guest_program.hpp"
#include "tests/support/skip.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::test;

namespace {

std::string error_of(const json& x) {
  return x.is_object() ? x.value("error", "") : "";
}

std::string reserve(guest_program& guest, std::uint16_t port) {
  return guest.ask(port, "reserve-execution").at("executionId");
}

} // namespace

SCENARIO("at the process limit a command is refused with the reason, and a quiesce makes room") {
  // The limit of processes does not bind root, so the guest runs as somebody else; for that the test has to be root.
  if (::getuid() != 0)
    skip_suite("not root");
  auto directory = temp_directory{};
  auto uid = std::to_string(2'000'000 + ::getpid()); // nobody else's
  fs::permissions(directory.path(), fs::perms::all);
  auto words = std::vector<std::string>{"setpriv", "--reuid=" + uid, "--regid=" + uid, "--clear-groups", "prlimit", "--nproc=40"};
  auto guest = guest_program{guest_environment(directory.path()), words};
  auto port = guest.port();
  auto bomb = guest.open(
    port, "execute", json{{"command", "/bin/sh"}, {"args", {"-c", "while :; do sleep 100 & done"}}, {"executionId", reserve(guest, port)}});
  while (true) { // until the shell could not fork
    auto event = bomb.event();
    REQUIRE(event.is_object());
    if (event["type"] == "stderr_delta" && event["data"].get<std::string>().find("fork") != std::string::npos)
      break;
  }
  auto id = reserve(guest, port);
  auto refused = guest.open(port, "execute", json{{"command", "/bin/true"}, {"executionId", id}});
  auto said = listen_to(refused);
  CHECK_EQ(error_of(said.last), "spawn /bin/true EAGAIN");
  CHECK(said.terminated);
  CHECK_EQ(guest.ask(port, "cancel-execution", json{{"executionId", id}})["state"].get<std::string>(), "failed");
  auto reply = guest.ask(port, "quiesce", json{{"graceMs", 500}});
  CHECK(reply["ok"] == true);
  CHECK(reply["stopped"].size() >= 30);
  CHECK_EQ(guest.run(port, "echo room").out, "room\n");
  CHECK(guest.ask(port, "healthz")["ok"] == true);
}
