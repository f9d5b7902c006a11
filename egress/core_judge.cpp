#include "egress/rule_verdict.hpp"

namespace paddock::egress {

using nlohmann::json;

namespace {

rule_verdict not_a_list(std::string path) {
  return rule_verdict::unknown({std::move(path), "is not a list"});
}

} // namespace

rule_verdict judge_core_rule(const json& rule, const allowance& allowed) {
  if (allowed.permits_nothing)
    return rule_verdict::beyond(rule_reason::nothing_permitted, "", "allows something, and the configuration permits no egress at all");
  if (!rule.is_object())
    return rule_verdict::unknown({"", "is not an object"});
  if (auto name = unknown_member(rule, {"to", "ports"}))
    return rule_verdict::unknown({"." + *name, "is not understood"});
  const auto ports = read_core_ports(member(rule, "ports"));
  if (!ports)
    return rule_verdict::unknown(ports.error());
  const auto* to = member(rule, "to");
  if (to != nullptr && !to->is_array())
    return not_a_list(".to");
  if (to == nullptr || to->empty())
    return allowed.permits_everything ? rule_verdict{}
                                      : rule_verdict::beyond(rule_reason::everywhere, "", "names no destination, and so allows every one");
  auto reach = containment{allowed.destinations, *ports};
  for (auto i = std::size_t{0}; i < to->size(); ++i) {
    const auto& x = (*to)[i];
    const auto one = read_core_peer(x);
    if (!one)
      return rule_verdict::unknown({at_index("to", i) + one.error().path, one.error().detail});
    if (allowed.dns_narrowed_to && reaches_resolver(*one, *ports))
      return rule_verdict::beyond(rule_reason::dns_names, at_index("to", i),
                                  "reaches the cluster's DNS without a restriction of names, which the configuration has and a "
                                  "NetworkPolicy cannot express");
    if (!reach.has(*one))
      return rule_verdict::beyond(rule_reason::destination, at_index("to", i),
                                  "reaches " + excerpt(x) + ", which the configuration does not allow, or not on these ports");
  }
  return {};
}

} // namespace paddock::egress
