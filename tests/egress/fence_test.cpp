#define CAF_SUITE fence

#include "egress/fence.hpp"
#include "tests/egress/shipped.hpp"
#include "tests/support/check_json.hpp"

#include <functional>

using namespace paddock;
using namespace paddock::egress;
using nlohmann::json;

namespace {

const std::string host_user = "system:serviceaccount:namzu-sandboxes:namzu-sandbox-host";

fence_question shipped_question() {
  auto how = per_sandbox_egress{"namzu-per-sandbox-egress"};
  how.host_identity = host_user;
  how.permitted_hosts_param = object_reference{"sandbox-permitted-hosts", "platform"};
  return {how, "namzu-sandboxes"};
}

std::vector<json> shipped_bodies() {
  return {test::shipped("ValidatingAdmissionPolicy", "namzu-per-sandbox-egress"),
          test::shipped("ValidatingAdmissionPolicyBinding", "namzu-per-sandbox-egress-binding"),
          test::shipped("ValidatingAdmissionPolicy", "namzu-per-sandbox-egress-hosts"),
          test::shipped("ValidatingAdmissionPolicyBinding", "namzu-per-sandbox-egress-hosts-binding")};
}

enum which : std::size_t { policy, binding, companion, companion_binding };

std::vector<json> with(which object, const std::function<void(json&)>& change) {
  auto got = shipped_bodies();
  change(got.at(object));
  return got;
}

/// The word for what is wrong and the name of the object; "passes" where nothing is.
std::string problem_of(const fence_question& asked, const std::vector<json>& bodies) {
  const auto got = judge_fence(asked, bodies);
  if (got)
    return "passes";
  const auto* no = std::get_if<fence_not_enforcing>(&got.error());
  REQUIRE(no != nullptr);
  CHECK(!no->reason.empty());
  return no->problem + " of " + no->object.name;
}

std::string problem_after(which object, const std::function<void(json&)>& change) {
  return problem_of(shipped_question(), with(object, change));
}

const std::string of_policy = " of namzu-per-sandbox-egress";
const std::string of_binding = " of namzu-per-sandbox-egress-binding";
const std::string of_companion = " of namzu-per-sandbox-egress-hosts";
const std::string of_companion_binding = " of namzu-per-sandbox-egress-hosts-binding";

std::function<void(json&)> condition(std::string expression) {
  return [=](json& x) { x["spec"]["matchConditions"][0]["expression"] = expression; };
}

std::function<void(json&)> set(const char* pointer, json value) {
  return [=](json& x) { x[json::json_pointer{pointer}] = value; };
}

std::function<void(json&)> drop(const char* parent, const char* name) {
  return [=](json& x) { x[json::json_pointer{parent}].erase(name); };
}

} // namespace

SCENARIO("the fence is read object by object, the companion only where hosts are permitted by a ConfigMap") {
  auto asked = shipped_question();
  auto names = std::vector<std::string>{};
  for (const auto& x : fence_objects(asked.how))
    names.push_back(x.kind + " " + x.path);
  const auto at = std::string{"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"};
  CHECK_EQ(names, (std::vector<std::string>{
                    "ValidatingAdmissionPolicy " + at + "ies/namzu-per-sandbox-egress",
                    "ValidatingAdmissionPolicyBinding " + at + "ybindings/namzu-per-sandbox-egress-binding",
                    "ValidatingAdmissionPolicy " + at + "ies/namzu-per-sandbox-egress-hosts",
                    "ValidatingAdmissionPolicyBinding " + at + "ybindings/namzu-per-sandbox-egress-hosts-binding",
                  }));
  asked.how.admission_policy_binding_name = "another";
  CHECK_EQ(fence_objects(asked.how)[1].name, "another");
  CHECK_EQ(fence_objects(asked.how)[3].name, "namzu-per-sandbox-egress-hosts-binding");
  asked.how.permitted_hosts_param.reset();
  CHECK_EQ(fence_objects(asked.how).size(), 2u);
}

// [E 200]
SCENARIO("the shipped fence passes") {
  auto asked = shipped_question();
  CHECK_EQ(problem_of(asked, shipped_bodies()), "passes");
  asked.how.permitted_hosts_param.reset();
  CHECK_EQ(problem_of(asked, {shipped_bodies()[0], shipped_bodies()[1]}), "passes");
}

// -- whom it bounds ----------------------------------------------------------------

// [E 184] [E 188]
SCENARIO("a condition that means the host's user is accepted however it is written") {
  const auto texts = std::vector<std::string>{
    "request.userInfo.username == '" + host_user + "'",
    "request.userInfo.username == \"" + host_user + "\"",
    "request.userInfo.username=='" + host_user + "'",
    "  request.userInfo.username\n    ==\t'" + host_user + "'\n",
  };
  for (const auto& text : texts) {
    MESSAGE(text);
    CHECK_EQ(problem_after(policy, condition(text)), "passes");
  }
}

// [E 188]
SCENARIO("a second condition could exempt the host") {
  CHECK_EQ(problem_after(policy,
                         [](json& x) {
                           x["spec"]["matchConditions"].push_back({{"name", "and"}, {"expression", "true"}});
                         }),
           "host-identity" + of_policy);
}

SCENARIO("a condition that means anything else is refused") {
  const auto texts = std::vector<std::string>{
    "request.userInfo.username == 'system:serviceaccount:namzu-sandboxes:other'",
    "request.userInfo.username == '" + host_user + "' && false",
    "request.userInfo.username == '" + host_user + "\"",
    "request.userInfo.username != '" + host_user + "'",
    "request.userInfo.username == '" + host_user + " '",
    "request.userInfo.username == ''",
    "'" + host_user + "' == request.userInfo.username",
    "true",
    "",
  };
  for (const auto& text : texts) {
    MESSAGE(text);
    CHECK_EQ(problem_after(policy, condition(text)), "host-identity" + of_policy);
    CHECK_EQ(problem_after(companion, condition(text)), "host-identity" + of_companion);
  }
  CHECK_EQ(problem_after(policy, set("/spec/matchConditions/0/expression", 1)), "host-identity" + of_policy);
  CHECK_EQ(problem_after(policy, set("/spec/matchConditions", json::array())), "host-identity" + of_policy);
  CHECK_EQ(problem_after(policy, set("/spec/matchConditions", json::object())), "host-identity" + of_policy);
}

// -- what the companion takes for permitted ----------------------------------------------

SCENARIO("the companion's binding must take exactly the configured ConfigMap, and refuse without it") {
  CHECK_EQ(problem_after(companion_binding, set("/spec/paramRef/name", "other")), "param-ref" + of_companion_binding);
  CHECK_EQ(problem_after(companion_binding, set("/spec/paramRef/namespace", "other")), "param-ref" + of_companion_binding);
  CHECK_EQ(problem_after(companion_binding, set("/spec/paramRef/parameterNotFoundAction", "Allow")), "param-ref" + of_companion_binding);
  CHECK_EQ(problem_after(companion_binding, drop("/spec/paramRef", "parameterNotFoundAction")), "param-ref" + of_companion_binding);
  CHECK_EQ(problem_after(companion_binding, set("/spec/paramRef/selector", json::object())), "param-ref" + of_companion_binding);
  CHECK_EQ(problem_after(companion_binding, drop("/spec", "paramRef")), "param-ref" + of_companion_binding);
  CHECK_EQ(problem_after(companion_binding, set("/spec/policyName", "namzu-per-sandbox-egress")), "policy-name" + of_companion_binding);
  CHECK_EQ(problem_after(companion, set("/spec/paramKind/kind", "Secret")), "param-kind" + of_companion);
  CHECK_EQ(problem_after(companion, drop("/spec", "paramKind")), "param-kind" + of_companion);
  auto lax = shipped_question();
  lax.structural_checks = false;
  CHECK_EQ(problem_of(lax, with(companion_binding, set("/spec/paramRef/name", "other"))), "param-ref" + of_companion_binding);
}

// -- whether it enforces at all -------------------------------------------------------------

// [E 199]
SCENARIO("without the structural checks objects that say nothing pass, unless they have to name somebody or something") {
  auto lax = fence_question{per_sandbox_egress{"namzu-per-sandbox-egress"}, "namzu-sandboxes", false};
  const auto nothing = std::vector<json>{json::object(), json::object()};
  CHECK_EQ(problem_of(lax, nothing), "passes");
  lax.structural_checks = true;
  CHECK_EQ(problem_of(lax, nothing), "unreadable-object" + of_policy);
  lax.structural_checks = false;
  lax.how.host_identity = host_user;
  CHECK_EQ(problem_of(lax, nothing), "host-identity" + of_policy);
  lax.how.host_identity.reset();
  lax.how.permitted_hosts_param = object_reference{"sandbox-permitted-hosts", "platform"};
  CHECK_EQ(problem_of(lax, std::vector<json>(4, json::object())), "param-kind" + of_companion);
}

SCENARIO("an object that cannot be read or is going enforces nothing") {
  for (const auto& body : {json(nullptr), json("x"), json::array(), json::object(), json{{"spec", nullptr}}, json{{"spec", "x"}}}) {
    auto bodies = shipped_bodies();
    bodies[binding] = body;
    CHECK_EQ(problem_of(shipped_question(), bodies), "unreadable-object" + of_binding);
  }
  CHECK_EQ(problem_after(policy, set("/metadata/deletionTimestamp", "2026-01-02T03:04:05Z")), "unreadable-object" + of_policy);
}

// [E 196]
SCENARIO("a policy that lets through what it cannot evaluate is refused") {
  CHECK_EQ(problem_after(policy, set("/spec/failurePolicy", "Ignore")), "failure-policy" + of_policy);
  CHECK_EQ(problem_after(companion, set("/spec/failurePolicy", "Ignore")), "failure-policy" + of_companion);
  CHECK_EQ(problem_after(policy, drop("/spec", "failurePolicy")), "passes"); // Fail is the default
}

// [E 197]
SCENARIO("a policy must be about every write of the host") {
  const auto rules = "/spec/matchConstraints/resourceRules";
  const auto no = "match-constraints" + of_policy;
  CHECK_EQ(problem_after(policy, set("/spec/matchConstraints/resourceRules/0/operations", {"CREATE", "UPDATE"})), no);
  CHECK_EQ(problem_after(policy, set("/spec/matchConstraints/resourceRules/0/operations", {"CREATE", "DELETE"})), no);
  CHECK_EQ(problem_after(policy, set("/spec/matchConstraints/resourceRules/0/operations", {"*"})), "passes");
  CHECK_EQ(problem_after(companion, set("/spec/matchConstraints/resourceRules/0/operations", {"CREATE"})),
           "match-constraints" + of_companion);
  CHECK_EQ(problem_after(policy, set("/spec/matchConstraints/resourceRules/0/apiGroups", {"networking.k8s.io"})), no);
  CHECK_EQ(problem_after(policy, set("/spec/matchConstraints/resourceRules/0/apiVersions", {"v1"})), no);
  CHECK_EQ(problem_after(policy, set("/spec/matchConstraints/resourceRules/0/resources", {"ciliumnetworkpolicies/status"})), no);
  CHECK_EQ(problem_after(policy, set("/spec/matchConstraints/resourceRules/0/resourceNames", {"one"})), no);
  CHECK_EQ(problem_after(policy, set("/spec/matchConstraints/resourceRules/0/scope", "Cluster")), no);
  CHECK_EQ(problem_after(policy, set("/spec/matchConstraints/resourceRules/0/scope", "Namespaced")), "passes");
  CHECK_EQ(problem_after(policy, set(rules, "x")), no);
  CHECK_EQ(problem_after(policy, drop("/spec", "matchConstraints")), no);
  // Several rules together may say it.
  CHECK_EQ(problem_after(policy,
                         [&](json& x) {
                           auto& all = x[json::json_pointer{rules}];
                           all.push_back(all[0]);
                           all[0]["operations"] = {"DELETE"};
                           all[1]["operations"] = {"CREATE", "UPDATE"};
                           all[1]["resources"] = {"*/*"};
                         }),
           "passes");
}

SCENARIO("a policy that leaves something out is refused") {
  const auto no = "match-constraints" + of_policy;
  CHECK_EQ(problem_after(policy, set("/spec/matchConstraints/objectSelector", {{"matchLabels", {{"a", "b"}}}})), no);
  CHECK_EQ(problem_after(policy, set("/spec/matchConstraints/objectSelector", {{"matchLabels", json::object()}})), "passes");
  CHECK_EQ(problem_after(policy, set("/spec/matchConstraints/excludeResourceRules", json::array({json::object()}))), no);
  CHECK_EQ(problem_after(policy, set("/spec/matchConstraints/excludeResourceRules", json::array())), "passes");
  CHECK_EQ(problem_after(policy, set("/spec/matchConstraints/namespaceSelector", {{"matchLabels", {{"team", "x"}}}})), no);
}

SCENARIO("a policy without validations is refused") {
  for (const auto& none : {json::array(), json(nullptr), json("x")})
    CHECK_EQ(problem_after(policy, set("/spec/validations", none)), "validations" + of_policy);
}

// [E 194]
SCENARIO("a binding that only warns is refused") {
  CHECK_EQ(problem_after(binding, set("/spec/validationActions", {"Warn"})), "validation-actions" + of_binding);
  CHECK_EQ(problem_after(binding, set("/spec/validationActions", "Deny")), "validation-actions" + of_binding);
  CHECK_EQ(problem_after(binding, set("/spec/validationActions", {"Audit", "Deny"})), "passes");
}

// [E 195]
SCENARIO("a binding of another policy is refused") {
  CHECK_EQ(problem_after(binding, set("/spec/policyName", "another")), "policy-name" + of_binding);
  CHECK_EQ(problem_after(binding, drop("/spec", "policyName")), "policy-name" + of_binding);
}

SCENARIO("a binding that lets writes through without its parameter is refused") {
  const auto with_param = [](json action) {
    return set("/spec/paramRef", {{"name", "limits"}, {"namespace", "platform"}, {"parameterNotFoundAction", std::move(action)}});
  };
  CHECK_EQ(problem_after(binding, with_param("Allow")), "param-ref" + of_binding);
  CHECK_EQ(problem_after(binding, with_param(nullptr)), "param-ref" + of_binding);
  CHECK_EQ(problem_after(binding, with_param("Deny")), "passes");
}

// [E 198]
SCENARIO("a binding must be known to reach the namespace of the sandboxes") {
  const auto no = "match-resources" + of_binding;
  const auto name = "kubernetes.io/metadata.name";
  const auto at = "/spec/matchResources/namespaceSelector";
  const auto in = [&](json values) { return json{{"matchExpressions", {{{"key", name}, {"operator", "In"}, {"values", values}}}}}; };
  CHECK_EQ(problem_after(binding, set(at, {{"matchLabels", {{name, "other"}}}})), no);
  CHECK_EQ(problem_after(binding, set(at, {{"matchLabels", {{"team", "sandboxes"}}}})), no);
  CHECK_EQ(problem_after(binding, set(at, {{"matchLabels", {{name, "namzu-sandboxes"}, {"team", "sandboxes"}}}})), no);
  CHECK_EQ(problem_after(binding, set(at, {{"matchExpressions", {{{"key", "team"}, {"operator", "DoesNotExist"}}}}})), no);
  CHECK_EQ(problem_after(binding, set(at, in({"a", "b"}))), no);
  CHECK_EQ(problem_after(binding, set(at, in("namzu-sandboxes"))), no);
  CHECK_EQ(problem_after(binding, set(at, in({"a", "namzu-sandboxes"}))), "passes");
  CHECK_EQ(problem_after(binding, set(at, json::object())), "passes");
  CHECK_EQ(problem_after(binding, drop("/spec", "matchResources")), "passes");
  CHECK_EQ(problem_after(binding, set("/spec/matchResources/objectSelector", {{"matchLabels", {{"a", "b"}}}})), no);
  CHECK_EQ(problem_after(binding, set("/spec/matchResources/excludeResourceRules", json::array({json::object()}))), no);
  CHECK_EQ(problem_after(binding, set("/spec/matchResources/resourceRules", {{{"apiGroups", {"cilium.io"}}}})), no);
  CHECK_EQ(problem_after(binding, set("/spec/matchResources/resourceRules", json::array())), "passes");
}

SCENARIO("what a status says is not looked at") {
  CHECK_EQ(problem_after(policy, set("/status", {{"observedGeneration", 0}, {"typeChecking", {{"expressionWarnings", {json::object()}}}}})),
           "passes");
}

SCENARIO("of what the shipped objects say about when they hold, this much may be missing, and no more") {
  const auto bodies = shipped_bodies();
  auto missing = std::vector<std::string>{};
  for (auto i = std::size_t{0}; i < bodies.size(); ++i) {
    const auto flat = bodies[i]["spec"].flatten();
    for (const auto& x : flat.items()) {
      const auto& at = x.key();
      const auto path = json::json_pointer{"/spec" + at};
      if (at.starts_with("/variables") || at.starts_with("/validations/"))
        continue; // what they say is tried against a server
      auto changed = bodies;
      auto& parent = changed[i][path.parent_pointer()];
      if (parent.is_array())
        parent.erase(std::stoul(path.back()));
      else
        parent.erase(path.back());
      if (judge_fence(shipped_question(), changed))
        missing.push_back(std::to_string(i) + path.to_string());
    }
  }
  CHECK_EQ(missing, (std::vector<std::string>{"0/spec/failurePolicy", "0/spec/matchConditions/0/name",
                                              "1/spec/matchResources/namespaceSelector/matchLabels/kubernetes.io~1metadata.name",
                                              "2/spec/failurePolicy", "2/spec/matchConditions/0/name",
                                              "3/spec/matchResources/namespaceSelector/matchLabels/kubernetes.io~1metadata.name"}));
}
