#define CAF_SUITE union_check

#include "egress/union_cache.hpp"
#include "egress/union_check.hpp"
#include "tests/egress/policies.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock::egress;
using namespace paddock::egress::test;

namespace {

const auto grant_labels = [] {
  auto x = pod_labels();
  x["sandbox.namzu.ai/per-sandbox-egress"] = "s1";
  return x;
}();

/// The union after a write: what is configured and what was written stand, and `more` beside them.
judged after_write(const policy_object& configured, const policy_object& written, const std::vector<json>& more_core = {},
                   std::vector<json> more_cilium = {}) {
  auto core = more_core;
  core.insert(core.begin(), configured.manifest);
  more_cilium.insert(more_cilium.begin(), written.manifest);
  return judge(union_of(allowance_of(configured), allowance_of(written)), core, more_cilium, grant_labels);
}

const auto by_name = narrowed{nullptr, true};

json resolver_dns() {
  return core_policy("dns", json::array({{{"to", {kube_dns()}}, {"ports", dns_ports()}}}));
}

} // namespace

// [E 99]
SCENARIO("a policy that is wide goes before one that cannot be judged") {
  const auto odd = core_policy("odd", R"([{"to":[{"odd":1}]}])"_json_text);
  const auto wide = core_policy("wide", R"([{}])"_json_text);
  const auto got = beside(deny_all_object(), {odd, wide});
  CHECK_EQ(got.outcome, "policy-widens-egress");
  CHECK(got.says("NetworkPolicy/wide lets"));
  CHECK_EQ(got.findings.size(), 2u);
  CHECK_EQ(beside(deny_all_object(), {odd}).outcome, "not-evaluable");
  THEN("and that goes before the lack of one that restricts egress") {
    CHECK_EQ(judge(allowance_of(deny_all_object()), {odd}).outcome, "not-evaluable");
  }
}

SCENARIO("each document is reported in the order of the lists, with what is wrong with it") {
  auto unnamed = core_policy("", R"([{}])"_json_text);
  const auto two =
    R"({"metadata":{"name":"two"},"spec":{"endpointSelector":{},"egressDeny":[{}]},"specs":[{"endpointSelector":{},"egress":[7]}]})"_json_text;
  const auto got = judge(allowance_of(deny_all_object()), {deny_all_object().manifest, unnamed, json{7}}, {two});
  CHECK_EQ(got.rows, (std::vector<std::string>{"NetworkPolicy/namzu-task-egress: within", "NetworkPolicy/(unnamed #1): widens-egress",
                                               "NetworkPolicy/(unnamed #2): not-evaluable", "CiliumNetworkPolicy/two: within",
                                               "CiliumNetworkPolicy/two: not-evaluable"}));
  REQUIRE_EQ(got.findings.size(), 3u);
  CHECK_EQ(got.findings[0].item, 1u);
  CHECK_EQ(got.findings[2].item, 3u);
  CHECK_EQ(got.findings[2].path, "specs[0].egress[0]");
  CHECK_EQ(got.findings[2].detail, "specs[0].egress[0] is not an object");
  CHECK(got.says("the sandbox s1"));
  CHECK(got.says("app=namzu,sandbox.namzu.ai/template=namzu-task"));
  CHECK(got.says("NetworkPolicy/(unnamed #1): widens-egress (spec.egress[0] names no destination"));
}

SCENARIO("the named object is exempt only while it is what is meant") {
  const auto configured = deny_all_object();
  auto drifted = configured.manifest;
  drifted["spec"]["egress"].push_back(R"({"to":[{"ipBlock":{"cidr":"0.0.0.0/0"}}]})"_json_text);
  const auto got = judge(allowance_of(configured), {drifted});
  CHECK_EQ(got.outcome, "policy-widens-egress");
  CHECK_EQ(got.findings.at(0).path, "spec.egress[1].to[0]");
}

// [E 233]
SCENARIO("a grant beside no-network is within, a whole domain as well") {
  const auto got = after_write(no_network_object(), grant_object({".example.com"}));
  CHECK_EQ(got.outcome, "passes");
  CHECK(got.lists("NetworkPolicy/namzu-task-egress: within"));
  CHECK(got.lists("CiliumNetworkPolicy/namzu-sbx-uid-1: within"));
}

// [E 234] [E 235]
SCENARIO("DNS of all names beside a grant of some is wide where the baseline has none") {
  const auto grant = grant_object({"a.example"}, by_name);
  const auto got = after_write(no_network_object(), grant, {resolver_dns()});
  CHECK_EQ(got.outcome, "policy-widens-egress");
  CHECK_EQ(to_string(got.findings.at(0).reason), "dns-names");
  CHECK_EQ(after_write(deny_all_object(), grant, {resolver_dns()}).outcome, "passes");
}

// [E 238]
SCENARIO("another sandbox's grant does not select the pod") {
  auto other = grant_object({"b.example"}).manifest;
  other["metadata"]["name"] = "namzu-sbx-uid-2";
  other["spec"]["endpointSelector"]["matchLabels"]["sandbox.namzu.ai/per-sandbox-egress"] = "s2";
  const auto got = after_write(deny_all_object(), grant_object({"a.example"}), {}, {other});
  CHECK_EQ(got.outcome, "passes");
  CHECK(got.lists("CiliumNetworkPolicy/namzu-sbx-uid-2: does-not-select"));
}

// [E 239]
SCENARIO("a policy that names only the grant's hosts on its ports is within") {
  const auto grant = grant_object({"a.example", "b.example"}, {port_443(), false});
  const auto naming = [&](const char* host, const json& ports) {
    return after_write(deny_all_object(), grant, {},
                       {cilium_policy("extra", json::array({{{"toFQDNs", {{{"matchName", host}}}}, {"toPorts", ports}}}))})
      .outcome;
  };
  CHECK_EQ(naming("b.example", port_443()), "passes");
  CHECK_EQ(naming("c.example", port_443()), "policy-widens-egress");
  CHECK_EQ(naming("b.example", R"([{"ports":[{"port":"22","protocol":"TCP"}]}])"_json_text), "policy-widens-egress");
}

SCENARIO("a grant whose owner is another one is judged like any other policy") {
  auto foreign = grant_object({".example.com"}).manifest;
  foreign["metadata"]["ownerReferences"][0]["uid"] = "uid-2";
  auto core = std::vector<json>{deny_all_object().manifest};
  const auto allowed = union_of(allowance_of(deny_all_object()), allowance_of(grant_object({".example.com"})));
  CHECK_EQ(judge(allowed, core, {foreign}, grant_labels).outcome, "policy-widens-egress");
}

SCENARIO("a collection that was not read is said, with what was") {
  auto check = union_check{allowance_of(deny_all_object()), {"namzu-sandboxes", pod_labels()}};
  check.take(resource_kind::network_policy, deny_all_object().manifest);
  const auto got = check.unread("the sandbox s1", {"ciliumnetworkpolicies", "/p", unread_collection::cause::absent, "404"});
  CHECK(got.refusal == union_refused::cause::not_evaluable);
  CHECK_EQ(got.examined.size(), 1u);
  CHECK_EQ(got.unread.size(), 1u);
}

SCENARIO("a pass stands for pods with the same labels but the sandbox's own, for less than five minutes") {
  using std::chrono::milliseconds;
  CHECK_EQ(union_cache_key(grant_labels, "sandbox.namzu.ai/per-sandbox-egress"), pod_labels());
  CHECK_EQ(union_cache_key(pod_labels(), "sandbox.namzu.ai/per-sandbox-egress"), pod_labels());
  const auto began = paddock::time_source::clock::time_point{};
  CHECK(is_fresh(began, began));
  CHECK(is_fresh(began, began + milliseconds{299'999}));
  CHECK(!is_fresh(began, began + milliseconds{300'000}));
}
