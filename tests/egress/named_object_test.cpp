#define CAF_SUITE named_object

#include "egress/named_object.hpp"
#include "tests/egress/policies.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::egress;
using namespace paddock::egress::test;

namespace {

/// `passes`, or why not.
std::string check(const policy_object& wanted, json live) {
  const auto got = judge_named_object(wanted, std::optional{std::move(live)});
  if (got)
    return "passes";
  const auto* why = std::get_if<policy_mismatch>(&got.error());
  return why == nullptr ? to_string(got.error()) : why->reason;
}

/// What is configured, applied as it is but for what `change` does to it.
template <class Change>
std::string drifted(const policy_object& wanted, Change change) {
  auto live = wanted.manifest;
  change(live);
  return check(wanted, std::move(live));
}

bool names(const std::string& reason, std::string_view field) {
  return reason.starts_with(std::string{field} + " is ");
}

} // namespace

// [E 58]
SCENARIO("an object that stands as it is meant passes, whatever else it carries") {
  for (const auto& x :
       {deny_all_object(), allow_all_object(), no_network_object(), public_internet_object(), static_object({".example.com"})}) {
    CHECK_EQ(check(x, x.manifest), "passes");
    CHECK_EQ(drifted(x,
                     [](json& live) {
                       live["metadata"]["labels"] = {{"team", "x"}};
                       live["metadata"]["annotations"] = {{"a", "b"}};
                       live["spec"]["description"] = "x";
                       live["status"] = json::object();
                     }),
             "passes");
  }
}

// [E 60] [E 61] [E 62] [E 63] [E 71]
SCENARIO("the first member that differs is named, with both values") {
  const auto wanted = deny_all_object();
  const auto selector = drifted(wanted, [](json& live) { live["spec"]["podSelector"]["matchLabels"]["app"] = "x"; });
  CHECK(names(selector, "spec.podSelector"));
  CHECK(selector.find(R"("app":"x")") != std::string::npos);
  CHECK(selector.find(template_selector.dump()) != std::string::npos);
  CHECK(names(drifted(wanted, [](json& live) { live["spec"].erase("podSelector"); }), "spec.podSelector"));
  CHECK(names(drifted(wanted, [](json& live) { live["spec"]["policyTypes"] = {"Ingress"}; }), "spec.policyTypes"));
  CHECK(names(drifted(wanted, [](json& live) { live["spec"].erase("policyTypes"); }), "spec.policyTypes"));
  CHECK(names(drifted(wanted, [](json& live) { live["spec"]["policyTypes"] = "Egress"; }), "spec.policyTypes"));
  CHECK_EQ(drifted(wanted, [](json& live) { live["spec"]["policyTypes"] = {"Ingress", "Egress"}; }), "passes");
  CHECK(names(drifted(wanted, [](json& live) { live["spec"]["egress"] = R"([{}])"_json_text; }), "spec.egress"));
  CHECK(names(drifted(wanted, [](json& live) { live["spec"]["egress"][0]["ports"][0]["port"] = "53"; }), "spec.egress"));
  CHECK(names(drifted(static_object({"a.example"}), [](json& live) { live["spec"]["endpointSelector"] = json::object(); }),
              "spec.endpointSelector"));
}

// [E 64] [E 65]
SCENARIO("a list specs beside spec is refused, even an empty one") {
  const auto cilium = static_object({"a.example"});
  CHECK(names(drifted(cilium, [](json& live) { live["specs"] = R"([{"egress":[]}])"_json_text; }), "specs"));
  CHECK(names(drifted(cilium, [](json& live) { live["specs"] = json::array(); }), "specs"));
  CHECK_EQ(check(cilium, cilium.manifest), "passes");
  CHECK_EQ(drifted(cilium, [](json& live) { live["specs"] = nullptr; }), "passes");
  CHECK(names(drifted(deny_all_object(), [](json& live) { live["specs"] = json::array(); }), "specs"));
}

// [E 67] [E 68] [E 69]
SCENARIO("an absent egress is the empty list, and no other") {
  const auto none = no_network_object();
  CHECK_EQ(drifted(none, [](json& live) { live["spec"].erase("egress"); }), "passes");
  CHECK_EQ(drifted(none, [](json& live) { live["spec"]["egress"] = nullptr; }), "passes");
  CHECK(names(drifted(none, [](json& live) { live["spec"]["egress"] = R"([{"to":[{"ipBlock":{"cidr":"10.0.0.0/8"}}]}])"_json_text; }),
              "spec.egress"));
  const auto missing = drifted(deny_all_object(), [](json& live) { live["spec"].erase("egress"); });
  CHECK(missing.starts_with("spec.egress is absent"));
}

// [E 70]
SCENARIO("each part of a narrowing is compared") {
  const auto how = narrowed{R"([{"ports":[{"port":"443","protocol":"TCP"}],"serverNames":["a.example"]}])"_json_text, true};
  const auto wanted = static_object({"a.example"}, how);
  CHECK_EQ(check(wanted, wanted.manifest), "passes");
  CHECK(names(drifted(wanted, [](json& live) { live["spec"]["egress"][1].erase("toPorts"); }), "spec.egress"));
  CHECK(names(
    drifted(wanted, [](json& live) { live["spec"]["egress"][0]["toPorts"][0]["rules"]["dns"] = R"([{"matchPattern":"*"}])"_json_text; }),
    "spec.egress"));
  CHECK(names(drifted(wanted, [](json& live) { live["spec"]["egress"][1]["toPorts"][0].erase("serverNames"); }), "spec.egress"));
}

// [E 76]
SCENARIO("an object from before the profile is named by the label that it lacks") {
  auto wanted = deny_all_object();
  wanted.manifest["spec"]["podSelector"]["matchLabels"]["sandbox.namzu.ai/egress-profile"] = "none";
  const auto got = check(wanted, deny_all_object().manifest);
  CHECK(names(got, "spec.podSelector"));
  CHECK(got.find("sandbox.namzu.ai/egress-profile") != std::string::npos);
}

SCENARIO("an object that a host wrote carries its owner") {
  const auto wanted = grant_object({"a.example"});
  CHECK_EQ(check(wanted, wanted.manifest), "passes");
  CHECK_EQ(drifted(wanted, [](json& live) { live["metadata"]["ownerReferences"].push_back({{"kind", "Other"}}); }), "passes");
  CHECK(names(drifted(wanted, [](json& live) { live["metadata"]["ownerReferences"][0]["uid"] = "uid-2"; }), "metadata.ownerReferences"));
  CHECK(names(drifted(wanted, [](json& live) { live["metadata"].erase("ownerReferences"); }), "metadata.ownerReferences"));
  CHECK(names(drifted(wanted, [](json& live) { live["metadata"]["ownerReferences"] = "uid-1"; }), "metadata.ownerReferences"));
}

SCENARIO("a missing body and a missing spec are empty") {
  const auto nothing = judge_named_object(deny_all_object(), std::optional<json>{});
  REQUIRE(!nothing);
  CHECK(names(std::get<policy_mismatch>(nothing.error()).reason, "spec.podSelector"));
  CHECK(names(check(deny_all_object(), json::object()), "spec.podSelector"));
  CHECK(names(check(deny_all_object(), "text"), "spec.podSelector"));
}
