#include "egress/rule_verdict.hpp"

namespace paddock::egress {

using nlohmann::json;

rule_verdict judge_core_rule(const json& rule, const allowance& allowed) {
  if (allowed.permits_nothing)
    return rule_verdict::beyond(rule_reason::nothing_permitted, "", "allows something, and the configuration permits no egress at all");
  if (!rule.is_object())
    return rule_verdict::unknown({"", "is not an object"});
  const json* to = nullptr;
  const json* listed = nullptr;
  if (const auto* other = find_members(rule, {{"to", to}, {"ports", listed}}))
    return rule_verdict::unknown({"." + *other, "is not understood"});
  const auto ports = read_core_ports(listed);
  if (!ports)
    return rule_verdict::unknown(ports.error());
  if (to != nullptr && !to->is_array())
    return rule_verdict::unknown({".to", "is not a list"});
  if (to == nullptr || to->empty())
    return allowed.permits_everything ? rule_verdict{}
                                      : rule_verdict::beyond(rule_reason::everywhere, "", "names no destination, and so allows every one");
  const auto asks_names = allowed.dns_narrowed_to && have_dns(*ports);
  auto reach = containment{allowed.destinations, *ports};
  for (auto i = std::size_t{0}; i < to->size(); ++i) {
    const auto& x = (*to)[i];
    const auto one = read_core_peer(x);
    if (!one)
      return rule_verdict::unknown({at_index("to", i) + one.error().path, one.error().detail});
    if (asks_names && meets_resolver(*one))
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
