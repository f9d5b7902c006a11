#define CAF_SUITE permissions

#include "egress/flows/ingress.hpp"
#include "egress/translate.hpp"
#include "embedded/rbac.hpp"
#include "k8s/paths.hpp"
#include "k8s/permissions.hpp"
#include "tests/egress/grants.hpp"
#include "tests/workspace/desk.hpp"

#include <set>
#include <tuple>
#include <type_traits>

using namespace paddock;
using namespace paddock::egress;
using egress::test::grant_cluster;
using nlohmann::json;

namespace {

/// Rules as a role spells them: one resource a rule.
json rules_of(std::span<const k8s::permission> all) {
  auto got = json::array();
  for (const auto& x : all)
    got.push_back({{"apiGroups", {x.api_group}}, {"resources", {x.resource}}, {"verbs", x.verbs}});
  return got;
}

json rules_shipped(const std::string& kind, const std::string& name) {
  return paddock::test::shipped(kind, name)["rules"];
}

/// Group, resource and verb.
using right = std::tuple<std::string, std::string, std::string>;

std::set<right> rights_of(std::span<const k8s::permission> all) {
  auto got = std::set<right>{};
  for (const auto& x : all)
    for (const auto verb : x.verbs)
      got.emplace(x.api_group, x.resource, verb);
  return got;
}

/// The rights that requests ask for, as an API server reads them.
std::set<right> rights_of(const std::vector<k8s::call>& calls) {
  auto got = std::set<right>{};
  for (const auto& x : calls) {
    const auto target = embedded::parse_target(x.path);
    REQUIRE(target.has_value());
    const auto asked = embedded::read_attributes(x.method, *target);
    got.emplace(asked.group, asked.resource, asked.verb);
  }
  return got;
}

template <class... All>
std::set<right> together(const All&... all) {
  auto got = std::set<right>{};
  (got.merge(rights_of(all)), ...);
  return got;
}

/// Every request that per-sandbox egress can make.
std::vector<k8s::call> calls_of_per_sandbox() {
  auto x = grant_cluster{};
  auto how = narrowing{};
  how.ports = port_list{443};
  const auto whose = x.permitting(x.workspace(), how);
  for (const auto& hosts : std::vector<std::vector<std::string>>{{"packages.example.org"}, {"a.example.com"}, {}})
    REQUIRE(x.set(whose, hosts).has_value());
  static_cast<void>(x.workspace("S2"));
  REQUIRE(!x.set(whose, {"packages.example.org"}).has_value()); // and takes it back
  REQUIRE(x.reverify(whose).has_value());
  return x.api.calls;
}

std::vector<k8s::call> calls_of_ingress_check() {
  auto x = grant_cluster{};
  static_cast<void>(paddock::test::run_flow(
    x.context, verify_ingress(x.on, ingress_config{}, policy_engine::cilium, ingress_question{"p", {}, "namzu-sandboxes"}, x.until())));
  return x.api.calls;
}

} // namespace

// [E 307]
SCENARIO("who only takes sandboxes out of pools needs these rights, and nothing can change the list") {
  CHECK_JSON(rules_of(k8s::claimant_permissions), json::parse(R"([
    {"apiGroups": ["extensions.agents.x-k8s.io"], "resources": ["sandboxclaims"], "verbs": ["create", "get", "list", "patch", "delete"]},
    {"apiGroups": ["agents.x-k8s.io"], "resources": ["sandboxes"], "verbs": ["get"]},
    {"apiGroups": ["extensions.agents.x-k8s.io"], "resources": ["sandboxwarmpools"], "verbs": ["get"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]},
    {"apiGroups": ["networking.k8s.io"], "resources": ["networkpolicies"], "verbs": ["get", "list"]},
    {"apiGroups": ["cilium.io"], "resources": ["ciliumnetworkpolicies"], "verbs": ["get", "list"]}])"));
  static_assert(std::is_const_v<decltype(k8s::claimant_permissions)>);
  static_assert(std::is_same_v<decltype(k8s::permission::verbs)::reference, const std::string_view&>);
}

// [E 308]
SCENARIO("the wider role contains the claimant's, and no role has a wildcard") {
  const auto host = rights_of(k8s::host_permissions);
  const auto claimant = rights_of(k8s::claimant_permissions);
  CHECK(std::ranges::includes(host, claimant));
  for (const auto* name : {"namzu-sandbox-host", "namzu-sandbox-claimant"})
    CHECK(rules_shipped("Role", name).dump().find('*') == std::string::npos);
}

// [E 309]
SCENARIO("the default roles may write no policy") {
  for (const auto* name : {"namzu-sandbox-host", "namzu-sandbox-claimant"})
    for (const auto& rule : rules_shipped("Role", name))
      for (const auto* resource : {"networkpolicies", "ciliumnetworkpolicies"})
        if (rule["resources"] == json{resource})
          CHECK_JSON(rule["verbs"], (json{"get", "list"}));
}

SCENARIO("the shipped roles are the rights that the host is known to need") {
  CHECK_JSON(rules_shipped("Role", "namzu-sandbox-claimant"), rules_of(k8s::claimant_permissions));
  CHECK_JSON(rules_shipped("Role", "namzu-sandbox-host"), rules_of(k8s::host_permissions));
  CHECK_JSON(rules_shipped("Role", "namzu-sandbox-host-per-sandbox-egress"), rules_of(k8s::per_sandbox_permissions));
  auto fence = json::array();
  for (const auto& rule : rules_shipped("ClusterRole", "namzu-sandbox-host-admission-fence-read"))
    for (const auto& resource : rule["resources"])
      fence.push_back({{"apiGroups", rule["apiGroups"]}, {"resources", {resource}}, {"verbs", rule["verbs"]}});
  CHECK_JSON(fence, rules_of(k8s::fence_permissions));
  auto permitted = rules_of(k8s::permitted_hosts_permissions);
  permitted[0]["resourceNames"] = {"sandbox-permitted-hosts"};
  CHECK_JSON(rules_shipped("Role", "namzu-sandbox-host-permitted-hosts-read"), permitted);
}

SCENARIO("per-sandbox egress asks for exactly the rights that are told") {
  const auto calls = calls_of_per_sandbox();
  auto wanted = together(k8s::per_sandbox_permissions, k8s::fence_permissions, k8s::permitted_hosts_permissions);
  wanted.emplace("cilium.io", "ciliumnetworkpolicies", "get");
  wanted.emplace("cilium.io", "ciliumnetworkpolicies", "list");
  wanted.emplace("agents.x-k8s.io", "sandboxes", "get");
  CHECK(rights_of(calls) == wanted);
}

SCENARIO("the ingress check lists, and does nothing else") {
  CHECK(rights_of(calls_of_ingress_check())
        == (std::set<right>{{"networking.k8s.io", "networkpolicies", "list"}, {"cilium.io", "ciliumnetworkpolicies", "list"}}));
}

SCENARIO("the verbs of a workspace ask for no right that the wider role lacks") {
  auto x = workspace::test::desk{workspace::test::desk::host::fenced};
  const auto opened = x.open();
  REQUIRE(opened.answer.has_value());
  const auto asleep = x.suspend(opened.after);
  REQUIRE(asleep.answer.has_value());
  const auto awake = x.resume(asleep.after);
  REQUIRE(awake.answer.has_value());
  REQUIRE(x.remove(awake.after).answer.has_value());
  const auto asked = rights_of(x.api.calls);
  CHECK_EQ(asked.size(), 7u);
  CHECK(std::ranges::includes(rights_of(k8s::host_permissions), asked));
}

SCENARIO("the proofs of an open ask for no right that the roles for per-sandbox egress lack") {
  auto cluster = grant_cluster{};
  auto x = workspace::test::desk{workspace::test::desk::host::fenced, workspace::test::desk::api_server::with_uids};
  x.on.how.ingress = {};
  x.on.how.egress = egress_config{};
  x.on.how.egress->engine = policy_engine::cilium;
  x.on.how.egress->per_sandbox = per_sandbox_egress{"namzu-per-sandbox-egress"};
  // The namespace is part of what the shipped fence says.
  x.on.how.name_space = "namzu-sandboxes";
  x.api.handle([&](const k8s::call& what) { return cluster.answer(what); });
  const auto named = translate(*x.on.how.egress, {"namzu-sandboxes", "tpl"});
  cluster.objects[named->path()] = named->manifest;
  cluster.objects[k8s::template_path("namzu-sandboxes", "tpl")] = x.cluster.the_template;
  const auto got = x.open();
  CHECK_EQ(workspace::reason_of(got.answer.error()), "IngressPolicy");
  const auto asked = rights_of(x.api.calls);
  CHECK_EQ(asked.size(), 6u);
  auto granted = together(k8s::host_permissions, k8s::fence_permissions);
  CHECK(std::ranges::includes(granted, asked));
}

// [E 310]
SCENARIO("the shipped baseline lets the host reach the agent's port of every sandbox, and nobody else") {
  const auto spec = paddock::test::shipped("NetworkPolicy", "namzu-sandbox-baseline")["spec"];
  CHECK_JSON(spec["policyTypes"], (json{"Ingress", "Egress"}));
  CHECK_JSON(spec["podSelector"], (json{{"matchExpressions", {{{"key", "sandbox.namzu.ai/template"}, {"operator", "Exists"}}}}}));
  CHECK_JSON(spec["ingress"], json::parse(R"([{"from": [{"podSelector": {"matchLabels": {"namzu.ai/component": "host"}}}],
                                              "ports": [{"port": 1024, "protocol": "TCP"}]}])"));
}
