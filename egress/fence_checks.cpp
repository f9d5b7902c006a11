#include "egress/fence_checks.hpp"

#include "egress/members.hpp"
#include "egress/selectors.hpp"

#include <algorithm>
#include <initializer_list>

namespace paddock::egress {

using nlohmann::json;

namespace {

constexpr std::string_view name_label = "kubernetes.io/metadata.name";

bool is_text(const json* x, std::string_view text) {
  return x != nullptr && x->is_string() && x->get_ref<const std::string&>() == text;
}

std::string shown(const json* x) {
  return x != nullptr ? excerpt(*x) : "absent";
}

/// `name is <value>, and must be "<text>"`, unless it is.
fence_complaint must_be(const json& of, std::string_view name, std::string_view text, std::string_view shown_as) {
  const auto* x = member(of, name);
  if (is_text(x, text))
    return {};
  return std::string{shown_as} + " is " + shown(x) + " and must be \"" + std::string{text} + "\"";
}

bool is_empty_list(const json* x) {
  return x == nullptr || (x->is_array() && x->empty());
}

/// Whether the list of texts has one of `words`.
bool names_any(const json& rule, std::string_view list, std::initializer_list<std::string_view> words) {
  const auto* all = member(rule, list);
  return all != nullptr && all->is_array() && std::ranges::any_of(*all, [&](const json& x) {
           return std::ranges::any_of(words, [&](auto word) { return is_text(&x, word); });
         });
}

/// Whether the rule is about every CiliumNetworkPolicy.
bool is_about_policies(const json& rule) {
  const auto* scope = member(rule, "scope");
  return names_any(rule, "apiGroups", {"cilium.io", "*"}) && names_any(rule, "apiVersions", {"v2", "*"})
         && names_any(rule, "resources", {"ciliumnetworkpolicies", "*", "*/*"}) && is_empty_list(member(rule, "resourceNames"))
         && (scope == nullptr || is_text(scope, "*") || is_text(scope, "Namespaced"));
}

fence_complaint check_rules(const json* rules, const fence_demand& what) {
  if (rules == nullptr || !rules->is_array())
    return "resourceRules is " + shown(rules) + " and must be a list";
  for (const auto& operation : what.operations)
    if (std::ranges::none_of(*rules, [&](const json& x) { return is_about_policies(x) && names_any(x, "operations", {operation, "*"}); }))
      return "resourceRules do not cover " + operation + " of ciliumnetworkpolicies.cilium.io/v2";
  return {};
}

bool is_empty_selector(const json* x) {
  if (x == nullptr)
    return true;
  if (!x->is_object())
    return false;
  return std::ranges::all_of(*x, [](const json& part) { return part.is_null() || (part.is_structured() && part.empty()); });
}

/// Whether nothing but the name of the namespace is asked for: what other labels it has is not known.
bool asks_for_name_only(const json& selector) {
  const auto* labels = member(selector, "matchLabels");
  const auto* expressions = member(selector, "matchExpressions");
  const auto labels_ok =
    labels == nullptr || (labels->is_object() && std::ranges::all_of(labels->items(), [](const auto& x) { return x.key() == name_label; }));
  return labels_ok && (expressions == nullptr || (expressions->is_array() && std::ranges::all_of(*expressions, [](const json& x) {
                                                    return is_text(member(x, "key"), name_label);
                                                  })));
}

/// What both a policy and a binding may say to be about less.
fence_complaint check_exclusions(const json& of, const fence_demand& what) {
  if (const auto* x = member(of, "excludeResourceRules"); !is_empty_list(x))
    return std::string{"excludeResourceRules must be empty"};
  if (!is_empty_selector(member(of, "objectSelector")))
    return std::string{"objectSelector must be empty: it would let objects through by their labels"};
  const auto* spaces = member(of, "namespaceSelector");
  if (is_empty_selector(spaces))
    return {};
  const auto reaches =
    asks_for_name_only(*spaces) && selects(spaces, label_map{{std::string{name_label}, what.name_space}}).is == selection::answer::yes;
  if (!reaches)
    return "namespaceSelector " + shown(spaces) + " is not known to select namespace " + what.name_space + ": it may ask for "
           + std::string{name_label} + " only, and that must match";
  return {};
}

fence_complaint under(std::string_view name, fence_complaint inner) {
  if (inner)
    inner->insert(0, std::string{name} + ".");
  return inner;
}

/// Runs of white space as one space, and none at the ends.
std::string folded(std::string_view text) {
  constexpr auto white = std::string_view{" \t\r\n\f\v"};
  auto got = std::string{};
  for (const auto x : text) {
    if (white.find(x) == std::string_view::npos)
      got += x;
    else if (!got.empty() && got.back() != ' ')
      got += ' ';
  }
  if (!got.empty() && got.back() == ' ')
    got.pop_back();
  return got;
}

bool skip(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what))
    return false;
  text.remove_prefix(what.size());
  return true;
}

/// Whether the expression holds for this user and for nobody else.
bool means_user(const std::string& expression, const std::string& identity) {
  const auto whole = folded(expression);
  auto rest = std::string_view{whole};
  if (!skip(rest, "request.userInfo.username"))
    return false;
  skip(rest, " ");
  if (!skip(rest, "=="))
    return false;
  skip(rest, " ");
  return rest == "'" + identity + "'" || rest == "\"" + identity + "\"";
}

} // namespace

fence_complaint check_readable(const json& object) {
  const auto* spec = member(object, "spec");
  if (spec == nullptr || !spec->is_object())
    return std::string{"it has no spec"};
  const auto* metadata = member(object, "metadata");
  if (metadata != nullptr && member(*metadata, "deletionTimestamp") != nullptr)
    return std::string{"it is being deleted"};
  return {};
}

// -- of a policy ---------------------------------------------------------------

fence_complaint check_identity(const json& spec, const std::string& identity) {
  const auto* conditions = member(spec, "matchConditions");
  if (conditions == nullptr || !conditions->is_array() || conditions->size() != 1)
    return "spec.matchConditions must be exactly one condition, that the user is " + identity;
  const auto* expression = member(conditions->front(), "expression");
  if (expression == nullptr || !expression->is_string() || !means_user(expression->get_ref<const std::string&>(), identity))
    return "spec.matchConditions[0].expression is " + shown(expression) + " and must be request.userInfo.username == '" + identity + "'";
  return {};
}

fence_complaint check_param_kind(const json& spec) {
  const auto* kind = member(spec, "paramKind");
  if (kind == nullptr || !kind->is_object())
    return "spec.paramKind is " + shown(kind) + " and must be ConfigMap of v1";
  if (auto no = must_be(*kind, "apiVersion", "v1", "spec.paramKind.apiVersion"))
    return no;
  return must_be(*kind, "kind", "ConfigMap", "spec.paramKind.kind");
}

fence_complaint check_failure_policy(const json& spec, const fence_demand&) {
  if (member(spec, "failurePolicy") == nullptr)
    return {};
  return must_be(spec, "failurePolicy", "Fail", "spec.failurePolicy");
}

fence_complaint check_match_constraints(const json& spec, const fence_demand& what) {
  const auto* constraints = member(spec, "matchConstraints");
  if (constraints == nullptr || !constraints->is_object())
    return "spec.matchConstraints is " + shown(constraints) + " and must be an object";
  if (auto no = check_rules(member(*constraints, "resourceRules"), what))
    return under("spec.matchConstraints", std::move(no));
  return under("spec.matchConstraints", check_exclusions(*constraints, what));
}

fence_complaint check_validations(const json& spec, const fence_demand&) {
  const auto* validations = member(spec, "validations");
  if (validations == nullptr || !validations->is_array() || validations->empty())
    return "spec.validations is " + shown(validations) + " and must be a list with something in it";
  return {};
}

// -- of a binding --------------------------------------------------------------

fence_complaint check_policy_name(const json& spec, const fence_demand& what) {
  return must_be(spec, "policyName", what.policy, "spec.policyName");
}

fence_complaint check_validation_actions(const json& spec, const fence_demand&) {
  if (names_any(spec, "validationActions", {"Deny"}))
    return {};
  return "spec.validationActions is " + shown(member(spec, "validationActions")) + " and must have Deny";
}

fence_complaint check_match_resources(const json& spec, const fence_demand& what) {
  const auto* resources = member(spec, "matchResources");
  if (resources == nullptr)
    return {};
  if (!resources->is_object())
    return "spec.matchResources is " + shown(resources) + " and must be an object";
  if (const auto* rules = member(*resources, "resourceRules"); !is_empty_list(rules))
    if (auto no = check_rules(rules, what))
      return under("spec.matchResources", std::move(no));
  return under("spec.matchResources", check_exclusions(*resources, what));
}

fence_complaint check_missing_param(const json& spec, const fence_demand&) {
  const auto* param = member(spec, "paramRef");
  if (param == nullptr)
    return {};
  return must_be(*param, "parameterNotFoundAction", "Deny", "spec.paramRef.parameterNotFoundAction");
}

fence_complaint check_param_ref(const json& spec, const object_reference& config_map) {
  const auto* param = member(spec, "paramRef");
  if (param == nullptr || !param->is_object())
    return "spec.paramRef is " + shown(param) + " and must name ConfigMap " + config_map.name + " in namespace " + config_map.name_space;
  if (auto no = must_be(*param, "name", config_map.name, "spec.paramRef.name"))
    return no;
  if (auto no = must_be(*param, "namespace", config_map.name_space, "spec.paramRef.namespace"))
    return no;
  if (auto no = check_missing_param(spec, {}))
    return no;
  if (member(*param, "selector") != nullptr)
    return std::string{"spec.paramRef.selector must be absent"};
  return {};
}

} // namespace paddock::egress
