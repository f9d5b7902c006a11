#define CAF_SUITE expected_identity

// Opening the workspace that a caller has retained, and no other ([W] 3.16).

#include "tests/workspace/desk.hpp"
#include "workspace/expected_identity.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::workspace;
using namespace paddock::workspace::test;
namespace pt = paddock::test;
using nlohmann::json;
using strings = std::vector<std::string>;
using host = desk::host;
using server = desk::api_server;

namespace {

open_options retained(bool with_claim = false) {
  auto x = open_options{};
  x.expect = sandbox_uid{"S1"};
  if (with_claim)
    x.expect_claims.emplace("workspace", claim_uid{"C1"});
  return x;
}

/// What stands as the claim of the workspace's disk.
void claim_is(desk& x, json claim) {
  x.cluster.intercept = [claim = std::move(claim)](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    if (what.path.find("/persistentvolumeclaims/") == std::string::npos)
      return std::nullopt;
    return claim.is_null() ? pt::gone(what) : pt::found(claim);
  };
}

json owned_claim(const char* uid, const char* owner) {
  return {
    {"metadata", {{"uid", uid}, {"ownerReferences", json::array({{{"kind", "Sandbox"}, {"name", "namzu-ws-desk"}, {"uid", owner}}})}}}};
}

desk suspended_desk() {
  return desk{host::fenced, server::with_uids};
}

} // namespace

// [W 265] nothing stands
SCENARIO("a retained workspace of which nothing stands is not created") {
  auto x = suspended_desk();
  auto got = x.open({}, retained());
  const auto* why = failed_with<identity_mismatch>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->what, "sandbox-absent");
  CHECK_EQ(why->expected, "S1");
  CHECK_EQ(why->actual, std::nullopt);
  CHECK_EQ(x.requests(), strings{"GET SB"});
}

// [W 266] another Sandbox, asleep
SCENARIO("another Sandbox than the retained one is not woken") {
  for (auto by_resume : {false, true}) {
    auto x = suspended_desk();
    x.cluster.stand("Suspended", "0", "S2");
    auto got = by_resume ? x.resume({}, retained()) : x.open({}, retained());
    const auto* why = failed_with<identity_mismatch>(got);
    REQUIRE(why != nullptr);
    CHECK_EQ(why->what, "sandbox-uid");
    CHECK_EQ(why->expected, "S1");
    CHECK_EQ(why->actual, "S2");
    CHECK_EQ(x.requests(), strings{"GET SB"});
    CHECK_EQ(x.cluster.mode(), "Suspended");
  }
}

// [W 267] another disk
// [W 269] a disk that belongs to another Sandbox
SCENARIO("another disk than the retained one, or one of another Sandbox, is not woken") {
  for (auto by_resume : {false, true})
    for (auto other_owner : {false, true}) {
      auto x = suspended_desk();
      x.cluster.stand("Suspended", "0");
      claim_is(x, other_owner ? owned_claim("C1", "S9") : owned_claim("C2", "S1"));
      auto got = by_resume ? x.resume({}, retained(true)) : x.open({}, retained(true));
      const auto* why = failed_with<identity_mismatch>(got);
      REQUIRE(why != nullptr);
      CHECK_EQ(why->what, other_owner ? "volume-claim-owner" : "volume-claim-uid");
      CHECK_EQ(why->claim, "workspace");
      CHECK_EQ(why->expected, other_owner ? "S1" : "C1");
      CHECK_EQ(why->actual, other_owner ? "S9" : "C2");
      CHECK_EQ(x.requests(), (strings{"GET SB", "GET PVC"}));
      CHECK_EQ(x.cluster.mode(), "Suspended");
    }
}

// [W 268] the disk is not there
SCENARIO("a retained disk that does not exist is not there yet") {
  auto x = suspended_desk();
  x.cluster.stand("Suspended", "0");
  claim_is(x, nullptr);
  CHECK(x.open({}, retained(true)).answer.has_value());
}

SCENARIO("a disk that cannot be read proves nothing, so nothing is woken") {
  auto x = suspended_desk();
  x.cluster.stand("Suspended", "0");
  x.cluster.intercept = [](const k8s::call& what, std::size_t) {
    return what.path.find("/persistentvolumeclaims/") != std::string::npos ? std::optional{pt::denied(what)} : std::nullopt;
  };
  CHECK(api_failed_with<k8s::credential_failure>(x.open({}, retained(true))) != nullptr);
  CHECK_EQ(x.sent("PATCH"), 0u);
}

// [W 270] only the version or a condition has changed
SCENARIO("a retained workspace is taken up whatever its version and conditions are, and written under its uid") {
  auto x = suspended_desk();
  auto held = x.suspend(x.open().after);
  REQUIRE(held.answer.has_value());
  auto how = retained();
  how.expect_claims = held.after.claims;
  x.cluster.bump();
  (*x.cluster.sandbox)["status"]["conditions"] = json::array({{{"type", "Ready"}, {"status", "Unknown"}}});
  x.forget();
  auto got = x.open({}, how);
  REQUIRE(got.answer.has_value());
  CHECK_EQ(got.after.sandbox, sandbox_uid{"S1"});
  auto written = x.bodies();
  REQUIRE_EQ(written.size(), 1u);
  CHECK_JSON(written[0][1], test_op("/metadata/uid", "S1"));
  // And again of what runs: nothing of it has moved but the version.
  x.cluster.bump();
  CHECK(x.open(got.after, how).answer.has_value());
}

SCENARIO("whose a disk is, is told by its owner references") {
  const auto which = *id::parse("desk");
  const auto said = [&](json claim) {
    auto got = check_expected_claim(which, sandbox_uid{"S1"}, "workspace", claim_uid{"C1"}, claim);
    return got ? std::string{"well"} : std::get<identity_mismatch>(got.error()).what;
  };
  CHECK_EQ(said({{"metadata", {{"uid", "C1"}}}}), "well");
  CHECK_EQ(said(owned_claim("C1", "S1")), "well");
  CHECK_EQ(said(owned_claim("C1", "S2")), "volume-claim-owner");
  CHECK_EQ(said(owned_claim("C2", "S2")), "volume-claim-uid");
  CHECK_EQ(said(json::object()), "volume-claim-uid");
  CHECK_EQ(said(nullptr), "volume-claim-uid");
  auto both = owned_claim("C1", "S2");
  both["metadata"]["ownerReferences"].push_back({{"kind", "Sandbox"}, {"uid", "S1"}});
  CHECK_EQ(said(both), "well");
  auto other_kind = owned_claim("C1", "X");
  other_kind["metadata"]["ownerReferences"][0]["kind"] = "StatefulSet";
  CHECK_EQ(said(other_kind), "well");
  other_kind["metadata"]["ownerReferences"] = 7;
  CHECK_EQ(said(other_kind), "well");
}
