#define CAF_SUITE admission_policies

#include "embedded/admission_policy.hpp"
#include "gated_world.hpp"
#include "tests/support/check_json.hpp"

#include <memory>

// Which writes a policy is about, and what is wrong with a policy. Texts are those of a real kube-apiserver 1.36.

using namespace paddock;
using namespace paddock::embedded;
using paddock::test::gated_world;

namespace {

const std::string admission = "/apis/admissionregistration.k8s.io/v1/";
const std::string policies = admission + "validatingadmissionpolicies";
const std::string bindings = admission + "validatingadmissionpolicybindings";
const std::string maps = "/api/v1/namespaces/default/configmaps";
constexpr auto merge = "application/merge-patch+json";

json rule(json extra = json::object()) {
  json out{{"apiGroups", {"*"}}, {"apiVersions", {"*"}}, {"operations", {"*"}}, {"resources", {"*"}}};
  out.update(extra);
  return out;
}

json match_of(const json& one) {
  return {{"resourceRules", json::array({one})}};
}

json policy_of(const std::string& name, const json& match, const json& extra = json::object()) {
  json spec{{"matchConstraints", match}, {"validations", json::array({{{"expression", "false"}, {"message", "closed"}}})}};
  spec.update(extra);
  return {{"metadata", {{"name", name}}}, {"spec", spec}};
}

json binding_of(const std::string& name, const json& extra = json::object()) {
  json spec{{"policyName", name}, {"validationActions", {"Deny"}}};
  spec.update(extra);
  return {{"metadata", {{"name", name}}}, {"spec", spec}};
}

json map_of(const std::string& name, const json& labels = json::object()) {
  return {{"metadata", {{"name", name}, {"labels", labels}}}};
}

/// A world with one policy that refuses all that it is about.
struct closed_world : gated_world {
  explicit closed_world(const json& match, const json& binding = json::object()) {
    make(maps, map_of("there"));
    make("/api/v1/namespaces/other/configmaps", map_of("there"));
    make(policies, policy_of("p", match));
    make(bindings, binding_of("p", binding));
  }
  bool refuses(const std::string& method, const std::string& target, const json& body = nullptr,
               const std::string& type = "application/json") {
    return ask(root, method, target, body, type).message().ends_with("denied request: closed");
  }
};

} // namespace

SCENARIO("a policy is about the operations, kinds, names and scope that its rules name") {
  const auto create = [](const json& one) { return closed_world{match_of(rule(one))}.refuses("POST", maps, map_of("m")); };
  CHECK(create(json::object()));
  CHECK(create({{"operations", {"UPDATE", "CREATE"}}}));
  CHECK(!create({{"operations", {"UPDATE", "DELETE"}}}));
  CHECK(create({{"apiGroups", {""}}}));
  CHECK(!create({{"apiGroups", {"apps"}}}));
  CHECK(!create({{"apiVersions", {"v2"}}}));
  CHECK(create({{"resources", {"pods", "configmaps"}}}));
  CHECK(create({{"resources", {"*/*"}}}));
  CHECK(create({{"resources", {"configmaps/*"}}}));
  CHECK(!create({{"resources", {"configmaps/status", "*/status"}}}));
  CHECK(create({{"resourceNames", {"m"}}}));
  CHECK(!create({{"resourceNames", {"n"}}}));
  CHECK(create({{"scope", "Namespaced"}}));
  CHECK(!create({{"scope", "Cluster"}}));
}

SCENARIO("a policy is not about what its rules exclude") {
  auto match = match_of(rule());
  match["excludeResourceRules"] = json::array({rule({{"resourceNames", {"m"}}})});
  closed_world w{match};
  CHECK(!w.refuses("POST", maps, map_of("m")));
  CHECK(w.refuses("POST", maps, map_of("n")));
}

SCENARIO("every way of writing is put to a policy, and reading is not") {
  closed_world w{match_of(rule())};
  CHECK(w.refuses("POST", maps, map_of("m")));
  CHECK(w.refuses("POST", maps + "?dryRun=All", map_of("m")));
  CHECK(w.refuses("PUT", maps + "/there", map_of("there", {{"a", "b"}})));
  CHECK(w.refuses("PATCH", maps + "/there", {{"data", {{"a", "b"}}}}, merge));
  CHECK(w.refuses("DELETE", maps + "/there"));
  CHECK_EQ(w.ask(w.root, "GET", maps + "/there").status, 200u);
  // The object is as it was, and the refusal comes before "already exists" and after "not found".
  CHECK(!w.ask(w.root, "GET", maps + "/there").body.contains("data"));
  CHECK(w.refuses("POST", maps, map_of("there")));
  CHECK_EQ(w.ask(w.root, "DELETE", maps + "/absent").status, 404u);
}

SCENARIO("a status is a resource of its own to a policy") {
  const std::string pods = "/api/v1/namespaces/default/pods";
  const json pod{{"metadata", {{"name", "p"}}}, {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
  const json ready{{"status", {{"phase", "Running"}}}};
  closed_world w{match_of(rule({{"resources", {"pods/status"}}}))};
  w.make(pods, pod);
  CHECK(w.refuses("PATCH", pods + "/p/status", ready, merge));
  closed_world other{match_of(rule({{"resources", {"pods"}}, {"operations", {"UPDATE"}}}))};
  other.make(pods, pod);
  CHECK_EQ(other.ask(other.root, "PATCH", pods + "/p/status", ready, merge).status, 200u);
}

SCENARIO("selectors choose by the labels of the namespace, and of the object before or after") {
  auto match = match_of(rule());
  match["namespaceSelector"] = {{"matchLabels", {{"kubernetes.io/metadata.name", "other"}}}};
  closed_world elsewhere{match};
  CHECK(!elsewhere.refuses("POST", maps, map_of("m")));
  CHECK(elsewhere.refuses("POST", "/api/v1/namespaces/other/configmaps", map_of("m")));
  auto labelled = match_of(rule());
  labelled["objectSelector"] = {{"matchExpressions", json::array({{{"key", "guarded"}, {"operator", "Exists"}}})}};
  closed_world w{labelled};
  CHECK(!w.refuses("PUT", maps + "/there", map_of("there", {{"a", "b"}})));
  CHECK(w.refuses("PUT", maps + "/there", map_of("there", {{"guarded", "yes"}})));
  CHECK(w.refuses("POST", maps, map_of("m", {{"guarded", ""}})));
}

SCENARIO("a label that guards an object cannot be taken off it") {
  gated_world w;
  w.make(maps, map_of("m", {{"guarded", "yes"}}));
  auto match = match_of(rule());
  match["objectSelector"] = {{"matchLabels", {{"guarded", "yes"}}}};
  w.make(policies, policy_of("p", match));
  w.make(bindings, binding_of("p"));
  CHECK_EQ(w.ask(w.root, "PUT", maps + "/m", map_of("m")).status, 422u);
  CHECK_EQ(w.ask(w.root, "DELETE", maps + "/m").status, 422u);
}

SCENARIO("a binding narrows what its policy is about, and without one a policy does nothing") {
  closed_world w{match_of(rule()), {{"matchResources", match_of(rule({{"operations", {"DELETE"}}}))}}};
  CHECK(!w.refuses("POST", maps, map_of("m")));
  CHECK(w.refuses("DELETE", maps + "/m"));
  REQUIRE_EQ(w.ask(w.root, "DELETE", bindings + "/p").status, 200u);
  CHECK(!w.refuses("DELETE", maps + "/m"));
}

SCENARIO("a policy that refuses everything can still be removed") {
  closed_world w{match_of(rule())};
  CHECK(w.refuses("DELETE", maps + "/there"));
  REQUIRE_EQ(w.ask(w.root, "DELETE", policies + "/p").status, 200u);
  CHECK(!w.refuses("DELETE", maps + "/there"));
}

SCENARIO("the first refusal in the order of names is told, and every warning") {
  gated_world w;
  for (const auto* name : {"b", "a", "c"}) {
    w.make(policies, policy_of(name, match_of(rule()), {{"validations", json::array({{{"expression", "false"}, {"message", name}}})}}));
    w.make(bindings, binding_of(name, {{"validationActions", {*name == 'c' ? "Warn" : "Deny"}}}));
  }
  const auto got = w.ask(w.root, "POST", maps, map_of("m"));
  CHECK_EQ(got.message(), "configmaps \"m\" is forbidden: ValidatingAdmissionPolicy 'a' with binding 'a' denied request: a");
  CHECK_JSON(got.body["details"]["causes"],
             json::array({{{"message", "ValidatingAdmissionPolicy 'a' with binding 'a' denied request: a"}}}));
  REQUIRE_EQ(w.ask(w.root, "DELETE", policies + "/a").status, 200u);
  REQUIRE_EQ(w.ask(w.root, "DELETE", policies + "/b").status, 200u);
  const auto warned = w.ask(w.root, "POST", maps, map_of("m"));
  CHECK_EQ(warned.status, 201u);
  REQUIRE_EQ(warned.warnings.size(), 1u);
  CHECK_EQ(warned.warnings[0], "299 - \"Validation failed for ValidatingAdmissionPolicy 'c' with binding 'c': c\"");
}

SCENARIO("an expression outside the subset is reported in the status, and refuses unless failures are ignored") {
  gated_world w;
  const json outside{{"validations", json::array({{{"expression", "quantity(object.data.size).isLessThan(quantity('1Gi'))"}}})}};
  w.make(policies, policy_of("p", match_of(rule()), outside));
  w.make(bindings, binding_of("p"));
  const auto status = w.ask(w.root, "GET", policies + "/p").body["status"];
  CHECK_EQ(status["observedGeneration"].get<int>(), 1);
  REQUIRE_EQ(status["typeChecking"]["expressionWarnings"].size(), 1u);
  CHECK_EQ(text_at(status["typeChecking"]["expressionWarnings"][0], {"fieldRef"}), "spec.validations[0].expression");
  const auto refused = w.ask(w.root, "POST", maps, map_of("m"));
  CHECK_EQ(refused.status, 422u);
  CHECK_NE(refused.message().find("is outside the supported subset"), std::string::npos);
  REQUIRE_EQ(w.ask(w.root, "PATCH", policies + "/p", {{"spec", {{"failurePolicy", "Ignore"}}}}, merge).status, 200u);
  CHECK_EQ(w.ask(w.root, "GET", policies + "/p").body["status"]["observedGeneration"].get<int>(), 2);
  CHECK_EQ(w.ask(w.root, "POST", maps, map_of("m")).status, 201u);
}

SCENARIO("a kind of parameters that is not served refuses as a failure") {
  gated_world w;
  w.make(policies, policy_of("p", match_of(rule()), {{"paramKind", {{"apiVersion", "nope.io/v1"}, {"kind", "Foo"}}}}));
  w.make(bindings, binding_of("p", {{"paramRef", {{"name", "x"}, {"namespace", "default"}, {"parameterNotFoundAction", "Allow"}}}}));
  CHECK_EQ(
    w.ask(w.root, "POST", maps, map_of("m")).message(),
    "configmaps \"m\" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource "
    "referenced by paramKind: 'nope.io/v1, Kind=Foo'");
}

SCENARIO("each object that a selector of parameters chooses is asked about") {
  gated_world w;
  w.make(maps, map_of("one", {{"limits", "yes"}}));
  w.make(maps, map_of("two", {{"limits", "yes"}}));
  const json names{
    {"paramKind", {{"apiVersion", "v1"}, {"kind", "ConfigMap"}}},
    {"validations", json::array({{{"expression", "object.metadata.name != params.metadata.name + '-copy'"}, {"message", "a copy"}}})}};
  w.make(policies, policy_of("p", match_of(rule()), names));
  w.make(bindings,
         binding_of("p", {{"paramRef", {{"selector", {{"matchLabels", {{"limits", "yes"}}}}}, {"parameterNotFoundAction", "Deny"}}}}));
  CHECK_EQ(w.ask(w.root, "POST", maps, map_of("two-copy")).status, 422u);
  CHECK_EQ(w.ask(w.root, "POST", maps, map_of("one-copy")).status, 422u);
  CHECK_EQ(w.ask(w.root, "POST", maps, map_of("three")).status, 201u);
}

// -- variables ----------------------------------------------------------------------------------------------------

namespace {

/// A world with one policy about config maps, which has these variables and this validation.
struct variable_world : gated_world {
  variable_world(const json& variables, const std::string& expression) {
    const json spec{{"variables", variables}, {"validations", json::array({{{"expression", expression}}})}};
    made = ask(root, "POST", policies, policy_of("p", match_of(rule()), spec));
    make(bindings, binding_of("p"));
    said = ask(root, "POST", maps, map_of("m"));
  }
  reply made;
  reply said; // to a write
};

json variable(const std::string& name, const std::string& expression) {
  return {{"name", name}, {"expression", expression}};
}

} // namespace

SCENARIO("a variable sees those before it, and never itself or one after it") {
  for (const auto* name : {"v", "later"}) {
    const variable_world w{{variable("v", "variables." + std::string{name}), variable("later", "1")}, "true"};
    CHECK_EQ(w.made.status, 422u);
    CHECK_NE(w.made.message().find("undefined field '" + std::string{name} + "'"), std::string::npos);
  }
  // Of two with the same name the later one hides the earlier from there on.
  CHECK_EQ(variable_world({variable("v", "1"), variable("v", "variables.v + 1")}, "variables.v == 2").said.status, 201u);
  CHECK_EQ(variable_world({variable("v", "1"), variable("w", "variables.v + 1"), variable("v", "variables.w + 1")},
                          "variables.v == 3 && variables.w == 2")
             .said.status,
           201u);
}

SCENARIO("a variable is there unless it cannot be evaluated, and the variables are no value of their own") {
  const auto said = [](const std::string& expression) {
    return variable_world({variable("v", "'x'"), variable("bad", "object.nothing == 1")}, expression).said;
  };
  CHECK_EQ(said("has(variables.v) && variables.?v.orValue('') == 'x' && optional.of(variables.v) == variables.?v").status, 201u);
  for (const auto* expression : {"has(variables.bad)", "variables.?bad.hasValue()"})
    CHECK_NE(said(expression).message().find("composited variable \"bad\" fails to evaluate: no such key: nothing"), std::string::npos);
  for (const auto* expression : {"variables == variables", "variables['v'] == 'x'", "[variables].size() == 1", "variables.all(x, true)"})
    CHECK_NE(said(expression).message().find("is outside the supported subset"), std::string::npos);
  CHECK_EQ(said("[{'v': 1}].all(variables, variables.v == 1 && has(variables.v))").status, 201u);
}

SCENARIO("how deep variables lead into one another is bounded") {
  auto chain = json::array({variable("v0", "true")});
  for (int i = 1; i < 1'000; ++i)
    chain.push_back(variable("v" + std::to_string(i), std::string(100, '!') + "variables.v" + std::to_string(i - 1)));
  const variable_world deep{chain, "variables.v999"};
  CHECK_EQ(deep.made.status, 201u);
  CHECK_NE(deep.said.message().find("expression nests deeper than 400 with the variables that it names"), std::string::npos);
  CHECK_EQ(variable_world(chain, "variables.v3").said.status, 201u);
}

SCENARIO("the type of a variable does not grow without bound") {
  auto chain = json::array({variable("v0", "1")});
  for (int i = 1; i < 40; ++i) {
    const auto before = "variables.v" + std::to_string(i - 1);
    chain.push_back(variable("v" + std::to_string(i), "{" + before + ": " + before + "}"));
  }
  const variable_world w{chain, "variables.v39 == {}"};
  CHECK_EQ(w.made.status, 201u);
  CHECK_NE(w.said.message().find("type with more than 256 parts"), std::string::npos);
}

SCENARIO("a variable that is used again is not evaluated again") {
  std::string numbers = "0";
  for (int i = 0; i < 400; ++i)
    numbers += ",0";
  // Once it takes 325000 steps.
  auto all = json::array({variable("v", "[[" + numbers + "]].all(x, x.all(a, x.all(b, true)))")});
  std::string expression = "true";
  for (int i = 0; i < 20; ++i) {
    all.push_back(variable("w" + std::to_string(i), "variables.v"));
    expression += " && variables.w" + std::to_string(i) + " && variables.v";
  }
  CHECK_EQ(variable_world(all, expression).said.status, 201u);
}

// -- budget and parameters ----------------------------------------------------------------------------------------

SCENARIO("all parameters and bindings of a policy share what it may cost") {
  std::string numbers = "0";
  for (int i = 0; i < 100; ++i)
    numbers += ",0";
  const json costly{{"paramKind", {{"apiVersion", "v1"}, {"kind", "ConfigMap"}}},
                    {"validations", json::array({{{"expression", "[[" + numbers + "]].all(x, x.all(a, x.all(b, true)))"}}})}};
  const json chosen{{"paramRef", {{"selector", {{"matchLabels", {{"limits", "yes"}}}}}, {"parameterNotFoundAction", "Deny"}}}};
  const auto world = [&](int params, int bound) {
    auto w = std::make_unique<gated_world>();
    for (int i = 0; i < params; ++i)
      w->make(maps, map_of("param" + std::to_string(i), {{"limits", "yes"}}));
    w->make(policies, policy_of("p", match_of(rule()), costly));
    for (int i = 0; i < bound; ++i) {
      auto binding = binding_of("p", chosen);
      binding["metadata"]["name"] = "b" + std::to_string(i);
      w->make(bindings, binding);
    }
    return w->ask(w->root, "POST", maps, map_of("m"));
  };
  const std::string out = "denied request: validation failed due to running out of cost budget, no further validation rules will be run";
  CHECK_EQ(world(10, 2).status, 201u);
  CHECK(world(100, 1).message().ends_with(out));
  CHECK(world(10, 10).message().ends_with(out));
}

SCENARIO("a binding whose parameters cannot be had refuses, whatever its actions are") {
  const auto said = [](const std::string& kind, const json& ref, const std::string& action, const std::string& failure = "Fail") {
    gated_world w;
    w.make(policies, policy_of("p", match_of(rule()),
                               {{"paramKind", {{"apiVersion", "v1"}, {"kind", kind}}},
                                {"failurePolicy", failure},
                                {"validations", json::array({{{"expression", "true"}}})}}));
    w.make(bindings, binding_of("p", {{"paramRef", ref}, {"validationActions", {action}}}));
    return w.ask(w.root, "POST", maps, map_of("m"));
  };
  const std::string head = "configmaps \"m\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: failed to "
                           "configure binding: ";
  const json absent{{"name", "absent"}, {"namespace", "default"}, {"parameterNotFoundAction", "Deny"}};
  for (const auto* action : {"Deny", "Warn", "Audit"}) {
    const auto got = said("ConfigMap", absent, action);
    CHECK_EQ(got.status, 422u);
    CHECK_EQ(got.message(), head + "no params found for policy binding with `Deny` parameterNotFoundAction");
    CHECK_EQ(said("ConfigMap", absent, action, "Ignore").status, 201u);
  }
  const json wrong{{"name", "default"}, {"namespace", "default"}, {"parameterNotFoundAction", "Allow"}};
  CHECK_EQ(said("Namespace", wrong, "Warn").message(), head + "paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  CHECK_EQ(said("Namespace", {{"name", "default"}, {"parameterNotFoundAction", "Allow"}}, "Warn").status, 201u);
  auto allowed = absent;
  allowed["parameterNotFoundAction"] = "Allow";
  CHECK_EQ(said("ConfigMap", allowed, "Deny").status, 201u);
  // What cannot be read as a selector is refused when it is written, and would not choose everything if it were there.
  gated_world w;
  for (const auto& selector : {json{{"matchLabels", {{"a b", "c"}}}}, json(nullptr)}) {
    const json ref{{"selector", selector}, {"parameterNotFoundAction", "Allow"}};
    CHECK_EQ(w.ask(w.root, "POST", bindings, binding_of("p", {{"paramRef", ref}})).status, 422u);
    const auto read = read_policy_binding(binding_of("p", {{"paramRef", ref}}));
    CHECK(!read.params->selector || !read.params->selector->has_value());
  }
}

SCENARIO("warnings are bounded in number and size") {
  gated_world w;
  const auto warnings = [&](const std::string& name, int number, std::size_t length) {
    auto all = json::array();
    for (int i = 0; i < number; ++i) {
      std::string message = std::to_string(i) + " ";
      while (message.size() < length)
        message += "é";
      all.push_back({{"expression", "false"}, {"message", message}});
    }
    w.make(policies, policy_of(name, match_of(rule()), {{"validations", all}}));
    w.make(bindings, binding_of(name, {{"validationActions", {"Warn"}}}));
    const auto got = w.ask(w.root, "POST", maps + "?dryRun=All", map_of("m"));
    REQUIRE_EQ(w.ask(w.root, "DELETE", bindings + "/" + name).status, 200u);
    CHECK_EQ(got.status, 201u);
    return got.warnings;
  };
  CHECK_EQ(warnings("few", 10, 600).size(), 10u);
  CHECK_EQ(warnings("short", 20, 10).size(), 20u);
  const auto cut = warnings("many", 1'000, 2'000);
  CHECK_EQ(cut.size(), 16u); // of 256 characters each
  for (const auto& x : cut) {
    CHECK_EQ(characters(x), 256 + std::string_view{"299 - \"\""}.size());
    CHECK(x.ends_with("é\""));
  }
}

// -- what is wrong with a policy ------------------------------------------------------------------------------------

SCENARIO("a policy that makes no sense is refused, every fault named") {
  gated_world w;
  const auto message = [&](const json& spec) {
    const auto got = w.ask(w.root, "POST", policies, {{"metadata", {{"name", "p"}}}, {"spec", spec}});
    CHECK_EQ(got.status, 422u);
    return got.message();
  };
  const std::string head = "ValidatingAdmissionPolicy.admissionregistration.k8s.io \"p\" is invalid: ";
  const auto valid = json::array({{{"expression", "true"}}});
  CHECK_EQ(message({{"validations", valid}}), head + "spec.matchConstraints: Required value");
  CHECK_EQ(message({{"matchConstraints", match_of(rule())}}),
           head
             + "[spec.validations: Required value: validations or auditAnnotations must contain at least one item, "
               "spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item]");
  CHECK_EQ(message({{"matchConstraints", match_of(rule({{"apiGroups", json::array()}, {"operations", {"FOO"}}, {"scope", "X"}}))},
                    {"validations", valid},
                    {"paramKind", {{"apiVersion", ""}, {"kind", ""}}},
                    {"matchConditions", json::array({{{"name", ""}, {"expression", "object.x"}},
                                                     {{"name", "a"}, {"expression", ""}},
                                                     {{"name", "a"}, {"expression", "1"}}})}}),
           head
             + "[spec.paramKind.apiVersion: Required value, spec.paramKind.kind: Required value, "
               "spec.matchConstraints.resourceRules[0].operations[0]: Unsupported value: \"FOO\": supported values: \"*\", \"CONNECT\", "
               "\"CREATE\", \"DELETE\", \"UPDATE\", spec.matchConstraints.resourceRules[0].apiGroups: Required value, "
               "spec.matchConstraints.resourceRules[0].scope: Unsupported value: \"X\": supported values: \"*\", \"Cluster\", "
               "\"Namespaced\", spec.matchConditions[0].expression: Invalid value: \"object.x\": must evaluate to bool but got dyn, "
               "spec.matchConditions[0].name: Required value, spec.matchConditions[1].expression: Required value, "
               "spec.matchConditions[2].expression: Invalid value: \"1\": must evaluate to bool but got int, "
               "spec.matchConditions[2].name: Duplicate value: \"a\"]");
  CHECK_EQ(message({{"matchConstraints", match_of(rule())},
                    {"failurePolicy", "Foo"},
                    {"variables", json::array({{{"name", "a b"}, {"expression", "1"}}, {{"name", "c"}, {"expression", "variables.d"}}})},
                    {"validations", valid}}),
           head
             + "[spec.failurePolicy: Unsupported value: \"Foo\": supported values: \"Fail\", \"Ignore\", spec.variables[0].name: Invalid "
               "value: \"a b\": must be a valid CEL identifier, spec.variables[1].expression: Invalid value: \"variables.d\": compilation "
               "failed: ERROR: <input>:1:10: undefined field 'd'\n | variables.d\n | .........^]");
  // What cannot even be read.
  for (const auto& spec : {json{{"validations", "x"}}, json{{"validations", {1}}}, json{{"matchConstraints", json::array()}},
                           json{{"matchConstraints", {{"resourceRules", {{{"operations", {1}}}}}}}}, json{{"variables", {{{"name", 1}}}}}})
    CHECK_EQ(w.ask(w.root, "POST", policies, {{"metadata", {{"name", "p"}}}, {"spec", spec}}).status, 400u);
}

SCENARIO("a binding that makes no sense is refused, every fault named") {
  gated_world w;
  const auto message = [&](const json& spec) {
    const auto got = w.ask(w.root, "POST", bindings, {{"metadata", {{"name", "b"}}}, {"spec", spec}});
    CHECK_EQ(got.status, 422u);
    return got.message();
  };
  const std::string head = "ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io \"b\" is invalid: ";
  CHECK_EQ(message(json::object()), head
                                      + "[spec.policyName: Required value, spec.validationActions: Required value: at least one "
                                        "validation action is required]");
  CHECK_EQ(message({{"policyName", "p"}, {"validationActions", {"Foo", "Deny", "Deny"}}, {"paramRef", json::object()}}),
           head
             + "[spec.paramRef: Required value: one of name or selector must be specified, spec.paramRef.parameterNotFoundAction: "
               "Required value, spec.validationActions[0]: Unsupported value: \"Foo\": supported values: \"Audit\", \"Deny\", \"Warn\", "
               "spec.validationActions[2]: Duplicate value: \"Deny\"]");
  CHECK_EQ(message({{"policyName", "p"}, {"validationActions", {"Deny", "Warn"}}}),
           head
             + "spec.validationActions: Invalid value: [\"Deny\",\"Warn\"]: must not contain both Deny and Warn (repeating the same "
               "validation failure information in the API response and headers serves no purpose)");
}
