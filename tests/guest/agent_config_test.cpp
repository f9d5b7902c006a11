#define CAF_SUITE agent_config

#include "guest/agent_config.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock::guest;
using namespace std::chrono_literals;

namespace {

std::string complaint(std::vector<std::string> environment) {
  auto got = read_agent_config(std::move(environment));
  return got ? "" : got.error();
}

bool names(const std::string& text, std::initializer_list<const char*> parts) {
  for (auto* part : parts)
    if (text.find(part) == std::string::npos)
      return false;
  return true;
}

} // namespace

SCENARIO("one of three listeners is needed, the unix path first") {
  CHECK(names(complaint({}), {"NAMZU_AGENT_UNIX_PATH", "NAMZU_AGENT_VSOCK_PORT", "NAMZU_AGENT_TCP_PORT"}));
  auto got = read_agent_config({"NAMZU_AGENT_TCP_PORT=nonsense", "NAMZU_AGENT_VSOCK_PORT=1", "NAMZU_AGENT_UNIX_PATH=/s"});
  REQUIRE(got);
  REQUIRE(std::holds_alternative<agent_config::unix_listener>(got->listener));
  CHECK_EQ(std::get<agent_config::unix_listener>(got->listener).path, "/s");
  CHECK(got->open());
}

SCENARIO("a port that is none is quoted") {
  for (auto* bad : {"65536", "-1", "1.5", "", "x\"y"})
    CHECK(names(complaint({std::string{"NAMZU_AGENT_TCP_PORT="} + bad, "NAMZU_AGENT_REQUIRE_TOKEN=1"}),
                {"NAMZU_AGENT_TCP_PORT", "[0, 65535]", "\""}));
  CHECK(names(complaint({"NAMZU_AGENT_TCP_PORT=x\"y"}), {"\"x\\\"y\""}));
}

SCENARIO("a TCP listener needs a credential") {
  CHECK(names(complaint({"NAMZU_AGENT_TCP_PORT=0"}), {"NAMZU_AGENT_BIND_TOKEN", "NAMZU_AGENT_REQUIRE_TOKEN"}));
  CHECK(names(complaint({"NAMZU_AGENT_TCP_PORT=0", "NAMZU_AGENT_REQUIRE_TOKEN="}), {"NAMZU_AGENT_BIND_TOKEN"}));
  CHECK_EQ(complaint({"NAMZU_AGENT_TCP_PORT=0", "NAMZU_AGENT_REQUIRE_TOKEN=0"}), "");
  CHECK_EQ(complaint({"NAMZU_AGENT_TCP_PORT=0", "NAMZU_AGENT_BIND_TOKEN=t"}), "");
}

SCENARIO("an empty token is a mistake in every mode") {
  for (auto* mode : {"NAMZU_AGENT_UNIX_PATH=/s", "NAMZU_AGENT_VSOCK_PORT=1", "NAMZU_AGENT_TCP_PORT=0"})
    CHECK(names(complaint({mode, "NAMZU_AGENT_BIND_TOKEN="}), {"NAMZU_AGENT_BIND_TOKEN"}));
}

SCENARIO("numbers are checked, and one limit does not contradict another") {
  auto base = std::vector<std::string>{"NAMZU_AGENT_UNIX_PATH=/s"};
  auto with = [&](std::string line) {
    auto all = base;
    all.push_back(std::move(line));
    return all;
  };
  CHECK_EQ(complaint(with("NAMZU_AGENT_MAX_FRAME_BYTES=0")), "NAMZU_AGENT_MAX_FRAME_BYTES must be a positive safe integer");
  CHECK_EQ(complaint(with("NAMZU_AGENT_MAX_FRAME_BYTES=9007199254740992")), "NAMZU_AGENT_MAX_FRAME_BYTES must be a positive safe integer");
  CHECK_EQ(complaint(with("NAMZU_AGENT_CANCEL_GRACE_MS=-1")), "NAMZU_AGENT_CANCEL_GRACE_MS must be a non-negative safe integer");
  CHECK_EQ(complaint(with("NAMZU_AGENT_CANCEL_GRACE_MS=0")), "");
  auto small = read_agent_config(with("NAMZU_AGENT_MAX_FRAME_BYTES=100"));
  REQUIRE(small);
  CHECK_EQ(small->max_preauth_frame_bytes, 100u);
  auto buffer = read_agent_config(with("NAMZU_AGENT_MAX_PREAUTH_BUFFER_BYTES=1"));
  REQUIRE(buffer);
  CHECK_EQ(buffer->max_preauth_buffer_bytes, 8'388'608u);
  auto grace = read_agent_config(with("NAMZU_AGENT_CANCEL_CONFIRM_TIMEOUT_MS=500"));
  REQUIRE(grace);
  CHECK_EQ(grace->quiesce_grace.count(), 499);
}

SCENARIO("roots are trimmed, absolute and told apart") {
  auto got =
    read_agent_config({"NAMZU_AGENT_UNIX_PATH=/s", "NAMZU_SANDBOX_WORKSPACE=/ws/", "NAMZU_SANDBOX_READ_ROOTS= /a :: /b/../c:/a:/ws"});
  REQUIRE(got);
  CHECK_EQ(got->workspace, "/ws");
  CHECK((got->read_roots == std::vector<std::string>{"/ws", "/a", "/c"}));
  CHECK((got->write_roots == std::vector<std::string>{"/ws"}));
}
