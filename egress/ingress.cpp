#include "egress/ingress.hpp"

#include "egress/ingress_rules.hpp"
#include "egress/members.hpp"
#include "egress/selectors.hpp"

#include <algorithm>

namespace paddock::egress {

using nlohmann::json;

namespace {

/// A policy, or one of the two parts of Cilium's, as far as the agent port is concerned.
struct finding {
  ingress_verdict verdict{};
  std::optional<std::string> detail{};
};

finding not_evaluable(std::string why) {
  return {ingress_verdict::not_evaluable, std::move(why)};
}

/// What a selector that does not choose the pod for certain makes of its policy; nothing where it does.
std::optional<finding> unless_selected(const selection& chosen, const char* selector) {
  switch (chosen.is) {
    case selection::answer::no: return finding{ingress_verdict::does_not_select, {}};
    case selection::answer::unknown: return not_evaluable(std::string{selector} + chosen.why.path + " " + chosen.why.detail);
    case selection::answer::yes: break;
  }
  return std::nullopt;
}

using rule_judge = ingress_rule (*)(const json&, std::uint16_t);

/// The first rule that admits everyone, else the first that cannot be judged.
std::optional<finding> judge_rules(const json* rules, rule_judge judge, std::uint16_t agent_port) {
  if (rules == nullptr)
    return std::nullopt;
  auto undecided = std::optional<finding>{};
  for (auto i = std::size_t{0}; i < rules->size(); ++i) {
    auto got = judge((*rules)[i], agent_port);
    auto detail = "ingress[" + std::to_string(i) + "]" + got.detail;
    if (got.is == ingress_rule::effect::open)
      return finding{ingress_verdict::opens_agent_port, std::move(detail)};
    if (got.is == ingress_rule::effect::unknown && !undecided)
      undecided = not_evaluable(std::move(detail));
  }
  return undecided;
}

bool is_list_or_absent(const json* x) {
  return x == nullptr || x->is_array();
}

bool is_filled(const json* list) {
  return list != nullptr && !list->empty();
}

finding judge_core(const json& item, const ingress_question& asked) {
  const auto* spec = member(item, "spec");
  if (spec == nullptr || !spec->is_object())
    return not_evaluable("spec is not an object");
  const auto* types = member(*spec, "policyTypes");
  const auto* rules = member(*spec, "ingress");
  if (!is_list_or_absent(types))
    return not_evaluable("policyTypes is not a list");
  if (is_filled(types) && std::ranges::any_of(*types, [](const json& x) { return x != "Ingress" && x != "Egress"; }))
    return not_evaluable("policyTypes has another entry than Ingress and Egress");
  if (!is_list_or_absent(rules))
    return not_evaluable("ingress is not a list");
  if (auto no = unless_selected(selects(member(*spec, "podSelector"), asked.pod_labels), "podSelector"))
    return *no;
  // The server puts `Ingress` into an absent or empty list ([E] H5).
  if (is_filled(types) && std::ranges::find(*types, json("Ingress")) == types->end())
    return {ingress_verdict::not_ingress_scoped, {}};
  if (auto found = judge_rules(rules, judge_core_ingress, asked.agent_port))
    return *found;
  return {ingress_verdict::covers, {}};
}

finding judge_cilium_spec(const json& spec, const ingress_question& asked) {
  if (!spec.is_object())
    return not_evaluable("it is not an object");
  const auto* rules = member(spec, "ingress");
  const auto* denials = member(spec, "ingressDeny");
  if (!is_list_or_absent(rules))
    return not_evaluable("ingress is not a list");
  if (!is_list_or_absent(denials))
    return not_evaluable("ingressDeny is not a list");
  // An empty list enforces nothing ([E] H7).
  auto enforces = is_filled(rules) || is_filled(denials);
  if (const auto* by_default = member(spec, "enableDefaultDeny")) {
    if (!by_default->is_object())
      return not_evaluable("enableDefaultDeny is not an object");
    const auto* ingress = member(*by_default, "ingress");
    if (ingress != nullptr && !ingress->is_boolean())
      return not_evaluable("enableDefaultDeny.ingress is not a boolean");
    enforces = enforces && (ingress == nullptr || ingress->get<bool>());
  }
  const auto chosen = selects_in_cilium(member(spec, "endpointSelector"), asked.pod_labels, asked.name_space);
  if (auto no = unless_selected(chosen, "endpointSelector"))
    return *no;
  if (auto found = judge_rules(rules, judge_cilium_ingress, asked.agent_port))
    return *found;
  return {enforces ? ingress_verdict::covers : ingress_verdict::not_ingress_scoped, {}};
}

bool selects_nodes(const json& spec) {
  return member(spec, "nodeSelector") != nullptr;
}

/// One finding for `spec` and one for each of `specs`; none of those that select nodes.
std::vector<finding> judge_cilium(const json& item, const ingress_question& asked) {
  const auto* spec = member(item, "spec");
  const auto* specs = member(item, "specs");
  if (!is_list_or_absent(specs))
    return {not_evaluable("specs is not a list")};
  if (spec == nullptr && !is_filled(specs))
    return {not_evaluable("it has neither spec nor specs")};
  auto got = std::vector<finding>{};
  const auto add = [&](const json& one, const std::string& at) {
    if (selects_nodes(one))
      return;
    got.push_back(judge_cilium_spec(one, asked));
    if (auto& detail = got.back().detail)
      detail->insert(0, at);
  };
  if (spec != nullptr)
    add(*spec, "spec: ");
  if (specs != nullptr)
    for (auto i = std::size_t{0}; i < specs->size(); ++i)
      add((*specs)[i], "specs[" + std::to_string(i) + "]: ");
  return got;
}

} // namespace

policy_engine engine_of(const ingress_config& how, const std::optional<egress_config>& egress) {
  return how.engine.value_or(egress ? egress->engine : policy_engine::core);
}

ingress_judge::ingress_judge(ingress_question asked) : asked_(std::move(asked)) {
}

ingress_judge::taken& ingress_judge::of(resource_kind kind) {
  return taken_[kind == resource_kind::network_policy ? 0 : 1];
}

void ingress_judge::begin(resource_kind kind) {
  of(kind) = taken{};
}

void ingress_judge::take(resource_kind kind, const json& item) {
  auto& to = of(kind);
  const auto name = policy_name{kind, name_of_item(item, to.items++)};
  if (kind == resource_kind::network_policy) {
    auto got = judge_core(item, asked_);
    to.examined.push_back({name, got.verdict, std::move(got.detail)});
    return;
  }
  for (auto& got : judge_cilium(item, asked_))
    to.examined.push_back({name, got.verdict, std::move(got.detail)});
}

result<void> ingress_judge::verdict(std::optional<unread_collection> unread) const {
  auto no = ingress_refused{{}, asked_.subject, asked_.pod_labels, asked_.agent_port, taken_[0].examined, {}};
  no.examined.insert(no.examined.end(), taken_[1].examined.begin(), taken_[1].examined.end());
  const auto any = [&](ingress_verdict which) {
    return std::ranges::any_of(no.examined, [&](const auto& x) { return x.verdict == which; });
  };
  if (unread) {
    no.refusal = ingress_refused::cause::not_evaluable;
    no.unread.push_back(std::move(*unread));
  } else if (any(ingress_verdict::opens_agent_port))
    no.refusal = ingress_refused::cause::port_open;
  else if (any(ingress_verdict::not_evaluable))
    no.refusal = ingress_refused::cause::not_evaluable;
  else if (!any(ingress_verdict::covers))
    no.refusal = ingress_refused::cause::no_covering_policy;
  else
    return {};
  return tl::unexpected{egress_error{std::move(no)}};
}

} // namespace paddock::egress
