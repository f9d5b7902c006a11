#define CAF_SUITE admission_expressions

#include "admission_servers.hpp"

// One policy for each expression, one object for each policy, and what a real kube-apiserver 1.36 said to it. The same
// requests go to the embedded server, and in the test labelled `realcluster` to a real one.

using namespace paddock;
using namespace paddock::embedded;
using paddock::test::either_server;

namespace {

const std::string admission = "/apis/admissionregistration.k8s.io/v1/";
const std::string maps = "/api/v1/namespaces/default/configmaps";

/// With one validation more, which refuses every object that asks whether the policy is there.
json policy_of(const json& one, const std::string& name) {
  json validation = json::object();
  for (const auto* key : {"expression", "message", "messageExpression", "reason"})
    if (one.contains(key))
      validation[key] = one[key];
  json spec{
    {"failurePolicy", one.value("failurePolicy", "Fail")},
    {"matchConstraints",
     {{"objectSelector", {{"matchLabels", {{"case", name}}}}},
      {"resourceRules", {{{"apiGroups", {""}}, {"apiVersions", {"v1"}}, {"operations", {"CREATE"}}, {"resources", {"configmaps"}}}}}}},
    {"validations", {std::move(validation)}}};
  for (const auto* key : {"variables", "matchConditions"})
    if (one.contains(key))
      spec[key] = one[key];
  if (one.contains("param"))
    spec["paramKind"] = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}};
  return {{"metadata", {{"name", name}}}, {"spec", std::move(spec)}};
}

json binding_of(const json& one, const std::string& name) {
  json spec{{"policyName", name}, {"validationActions", one.value("actions", json::array({"Deny"}))}};
  if (const auto param = one.value("param", "none"); param != "none")
    spec["paramRef"] = {{"name", param}, {"namespace", "default"}, {"parameterNotFoundAction", one.value("paramAbsent", "Deny")}};
  return {{"metadata", {{"name", name}}}, {"spec", std::move(spec)}};
}

json object_of(const json& one, const std::string& name) {
  return {{"metadata", {{"name", name}, {"labels", {{"case", name}}}}}, {"data", one.value("data", json::object())}};
}

void check_outcome(const json& wanted, const either_server::reply& got, const std::string& name) {
  CHECK_EQ(got.status, wanted.value("code", 201u));
  if (wanted.contains("denied")) {
    const auto text =
      "configmaps \"" + name + "\" is forbidden: ValidatingAdmissionPolicy '" + name + "' with binding '" + name + "' denied request: ";
    const auto message = got.message().substr(0, (text + wanted["denied"].get<std::string>()).size());
    CHECK_EQ(message, text + wanted["denied"].get<std::string>());
  }
  if (!wanted.contains("warning")) {
    CHECK(got.warnings.empty());
    return;
  }
  REQUIRE_EQ(got.warnings.size(), 1u);
  CHECK_EQ(got.warnings[0], "299 - \"Validation failed for ValidatingAdmissionPolicy '" + name + "' with binding '" + name
                              + "': " + wanted["warning"].get<std::string>() + "\"");
}

} // namespace

SCENARIO("each expression is judged as the real server judges it") {
  either_server server;
  const auto all = test::read_json(PADDOCK_TEST_RECORDINGS "/admission_expressions.json");
  REQUIRE_GT(all.size(), 160u);
  server.make(maps, {{"metadata", {{"name", "present"}}}, {"data", {{"allowed", "alpha beta"}}}});
  std::vector<std::string> names;
  for (const auto& one : all) {
    const auto name = "case" + std::to_string(names.size());
    names.push_back(name);
    const auto& wanted = one["outcome"];
    CAF_MESSAGE(one["name"].get<std::string>() << ": " << one["expression"].get<std::string>());
    const auto got = server.ask("POST", admission + "validatingadmissionpolicies", policy_of(one, name));
    if (!wanted.contains("refused")) {
      CHECK_EQ(got.status, 201u);
      CHECK_EQ(server.ask("POST", admission + "validatingadmissionpolicybindings", binding_of(one, name)).status, 201u);
      continue;
    }
    // The texts of syntax errors are the parser's own: where none is recorded, only the refusal counts.
    CHECK_EQ(got.status, 422u);
    if (const auto text = wanted["refused"].get<std::string>(); !text.empty())
      CHECK_EQ(got.message(), "ValidatingAdmissionPolicy.admissionregistration.k8s.io \"" + name + "\" is invalid: " + text);
  }
  // The last policy to be taken in.
  json last{{"expression", "false"}};
  server.make(admission + "validatingadmissionpolicies", policy_of(last, "last"));
  server.make(admission + "validatingadmissionpolicybindings", binding_of(last, "last"));
  server.wait_for(422, "POST", maps + "?dryRun=All", object_of(last, "last"));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i]["outcome"].contains("refused"))
      continue;
    CAF_MESSAGE(all[i]["name"].get<std::string>());
    check_outcome(all[i]["outcome"], server.ask("POST", maps, object_of(all[i], names[i])), names[i]);
  }
}
