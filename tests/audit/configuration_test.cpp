#define CAF_SUITE configuration

#include "audit/configuration.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::audit;

namespace {

std::string refusal(const char* text) {
  const auto got = read_configuration({"e.yaml", text});
  return got ? "read" : to_string(got.error());
}

bool begins(const char* text, std::string_view with) {
  return refusal(text).starts_with(with);
}

} // namespace

SCENARIO("a configuration is the document, or its member egress") {
  const auto alone = read_configuration({"e.yaml", "# x\n---\npolicy: {kind: no-network}\n"});
  REQUIRE(alone);
  CHECK(std::holds_alternative<egress::no_network>(alone->policy));
  const auto within = read_configuration({"e.json", R"({"egress": {"policy": {"kind": "no-network"}}, "agentPort": 1024})"});
  REQUIRE(within);
  CHECK(*within == *alone);
}

SCENARIO("what is wrong is said with the line where it stands") {
  CHECK(begins("policy:\n  kind: none\n", "e.yaml:2: config.egress.policy.kind "));
  CHECK(begins("egress:\n  engine: core\n  policy:\n    kind: none\n", "e.yaml:4: config.egress.policy.kind "));
  CHECK(begins("policy: {kind: deny-all}\nprofile: A\n", "e.yaml:2: config.egress.profile "));
  CHECK(begins("policy: {kind: deny-all}\nperSandbox:\n  engine: core\n", "e.yaml:3: config.egress.perSandbox.engine "));
  CHECK(begins("policy: {kind: deny-all}\nunknown: 1\n", "e.yaml:2: config.egress.unknown "));
  CHECK(begins("policy: {kind: deny-all}\nciliumNarrowing:\n  ports: [443]\n", "e.yaml:2: config.egress.ciliumNarrowing "));
  CHECK(begins("engine: cilium\npolicy:\n  kind: static\n  allowedHosts:\n  - a.example.com\n  - '*.b'\n",
               "e.yaml:6: the host entry \"*.b\" "));
  CHECK(begins("x: 1\n", "e.yaml:1: config.egress"));
  CHECK(begins("[]\n", "e.yaml:1: config.egress"));
}

SCENARIO("a file that is no configuration is refused") {
  CHECK_EQ(refusal(""), "e.yaml:1: holds no configuration");
  CHECK(begins("policy: {kind: deny-all}\n---\npolicy: {kind: allow-all}\n", "e.yaml:3: holds a second document"));
  CHECK(begins("policy: {kind: deny-all}\nprofile: on\n", "e.yaml:2: profile: on "));
  CHECK(begins("policy: {kind: deny-all}\npolicy: {}\n", "e.yaml:2: has the key \"policy\" twice"));
  CHECK(begins("policy: [", "e.yaml:"));
}
