#include "egress/policy_document.hpp"

#include "egress/named_object.hpp"
#include "egress/selectors.hpp"

#include <algorithm>
#include <optional>

namespace paddock::egress {

using nlohmann::json;

namespace {

/// A document as far as it was read.
struct document {
  std::string path;  // in the object: `spec`, `specs[2]`
  selection chooses; // the pod
  bool enforces = false;
  const json* rules = nullptr; // a list, or null: there are none
  std::optional<std::string> unknown{};
  bool exempt = false;
};

document_verdict not_evaluable(std::string path, std::string detail) {
  return {egress_verdict::not_evaluable, rule_reason::not_understood, {std::move(path), std::move(detail)}};
}

document_verdict not_evaluable(const unreadable& x) {
  return not_evaluable(x.path, x.detail);
}

bool is_list(const json* x) {
  return x == nullptr || x->is_array();
}

bool has_entries(const json* x) {
  return x != nullptr && !x->empty();
}

/// The first rule that is beyond, else the first that is unknown.
std::optional<document_verdict> judge_rules(const document& x, const allowance& allowed, resource_kind kind) {
  auto undecided = std::optional<document_verdict>{};
  for (auto i = std::size_t{0}; x.rules != nullptr && i < x.rules->size(); ++i) {
    const auto& rule = (*x.rules)[i];
    auto got = kind == resource_kind::network_policy
                 ? judge_core_rule(rule, allowed)
                 : judge_cilium_rule(rule, allowed, kind == resource_kind::cilium_clusterwide_network_policy);
    if (got.is == rule_verdict::answer::within || (got.is == rule_verdict::answer::unknown && undecided))
      continue;
    got.where.path = x.path + at_index("egress", i) + got.where.path;
    if (got.is == rule_verdict::answer::beyond)
      return document_verdict{egress_verdict::widens_egress, got.reason, std::move(got.where)};
    undecided = not_evaluable(got.where);
  }
  return undecided;
}

document_verdict judge(document x, const allowance& allowed, resource_kind kind) {
  if (x.chooses.is == selection::answer::no)
    return {egress_verdict::does_not_select};
  if (x.chooses.is == selection::answer::unknown)
    return not_evaluable(x.chooses.why);
  if (!x.exempt) {
    auto got = judge_rules(x, allowed, kind);
    if (got && got->is == egress_verdict::widens_egress)
      return std::move(*got);
    if (x.unknown)
      return not_evaluable(x.path + "." + *x.unknown, "is not understood");
    if (got)
      return std::move(*got);
  }
  return {x.enforces ? egress_verdict::within : egress_verdict::not_egress_scoped};
}

/// Whether `object` is one that `allowed` names and its own `spec` is what is meant.
bool stands_as_meant(resource_kind kind, const json& object, const allowance& allowed) {
  const auto* metadata = member(object, "metadata");
  const auto name = metadata == nullptr ? std::nullopt : text_of(member(*metadata, "name"));
  const auto is_it = [&](const std::shared_ptr<const policy_object>& x) {
    return x != nullptr && x->kind == kind && x->name == name && !own_difference_of(*x, object);
  };
  return name && (is_it(allowed.named) || std::any_of(allowed.also_named.begin(), allowed.also_named.end(), is_it));
}

void put_before(std::string_view place, selection& x) {
  x.why.path = std::string{place} + x.why.path;
}

// -- core -------------------------------------------------------------------

/// The types that the API server stores ([E] H5).
bool is_egress_scoped(const json* types, const json* rules) {
  if (!has_entries(types))
    return has_entries(rules);
  return std::find(types->begin(), types->end(), "Egress") != types->end();
}

document_verdict judge_core(const json& object, const allowance& allowed, const judged_pod& pod) {
  const auto* spec = member(object, "spec");
  if (spec == nullptr || !spec->is_object())
    return not_evaluable("spec", "is not an object");
  const auto* types = member(*spec, "policyTypes");
  if (!is_list(types))
    return not_evaluable("spec.policyTypes", "is not a list");
  if (has_entries(types) && std::any_of(types->begin(), types->end(), [](const json& x) { return x != "Ingress" && x != "Egress"; }))
    return not_evaluable("spec.policyTypes", "has another entry than Ingress and Egress");
  const auto* rules = member(*spec, "egress");
  if (!is_list(rules))
    return not_evaluable("spec.egress", "is not a list");
  auto got = document{"spec", selects(member(*spec, "podSelector"), pod.labels), is_egress_scoped(types, rules)};
  put_before("spec.podSelector", got.chooses);
  got.rules = got.enforces ? rules : nullptr;
  got.unknown = unknown_member(*spec, {"podSelector", "policyTypes", "ingress", "egress"});
  got.exempt = got.chooses.is == selection::answer::yes && stands_as_meant(resource_kind::network_policy, object, allowed);
  return judge(std::move(got), allowed, resource_kind::network_policy);
}

// -- cilium -----------------------------------------------------------------

/// What is not understood of the switch between adding rules to a pod's and beginning its isolation.
std::optional<unreadable> switch_problem(const json* x) {
  if (x == nullptr)
    return std::nullopt;
  if (!x->is_object())
    return unreadable{".enableDefaultDeny", "is not an object"};
  if (const auto* egress = member(*x, "egress"); egress != nullptr && !egress->is_boolean())
    return unreadable{".enableDefaultDeny.egress", "is not a boolean"};
  return std::nullopt;
}

bool is_switched_off(const json* x) {
  const auto* egress = x == nullptr ? nullptr : member(*x, "egress");
  return egress != nullptr && *egress == false;
}

/// Nothing where it selects nodes.
std::optional<document_verdict> judge_cilium(const json& spec, std::string path, bool exempt, resource_kind kind, const allowance& allowed,
                                             const judged_pod& pod) {
  if (!spec.is_object())
    return not_evaluable(std::move(path), "is not an object");
  if (member(spec, "nodeSelector") != nullptr)
    return std::nullopt;
  const auto* rules = member(spec, "egress");
  const auto* denied = member(spec, "egressDeny");
  const auto* default_deny = member(spec, "enableDefaultDeny");
  if (!is_list(rules))
    return not_evaluable(path + ".egress", "is not a list");
  if (!is_list(denied))
    return not_evaluable(path + ".egressDeny", "is not a list");
  if (auto problem = switch_problem(default_deny))
    return not_evaluable(path + problem->path, std::move(problem->detail));
  auto got = document{std::move(path), selects_in_cilium(member(spec, "endpointSelector"), pod.labels, pod.name_space),
                      (has_entries(rules) || has_entries(denied)) && !is_switched_off(default_deny), rules};
  put_before(got.path + ".endpointSelector", got.chooses);
  got.unknown = unknown_member(
    spec, {"endpointSelector", "ingress", "ingressDeny", "egress", "egressDeny", "enableDefaultDeny", "labels", "description", "log"});
  got.exempt = exempt;
  return judge(std::move(got), allowed, kind);
}

} // namespace

void judge_documents(resource_kind kind, const json& object, const allowance& allowed, const judged_pod& pod,
                     const std::function<void(document_verdict)>& then) {
  if (!object.is_object())
    return then(not_evaluable("", "is not an object"));
  if (kind == resource_kind::network_policy)
    return then(judge_core(object, allowed, pod));
  const auto* spec = member(object, "spec");
  const auto* specs = member(object, "specs");
  if (!is_list(specs))
    return then(not_evaluable("specs", "is not a list"));
  if (spec == nullptr && !has_entries(specs))
    return then(not_evaluable("", "has neither spec nor specs"));
  const auto tell = [&](std::optional<document_verdict> x) {
    if (x)
      then(std::move(*x));
  };
  if (spec != nullptr)
    tell(judge_cilium(*spec, "spec", stands_as_meant(kind, object, allowed), kind, allowed, pod));
  for (auto i = std::size_t{0}; specs != nullptr && i < specs->size(); ++i)
    tell(judge_cilium((*specs)[i], "specs[" + std::to_string(i) + "]", false, kind, allowed, pod));
}

} // namespace paddock::egress
