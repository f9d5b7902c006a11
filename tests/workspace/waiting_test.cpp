#define CAF_SUITE waiting

// Pods that are waited for in vain ([W] 3.2 step 5).

#include "tests/workspace/desk.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::workspace;
using namespace paddock::workspace::test;

// [W 52] the pod drains for ever; its uid is the guest's token, so the error names it and its text does not
SCENARIO("a pod that never ends is named, with the two bounds that may be too short") {
  auto x = desk{};
  x.cluster.stand("Running");
  x.cluster.pod = desk_cluster::draining(*x.cluster.pod);
  auto got = x.open();
  const auto* why = failed_with<no_pod>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->pod, pod_uid{"P1"});
  for (const auto* word : {"TERMINATING", "terminationGracePeriodSeconds", "readyTimeoutMs"})
    CHECK(why->text.find(word) != std::string::npos);
  CHECK(why->cause.has_value());
  CHECK(to_string(got.answer.error()).find("P1") == std::string::npos);
  const auto asked = x.requests();
  CHECK(std::ranges::count(asked, "GET PODS") > 1);
  CHECK_EQ(x.sent("PATCH"), 0u);
}

// [W 58] the address never comes
SCENARIO("under pod-ip a live pod that never has an address is named, and not a time-out of readiness") {
  auto x = desk{};
  x.on.how.agent_address = settings::address::pod_ip;
  x.cluster.stand("Running");
  x.cluster.pod = x.cluster.make_pod();
  x.cluster.pod->at("status").erase("podIP");
  auto got = x.open();
  const auto* why = failed_with<no_pod>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->pod, pod_uid{"P2"});
  CHECK(why->text.find("status.podIP") != std::string::npos);
  CHECK(why->text.find("TERMINATING") == std::string::npos);
  CHECK(x.guest.calls.empty());
}
