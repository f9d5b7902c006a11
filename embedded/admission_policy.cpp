#include "embedded/admission_policy.hpp"

#include <algorithm>
#include <memory>

namespace paddock::embedded {

namespace {

using fields = std::map<std::string, cel::type, std::less<>>;

bool has(const std::vector<std::string>& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// -- which writes -------------------------------------------------------------------------------------------------

bool fits_resource(const std::vector<std::string>& resources, const access_attributes& what) {
  return std::any_of(resources.begin(), resources.end(), [&](const std::string& x) {
    const auto slash = x.find('/');
    const auto resource = x.substr(0, slash);
    const auto below = slash == std::string::npos ? std::string{} : x.substr(slash + 1);
    return (resource == "*" || resource == what.resource) && ((below == "*" && slash != std::string::npos) || below == what.subresource);
  });
}

bool fits_rule(const write_match::rule& rule, const access_attributes& what, std::string_view operation, std::string_view name,
               bool namespaced) {
  return (has(rule.operations, "*") || has(rule.operations, operation)) && (has(rule.groups, "*") || has(rule.groups, what.group))
         && (has(rule.versions, "*") || has(rule.versions, what.version)) && fits_resource(rule.resources, what)
         && (rule.names.empty() || has(rule.names, name)) && (rule.scope == "*" || (rule.scope == "Namespaced") == namespaced);
}

std::vector<write_match::rule> read_match_rules(const json& from, const char* key) {
  std::vector<write_match::rule> out;
  for (const auto& x : list_at(from, key)) {
    const auto scope = text_at(x, {"scope"});
    out.push_back({texts_of(x, "operations"), texts_of(x, "apiGroups"), texts_of(x, "apiVersions"), texts_of(x, "resources"),
                   texts_of(x, "resourceNames"), scope.empty() ? "*" : scope});
  }
  return out;
}

write_match read_match(const json* from) {
  write_match out;
  if (from == nullptr || !from->is_object())
    return out;
  out.rules = read_match_rules(*from, "resourceRules");
  out.excluded = read_match_rules(*from, "excludeResourceRules");
  const auto selector = [&](const char* key) {
    const auto* x = member(*from, key);
    return x == nullptr ? label_selector{} : read_label_selector(*x).value_or(label_selector{});
  };
  out.namespaces = selector("namespaceSelector");
  out.objects = selector("objectSelector");
  return out;
}

// -- what expressions may name ------------------------------------------------------------------------------------

cel::type named(const char* text) {
  return cel::read_type(text);
}

cel::type request_type() {
  const auto text = named("string");
  const auto kind = cel::object_type(fields{{"group", text}, {"version", text}, {"kind", text}});
  const auto resource = cel::object_type(fields{{"group", text}, {"version", text}, {"resource", text}});
  const auto user = cel::object_type(
    fields{{"username", text}, {"uid", text}, {"groups", named("list(string)")}, {"extra", named("map(string, list(string))")}});
  return cel::object_type(fields{{"uid", text},
                                 {"kind", kind},
                                 {"resource", resource},
                                 {"subResource", text},
                                 {"requestKind", kind},
                                 {"requestResource", resource},
                                 {"requestSubResource", text},
                                 {"name", text},
                                 {"namespace", text},
                                 {"operation", text},
                                 {"userInfo", user},
                                 {"dryRun", named("bool")},
                                 {"options", named("dyn")}});
}

cel::type namespace_type() {
  const auto text = named("string");
  const auto metadata = cel::object_type(fields{{"name", text},
                                                {"generateName", text},
                                                {"namespace", text},
                                                {"labels", named("map(string, string)")},
                                                {"annotations", named("map(string, string)")},
                                                {"UID", text},
                                                {"creationTimestamp", named("dyn")},
                                                {"deletionGracePeriodSeconds", named("int")},
                                                {"deletionTimestamp", named("dyn")},
                                                {"generation", named("int")},
                                                {"resourceVersion", text},
                                                {"finalizers", named("list(string)")}});
  return cel::object_type(fields{{"metadata", metadata},
                                 {"spec", cel::object_type(fields{{"finalizers", named("list(string)")}})},
                                 {"status", cel::object_type(fields{{"conditions", named("list")}, {"phase", text}})}});
}

cel::environment basic_environment(bool params) {
  cel::environment out;
  out.names = {{"object", named("dyn")}, {"oldObject", named("dyn")}, {"request", request_type()}, {"namespaceObject", namespace_type()}};
  if (params)
    out.names["params"] = named("dyn");
  out.unsupported = {"authorizer"};
  return out;
}

policy_expression compile(const std::string& text, std::string field, const cel::environment& known) {
  return {text, std::move(field), cel::program::compile(text, known)};
}

std::string at(const char* list, std::size_t i, const char* field) {
  return "spec." + std::string{list} + "[" + std::to_string(i) + "]." + field;
}

} // namespace

std::optional<std::size_t> admission_policy::variable_before(std::size_t end, std::string_view of_name) const {
  const auto found = variables_named.find(of_name);
  if (found == variables_named.end())
    return std::nullopt;
  const auto after = std::lower_bound(found->second.begin(), found->second.end(), end);
  return after == found->second.begin() ? std::nullopt : std::optional{*std::prev(after)};
}

bool write_match::fits(const access_attributes& what, std::string_view operation, std::string_view name, bool namespaced) const {
  const auto one_of = [&](const std::vector<rule>& all) {
    return std::any_of(all.begin(), all.end(), [&](const rule& x) { return fits_rule(x, what, operation, name, namespaced); });
  };
  return (rules.empty() || one_of(rules)) && !one_of(excluded);
}

admission_policy read_policy(const json& object) {
  admission_policy out;
  static const auto nothing = json::object();
  const auto* found = member(object, "spec");
  const auto& spec = found == nullptr ? nothing : *found;
  out.name = text_at(object, {"metadata", "name"});
  out.ignores_failures = text_at(spec, {"failurePolicy"}) == "Ignore";
  out.match = read_match(member(spec, "matchConstraints"));
  out.param_version = text_at(spec, {"paramKind", "apiVersion"});
  out.param_kind = text_at(spec, {"paramKind", "kind"});
  auto known = basic_environment(find(spec, {"paramKind"}) != nullptr);
  const auto& conditions = list_at(spec, "matchConditions");
  for (std::size_t i = 0; i < conditions.size(); ++i)
    out.conditions.push_back(compile(text_at(conditions[i], {"expression"}), at("matchConditions", i, "expression"), known));
  // Each variable may use those before it: the type grows with them.
  const auto& variables = list_at(spec, "variables");
  const auto declared = std::make_shared<fields>();
  if (!variables.empty())
    known.names["variables"] = {cel::type::kind::object, {}, declared};
  for (std::size_t i = 0; i < variables.size(); ++i) {
    auto name = text_at(variables[i], {"name"});
    auto one = compile(text_at(variables[i], {"expression"}), at("variables", i, "expression"), known);
    declared->insert_or_assign(name, one.compiled ? one.compiled->result() : cel::type{});
    known.variable_depths[name] = one.compiled ? one.compiled->depth() : 0;
    out.variables_named[name].push_back(i);
    out.variables.push_back({std::move(name), std::move(one)});
  }
  const auto& validations = list_at(spec, "validations");
  for (std::size_t i = 0; i < validations.size(); ++i) {
    const auto& x = validations[i];
    admission_policy::validation one{compile(text_at(x, {"expression"}), at("validations", i, "expression"), known),
                                     text_at(x, {"message"}), std::nullopt, text_at(x, {"reason"})};
    if (const auto text = text_at(x, {"messageExpression"}); !text.empty())
      one.message_expression = compile(text, at("validations", i, "messageExpression"), known);
    out.validations.push_back(std::move(one));
  }
  const auto& annotations = list_at(spec, "auditAnnotations");
  for (std::size_t i = 0; i < annotations.size(); ++i)
    out.annotations.push_back(compile(text_at(annotations[i], {"valueExpression"}), at("auditAnnotations", i, "valueExpression"), known));
  return out;
}

admission_binding read_policy_binding(const json& object) {
  admission_binding out;
  out.name = text_at(object, {"metadata", "name"});
  out.policy = text_at(object, {"spec", "policyName"});
  if (const auto* spec = member(object, "spec")) {
    const auto actions = texts_of(*spec, "validationActions");
    out.denies = has(actions, "Deny");
    out.warns = has(actions, "Warn");
    out.match = read_match(member(*spec, "matchResources"));
    if (const auto* from = member(*spec, "paramRef"); from != nullptr && from->is_object()) {
      auto& params = out.params.emplace();
      params.name = text_at(*from, {"name"});
      params.name_space = text_at(*from, {"namespace"});
      if (const auto* selector = member(*from, "selector"); selector != nullptr && !selector->is_null())
        params.selector = read_label_selector(*selector);
      params.absent_denies = text_at(*from, {"parameterNotFoundAction"}) != "Allow";
    }
  }
  return out;
}

std::vector<expected_result> expressions_of(const admission_policy& x) {
  std::vector<expected_result> out;
  for (const auto& one : x.conditions)
    out.push_back({&one, {"bool"}});
  for (const auto& one : x.variables)
    out.push_back({&one.expression, {}});
  for (const auto& one : x.validations) {
    out.push_back({&one.expression, {"bool"}});
    if (one.message_expression)
      out.push_back({&*one.message_expression, {"string"}});
  }
  for (const auto& one : x.annotations)
    out.push_back({&one, {"string", "null_type"}});
  return out;
}

json type_checking(const admission_policy& x) {
  auto out = json::object();
  for (const auto& one : expressions_of(x))
    if (!one.expression->compiled)
      out["expressionWarnings"].push_back(
        {{"fieldRef", one.expression->field}, {"warning", "not evaluated by this server: " + one.expression->compiled.error().text}});
  return out;
}

} // namespace paddock::embedded
