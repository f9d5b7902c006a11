#define CAF_SUITE manifests

#include "egress/manifests.hpp"
#include "tests/egress/policies.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock::egress;
using namespace paddock::egress::test;

namespace {

/// `objects` as the documents of one file, ten lines each.
tl::expected<manifests_verdict, manifests_refused> in_files(const policy_object& configured, const std::vector<json>& objects) {
  auto all = std::vector<manifest>{};
  for (const auto& x : objects)
    all.push_back({{"a.yaml", all.size() * 10 + 1}, x});
  return judge_manifests(all, allowance_of(configured), {"namzu-sandboxes", pod_labels()});
}

json typed(json policy, const char* api_version, const char* kind) {
  policy["apiVersion"] = api_version;
  policy["kind"] = kind;
  return policy;
}
json core(const std::string& name, json rules) {
  return typed(core_policy(name, std::move(rules)), "networking.k8s.io/v1", "NetworkPolicy");
}

std::string refusal(const manifests_verdict& x) {
  return x.refusal ? std::string{to_string(*x.refusal)} : "passes";
}

} // namespace

// [E 324]
SCENARIO("the named object with one rule more is drifted, and the rule is named") {
  auto drifted = deny_all_object().manifest;
  drifted["spec"]["egress"].push_back(json::object());
  const auto got = in_files(deny_all_object(), {drifted});
  REQUIRE(got);
  CHECK(!got->within());
  CHECK_EQ(to_string(got->named.is), "drifted");
  CHECK(got->named.difference.value_or("").starts_with("spec.egress is "));
  CHECK_EQ(refusal(*got), "policy-widens-egress");
  REQUIRE_EQ(got->findings.size(), 1u);
  CHECK_EQ(got->findings[0].what.policy.name, "namzu-task-egress");
  CHECK_EQ(got->findings[0].what.path, "spec.egress[1]");
  CHECK_EQ(to_string(got->findings[0].place), "a.yaml:1");
  THEN("without the rule it is within") {
    const auto clean = in_files(deny_all_object(), {deny_all_object().manifest});
    REQUIRE(clean);
    CHECK(clean->within());
    CHECK_EQ(to_string(clean->named.is), "applied");
  }
}

// [E 327]
SCENARIO("two documents of one kind, namespace and name are refused, both places named") {
  auto explicit_twin = core("x", json::array());
  explicit_twin["metadata"]["namespace"] = "namzu-sandboxes";
  const auto got = in_files(deny_all_object(), {core("x", json::array()), core("y", json::array()), explicit_twin});
  REQUIRE(!got);
  CHECK_EQ(to_string(got.error().place), "a.yaml:21");
  CHECK_EQ(got.error().problem, "NetworkPolicy x is also in a.yaml:1");
  auto elsewhere = explicit_twin;
  elsewhere["metadata"]["namespace"] = "other";
  CHECK(in_files(deny_all_object(), {core("x", json::array()), elsewhere}));
  CHECK(!in_files(deny_all_object(), {elsewhere, elsewhere}));
}

// [E 329]
SCENARIO("a List is its items") {
  const auto items = std::vector<json>{deny_all_object().manifest, core("wide", R"([{}])"_json_text)};
  const auto apart = in_files(deny_all_object(), items);
  const auto list = in_files(deny_all_object(), {{{"apiVersion", "v1"}, {"kind", "List"}, {"items", items}}});
  REQUIRE(apart);
  REQUIRE(list);
  for (const auto* x : {&*apart, &*list}) {
    CHECK_EQ(to_string(x->named.is), "applied");
    CHECK_EQ(refusal(*x), "policy-widens-egress");
    CHECK_EQ(x->examined.size(), 2u);
    CHECK_EQ(x->findings.size(), 1u);
    CHECK_EQ(x->findings.at(0).what.policy.name, "wide");
  }
  CHECK_EQ(to_string(list->findings[0].place), "a.yaml:1 items[1]");
  THEN("so is the list that a server answers, whose items need not say what they are") {
    auto bare = items;
    for (auto& x : bare) {
      x.erase("kind");
      x.erase("apiVersion");
    }
    const auto typed_list =
      in_files(deny_all_object(), {{{"apiVersion", "networking.k8s.io/v1"}, {"kind", "NetworkPolicyList"}, {"items", bare}}});
    REQUIRE(typed_list);
    CHECK_EQ(typed_list->examined.size(), 2u);
  }
  THEN("a List in it, or one without items, is refused") {
    CHECK(!in_files(deny_all_object(), {{{"kind", "List"}, {"items", {{{"kind", "List"}, {"apiVersion", "v1"}, {"items", items}}}}}}));
    CHECK(!in_files(deny_all_object(), {{{"kind", "List"}, {"items", "x"}}}));
    auto server_list = json{{"apiVersion", "networking.k8s.io/v1"}, {"kind", "NetworkPolicyList"}, {"items", items}};
    CHECK(!in_files(deny_all_object(), {{{"apiVersion", "v1"}, {"kind", "List"}, {"items", {server_list}}}}));
  }
  THEN("a List of nothing is nothing") {
    const auto nothing = in_files(deny_all_object(), {R"({"kind":"List"})"_json_text, R"({"kind":"List","items":null})"_json_text});
    REQUIRE(nothing);
    CHECK(nothing->examined.empty());
  }
  THEN("the items of another group's list are another group's") {
    const auto foreign =
      in_files(deny_all_object(),
               {{{"apiVersion", "crd.projectcalico.org/v1"}, {"kind", "NetworkPolicyList"}, {"items", {{{"metadata", {{"name", "c"}}}}}}}});
    REQUIRE(foreign);
    CHECK_EQ(foreign->ignored.size(), 1u);
  }
}

// [E 330]
SCENARIO("a wide Cilium policy is wide under a core configuration too") {
  const auto got =
    in_files(deny_all_object(), {cilium_policy("wide", R"([{"toEntities":["world"]}])"_json_text), deny_all_object().manifest});
  REQUIRE(got);
  CHECK_EQ(refusal(*got), "policy-widens-egress");
  CHECK((got->findings.at(0).what.policy == policy_name{resource_kind::cilium_network_policy, "wide"}));
  CHECK_EQ(to_string(got->findings.at(0).place), "a.yaml:1");
  CHECK_EQ(to_string(got->examined.at(0).policy.kind), "NetworkPolicy");
}

// [E 331]
SCENARIO("a document of another namespace is not considered, and one without is in the pod's") {
  auto far = core("far", R"([{}])"_json_text);
  far["metadata"]["namespace"] = "other";
  const auto got = in_files(deny_all_object(), {deny_all_object().manifest, far});
  REQUIRE(got);
  CHECK(got->within());
  CHECK_EQ(got->examined.size(), 1u);
  REQUIRE_EQ(got->ignored.size(), 1u);
  CHECK_EQ(got->ignored[0].name, "far");
  CHECK_EQ(got->ignored[0].why, "of the namespace other");
  CHECK_EQ(to_string(got->ignored[0].place), "a.yaml:11");
  const auto near = in_files(deny_all_object(), {deny_all_object().manifest, core("near", R"([{}])"_json_text)});
  REQUIRE(near);
  CHECK_EQ(refusal(*near), "policy-widens-egress");
}

// [E 332]
SCENARIO("allow-all without an object passes the union and is not applied") {
  const auto got = in_files(allow_all_object(), {});
  REQUIRE(got);
  CHECK(!got->within());
  CHECK_EQ(to_string(got->named.is), "not-applied");
  CHECK_EQ(refusal(*got), "passes");
}

SCENARIO("what is no policy is listed, and what may be one in another version is refused") {
  const auto other = R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"}})"_json_text;
  const auto foreign = R"({"apiVersion":"crd.projectcalico.org/v1","kind":"NetworkPolicy","metadata":{"name":"c"}})"_json_text;
  const auto got = in_files(deny_all_object(), {deny_all_object().manifest, other, foreign, nullptr});
  REQUIRE(got);
  CHECK(got->within());
  REQUIRE_EQ(got->ignored.size(), 2u);
  CHECK_EQ(got->ignored[0].kind, "Deployment");
  CHECK_EQ(got->ignored[1].name, "c");
  CHECK_EQ(got->ignored[1].why, "not a policy");
  CHECK(!in_files(deny_all_object(), {R"({"apiVersion":"networking.k8s.io/v1beta1","kind":"NetworkPolicy"})"_json_text}));
  CHECK(!in_files(deny_all_object(), {R"({"apiVersion":"cilium.io","kind":"CiliumNetworkPolicy"})"_json_text}));
  CHECK(!in_files(deny_all_object(), {R"({"kind":"NetworkPolicy"})"_json_text}));
  CHECK(!in_files(deny_all_object(), {R"({"metadata":{}})"_json_text}));
  CHECK(!in_files(deny_all_object(), {R"("text")"_json_text}));
}

SCENARIO("a clusterwide policy is judged for the pod's namespace") {
  const auto clusterwide = [](const char* selector, const char* rule) {
    auto x = typed(cilium_policy("wide", json::array({json::parse(rule)}), json::parse(selector)), "cilium.io/v2",
                   "CiliumClusterwideNetworkPolicy");
    x["metadata"].erase("namespace");
    const auto got = in_files(deny_all_object(), {deny_all_object().manifest, x});
    return got ? refusal(*got) : got.error().problem;
  };
  const auto* world = R"({"toEntities":["world"]})";
  CHECK_EQ(clusterwide("{}", world), "policy-widens-egress");
  CHECK_EQ(clusterwide(R"({"matchLabels":{"app":"else"}})", world), "passes");
  CHECK_EQ(clusterwide(R"({"matchLabels":{"k8s:io.kubernetes.pod.namespace":"namzu-sandboxes"}})", world), "policy-widens-egress");
  CHECK_EQ(clusterwide(R"({"matchLabels":{"k8s:io.kubernetes.pod.namespace":"other"}})", world), "not-evaluable");
}
