#include "egress/named_object.hpp"

#include "egress/members.hpp"

#include <algorithm>

namespace paddock::egress {

using nlohmann::json;

namespace {

const json& object_at(const json& x, std::string_view name) {
  static const auto none = json::object();
  const auto* got = member(x, name);
  return got == nullptr ? none : *got;
}

std::string text(const json* x) {
  return x == nullptr ? "absent" : x->dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string differs(std::string_view field, const json* actual, const json* expected) {
  return std::string{field} + " is " + text(actual) + " and should be " + text(expected);
}

bool equal(const json* a, const json* b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

bool has_owner(const json* owners, const json& wanted) {
  return owners != nullptr && owners->is_array() && std::find(owners->begin(), owners->end(), wanted) != owners->end();
}

} // namespace

k8s::call named_object_request(const policy_object& wanted) {
  return k8s::get(wanted.path());
}

std::optional<std::string> own_difference_of(const policy_object& wanted, const json& live) {
  static const auto no_rules = json::array();
  const auto& spec = object_at(live, "spec");
  const auto& meant = wanted.manifest.at("spec");
  const auto core = wanted.kind == resource_kind::network_policy;
  const auto* selector = core ? "podSelector" : "endpointSelector";
  if (const auto* is = member(spec, selector), *should = member(meant, selector); !equal(is, should))
    return differs(std::string{"spec."} + selector, is, should);
  if (const auto* types = member(spec, "policyTypes");
      core && (types == nullptr || !types->is_array() || std::find(types->begin(), types->end(), "Egress") == types->end()))
    return "spec.policyTypes is " + text(types) + " and should contain \"Egress\"";
  const auto* rules = member(spec, "egress");
  const auto* should = member(meant, "egress");
  if (!equal(rules == nullptr ? &no_rules : rules, should == nullptr ? &no_rules : should))
    return differs("spec.egress", rules, should);
  const auto* owners = member(object_at(live, "metadata"), "ownerReferences");
  if (const auto* all = member(object_at(wanted.manifest, "metadata"), "ownerReferences"))
    for (const auto& x : *all)
      if (!has_owner(owners, x))
        return "metadata.ownerReferences is " + text(owners) + " and should contain " + text(&x);
  return std::nullopt;
}

std::optional<std::string> difference_of(const policy_object& wanted, const json& live) {
  if (const auto* specs = member(live, "specs"))
    return "specs is " + text(specs)
           + (wanted.kind == resource_kind::network_policy ? ", and a NetworkPolicy has no such member"
                                                           : ", which Cilium enforces beside spec, and should be absent");
  return own_difference_of(wanted, live);
}

result<void> judge_named_object(const policy_object& wanted, const k8s::result<std::optional<json>>& answer) {
  if (!answer) {
    if (std::holds_alternative<k8s::already_gone>(answer.error()))
      return tl::unexpected{egress_error{policy_not_applied{wanted.kind, wanted.path()}}};
    return tl::unexpected{egress_error{answer.error()}};
  }
  if (auto why = difference_of(wanted, answer->value_or(json::object())))
    return tl::unexpected{egress_error{policy_mismatch{wanted.kind, wanted.path(), std::move(*why)}}};
  return {};
}

} // namespace paddock::egress
