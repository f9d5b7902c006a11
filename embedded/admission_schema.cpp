#include "embedded/admission_schema.hpp"

#include "embedded/admission_policy.hpp"

#include <array>

namespace paddock::embedded::schema {

namespace {

// -- form ---------------------------------------------------------------------------------------------------------

enum class form { text, texts, object, objects };

struct member_form {
  const char* parent; // path below the object; a list stands for each of its elements
  const char* key;
  form wanted;
};

constexpr member_form policy_form[]{
  {"spec", "failurePolicy", form::text},
  {"spec", "paramKind", form::object},
  {"spec", "matchConstraints", form::object},
  {"spec", "matchConditions", form::objects},
  {"spec", "variables", form::objects},
  {"spec", "validations", form::objects},
  {"spec", "auditAnnotations", form::objects},
  {"spec/paramKind", "apiVersion", form::text},
  {"spec/paramKind", "kind", form::text},
  {"spec/matchConditions", "name", form::text},
  {"spec/matchConditions", "expression", form::text},
  {"spec/variables", "name", form::text},
  {"spec/variables", "expression", form::text},
  {"spec/validations", "expression", form::text},
  {"spec/validations", "message", form::text},
  {"spec/validations", "messageExpression", form::text},
  {"spec/validations", "reason", form::text},
  {"spec/auditAnnotations", "key", form::text},
  {"spec/auditAnnotations", "valueExpression", form::text},
};

constexpr member_form binding_form[]{
  {"spec", "policyName", form::text},          {"spec", "validationActions", form::texts},
  {"spec", "matchResources", form::object},    {"spec", "paramRef", form::object},
  {"spec/paramRef", "name", form::text},       {"spec/paramRef", "namespace", form::text},
  {"spec/paramRef", "selector", form::object}, {"spec/paramRef", "parameterNotFoundAction", form::text},
};

/// Below `matchConstraints` or `matchResources`.
constexpr member_form match_form[]{
  {"", "namespaceSelector", form::object},
  {"", "objectSelector", form::object},
  {"", "matchPolicy", form::text},
  {"", "resourceRules", form::objects},
  {"", "excludeResourceRules", form::objects},
  {"resourceRules", "operations", form::texts},
  {"resourceRules", "apiGroups", form::texts},
  {"resourceRules", "apiVersions", form::texts},
  {"resourceRules", "resources", form::texts},
  {"resourceRules", "resourceNames", form::texts},
  {"resourceRules", "scope", form::text},
  {"excludeResourceRules", "operations", form::texts},
  {"excludeResourceRules", "apiGroups", form::texts},
  {"excludeResourceRules", "apiVersions", form::texts},
  {"excludeResourceRules", "resources", form::texts},
  {"excludeResourceRules", "resourceNames", form::texts},
  {"excludeResourceRules", "scope", form::text},
};

bool has_form(const json& x, form wanted) {
  const auto all = [&](bool (json::*fits)() const noexcept) {
    return x.is_array() && std::all_of(x.begin(), x.end(), [&](const json& y) { return (y.*fits)(); });
  };
  switch (wanted) {
    case form::text: return x.is_string();
    case form::texts: return all(&json::is_string);
    case form::object: return x.is_object();
    default: return all(&json::is_object);
  }
}

/// Everything that `path` names below `of`: the elements of a list one by one.
std::vector<const json*> named(const json& of, std::string_view path) {
  std::vector<const json*> out{&of};
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    std::vector<const json*> next;
    for (const auto* x : out) {
      const auto* found = member(*x, path.substr(0, end));
      if (found != nullptr && found->is_array())
        for (const auto& y : *found)
          next.push_back(&y);
      else if (found != nullptr)
        next.push_back(found);
    }
    out = std::move(next);
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return out;
}

std::optional<std::string> misshapen_by(std::span<const member_form> forms, const json& object, const std::string& where) {
  for (const auto& x : forms)
    for (const auto* parent : named(object, x.parent))
      if (const auto* found = member(*parent, x.key); found != nullptr && !found->is_null() && !has_form(*found, x.wanted))
        return "json: cannot unmarshal " + std::string{found->type_name()} + " into Go struct field " + where + "." + x.key;
  return std::nullopt;
}

// -- sense --------------------------------------------------------------------------------------------------------

std::string index(const std::string& list, std::size_t i) {
  return list + "[" + std::to_string(i) + "]";
}

void check_one_of(const std::string& field, const std::string& value, const std::vector<std::string>& known,
                  std::vector<status_cause>& out) {
  if (std::find(known.begin(), known.end(), value) == known.end())
    out.push_back(field_unsupported(field, in_quotes(value), known));
}

void check_selector(const json& match, const char* key, const std::string& at, std::vector<status_cause>& out) {
  if (const auto* x = member(match, key))
    if (const auto read = read_label_selector(*x); !read)
      out.push_back(field_invalid(at + "." + key, x->dump(), read.error()));
}

void check_match(const json& match, const std::string& at, bool needs_rules, std::vector<status_cause>& out) {
  check_one_of(at + ".matchPolicy", text_at(match, {"matchPolicy"}), {"Exact", "Equivalent"}, out);
  check_selector(match, "namespaceSelector", at, out);
  check_selector(match, "objectSelector", at, out);
  for (const auto* list : {"resourceRules", "excludeResourceRules"}) {
    const auto& rules = list_at(match, list);
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const auto rule = at + "." + index(list, i);
      const auto& operations = list_at(rules[i], "operations");
      if (operations.empty())
        out.push_back(field_required(rule + ".operations"));
      for (std::size_t k = 0; k < operations.size(); ++k)
        check_one_of(index(rule + ".operations", k), operations[k].get<std::string>(), {"*", "CONNECT", "CREATE", "DELETE", "UPDATE"}, out);
      for (const auto* key : {"apiGroups", "apiVersions", "resources"})
        if (list_at(rules[i], key).empty())
          out.push_back(field_required(rule + "." + key));
      check_one_of(rule + ".scope", text_at(rules[i], {"scope"}), {"*", "Cluster", "Namespaced"}, out);
    }
  }
  if (needs_rules && list_at(match, "resourceRules").empty())
    out.push_back(field_required(at + ".resourceRules"));
}

/// What is wrong with the expression at `field`, if it is given.
class expression_checks {
public:
  explicit expression_checks(const json& object) : policy_(read_policy(object)) {
    for (const auto& x : expressions_of(policy_))
      by_field_.emplace(x.expression->field, x);
  }

  void add(const std::string& field, std::string_view missing, std::vector<status_cause>& out) const {
    const auto found = by_field_.find(field);
    if (found == by_field_.end())
      return;
    const auto& [expression, types] = found->second;
    if (expression->text.find_first_not_of(" \t\r\n") == std::string::npos) {
      out.push_back(field_required(field, missing));
      return;
    }
    if (!expression->compiled) {
      // What lies outside the subset is no fault: it is reported in the status, and fails when it is asked.
      if (!expression->compiled.error().unsupported)
        out.push_back(field_invalid(field, in_quotes(expression->text), "compilation failed: " + expression->compiled.error().text));
      return;
    }
    const auto type = cel::to_string(expression->compiled->result());
    if (types.empty() || std::find(types.begin(), types.end(), type) != types.end())
      return;
    std::string wanted;
    for (const auto x : types)
      wanted += (wanted.empty() ? "" : " ") + std::string{x};
    out.push_back(field_invalid(field, in_quotes(expression->text),
                                "must evaluate to " + (types.size() == 1 ? wanted : "one of [" + wanted + "]") + " but got " + type));
  }

private:
  admission_policy policy_;
  std::map<std::string, expected_result> by_field_;
};

void check_validations(const json& spec, const expression_checks& expressions, std::vector<status_cause>& out) {
  const auto& all = list_at(spec, "validations");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto at = index("spec.validations", i);
    expressions.add(at + ".expression", "expression is not specified", out);
    expressions.add(at + ".messageExpression", "must be non-empty if specified", out);
    const auto message = text_at(all[i], {"message"});
    if (message.find_first_of("\r\n") != std::string::npos)
      out.push_back(field_invalid(at + ".message", in_quotes(message), "must not contain line breaks"));
    if (const auto reason = text_at(all[i], {"reason"}); !reason.empty())
      check_one_of(at + ".reason", reason, {"Forbidden", "Invalid", "RequestEntityTooLarge"}, out);
  }
}

std::vector<status_cause> check_policy(const json& object) {
  std::vector<status_cause> out;
  const auto& spec = object["spec"];
  const expression_checks expressions{object};
  check_one_of("spec.failurePolicy", text_at(spec, {"failurePolicy"}), {"Fail", "Ignore"}, out);
  if (const auto* kind = member(spec, "paramKind"))
    for (const auto* key : {"apiVersion", "kind"})
      if (text_at(*kind, {key}).empty())
        out.push_back(field_required("spec.paramKind." + std::string{key}));
  if (const auto* match = member(spec, "matchConstraints"))
    check_match(*match, "spec.matchConstraints", true, out);
  else
    out.push_back(field_required("spec.matchConstraints"));
  const auto& conditions = list_at(spec, "matchConditions");
  std::vector<std::string> seen;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const auto at = index("spec.matchConditions", i);
    const auto name = text_at(conditions[i], {"name"});
    expressions.add(at + ".expression", "", out);
    if (name.empty())
      out.push_back(field_required(at + ".name"));
    else if (std::find(seen.begin(), seen.end(), name) != seen.end())
      out.push_back({"FieldValueDuplicate", "Duplicate value: " + in_quotes(name), at + ".name"});
    seen.push_back(name);
  }
  const auto& variables = list_at(spec, "variables");
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const auto at = index("spec.variables", i);
    const auto name = text_at(variables[i], {"name"});
    if (name.empty())
      out.push_back(field_required(at + ".name", "name is not specified"));
    else if (!cel::is_identifier(name))
      out.push_back(field_invalid(at + ".name", in_quotes(name), "must be a valid CEL identifier"));
    expressions.add(at + ".expression", "expression is not specified", out);
  }
  const auto& annotations = list_at(spec, "auditAnnotations");
  if (list_at(spec, "validations").empty() && annotations.empty())
    for (const auto* field : {"spec.validations", "spec.auditAnnotations"})
      out.push_back(field_required(field, "validations or auditAnnotations must contain at least one item"));
  check_validations(spec, expressions, out);
  for (std::size_t i = 0; i < annotations.size(); ++i)
    expressions.add(index("spec.auditAnnotations", i) + ".valueExpression", "valueExpression is not specified", out);
  return out;
}

void check_param_ref(const json& ref, std::vector<status_cause>& out) {
  const bool named_one = !text_at(ref, {"name"}).empty();
  const auto* selector = member(ref, "selector");
  const bool selects = selector != nullptr && !selector->is_null();
  check_selector(ref, "selector", "spec.paramRef", out);
  if (!named_one && !selects)
    out.push_back(field_required("spec.paramRef", "one of name or selector must be specified"));
  if (named_one && selects)
    for (const auto* key : {"name", "selector"})
      out.push_back(field_forbidden("spec.paramRef." + std::string{key}, "name and selector are mutually exclusive"));
  const auto action = text_at(ref, {"parameterNotFoundAction"});
  if (action.empty())
    out.push_back(field_required("spec.paramRef.parameterNotFoundAction"));
  else
    check_one_of("spec.paramRef.parameterNotFoundAction", action, {"Deny", "Allow"}, out);
}

std::vector<status_cause> check_policy_binding(const json& object) {
  std::vector<status_cause> out;
  const auto& spec = object["spec"];
  if (text_at(spec, {"policyName"}).empty())
    out.push_back(field_required("spec.policyName"));
  if (const auto* ref = member(spec, "paramRef"))
    check_param_ref(*ref, out);
  if (const auto* match = member(spec, "matchResources"))
    check_match(*match, "spec.matchResources", false, out);
  const auto& actions = list_at(spec, "validationActions");
  if (actions.empty())
    out.push_back(field_required("spec.validationActions", "at least one validation action is required"));
  std::vector<std::string> seen;
  const auto given = [&](const char* x) { return std::find(seen.begin(), seen.end(), x) != seen.end(); };
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const auto at = index("spec.validationActions", i);
    const auto action = actions[i].get<std::string>();
    if (given(action.c_str()))
      out.push_back({"FieldValueDuplicate", "Duplicate value: " + in_quotes(action), at});
    else
      check_one_of(at, action, {"Audit", "Deny", "Warn"}, out);
    seen.push_back(action);
  }
  if (given("Deny") && given("Warn"))
    out.push_back(field_invalid("spec.validationActions", actions.dump(),
                                "must not contain both Deny and Warn (repeating the same validation failure information in the API "
                                "response and headers serves no purpose)"));
  return out;
}

void default_match(json& match) {
  for (const auto* key : {"namespaceSelector", "objectSelector"})
    if (!match.contains(key))
      match[key] = json::object();
  if (!match.contains("matchPolicy"))
    match["matchPolicy"] = "Equivalent";
  for (const auto* list : {"resourceRules", "excludeResourceRules"})
    if (match.contains(list))
      for (auto& rule : match[list])
        if (!rule.contains("scope"))
          rule["scope"] = "*";
}

} // namespace

std::optional<std::string> misshapen_admission(const resource_kind& kind, const json& object) {
  const bool policy = kind.kind == "ValidatingAdmissionPolicy";
  const std::string where{kind.kind};
  if (auto why = policy ? misshapen_by(policy_form, object, where) : misshapen_by(binding_form, object, where))
    return why;
  for (const auto* match : named(object, policy ? "spec/matchConstraints" : "spec/matchResources"))
    if (auto why = misshapen_by(match_form, *match, where))
      return why;
  return std::nullopt;
}

void default_admission(const resource_kind& kind, json& object) {
  auto& spec = object_at(object, "spec");
  const bool policy = kind.kind == "ValidatingAdmissionPolicy";
  if (policy && !spec.contains("failurePolicy"))
    spec["failurePolicy"] = "Fail";
  if (policy && !object.contains("status"))
    object["status"] = json::object();
  if (auto found = spec.find(policy ? "matchConstraints" : "matchResources"); found != spec.end())
    default_match(*found);
}

std::vector<status_cause> check_admission(const resource_kind& kind, const json& after) {
  return kind.kind == "ValidatingAdmissionPolicy" ? check_policy(after) : check_policy_binding(after);
}

} // namespace paddock::embedded::schema
