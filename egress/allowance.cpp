#include "egress/allowance.hpp"

#include "egress/dns_restriction.hpp"

#include <algorithm>
#include <utility>

namespace paddock::egress {

using nlohmann::json;

namespace {

const json& no_rules() {
  static const auto none = json::array();
  return none;
}

const json& rules_of(const json& manifest) {
  const auto* spec = member(manifest, "spec");
  const auto* rules = spec == nullptr ? nullptr : member(*spec, "egress");
  return rules != nullptr && rules->is_array() ? *rules : no_rules();
}

bool is_every_port(const port_ranges& x) {
  return std::any_of(x.begin(), x.end(), [](const port_range& y) { return y.every && y.protocol.empty() && y.names.empty(); });
}

void add_core_rule(const json& rule, allowance& to) {
  auto ports = read_core_ports(member(rule, "ports"));
  if (!rule.is_object() || !ports)
    return;
  const auto* peers = member(rule, "to");
  if (peers == nullptr || (peers->is_array() && peers->empty())) {
    to.permits_everything = to.permits_everything || is_every_port(*ports);
    to.destinations.push_back({everything{}, std::move(*ports)});
    return;
  }
  for (const auto& x : peers->is_array() ? *peers : no_rules())
    if (auto one = read_core_peer(x))
      to.destinations.push_back({std::move(*one), *ports});
}

void add_hosts(const json& rule, allowance& to) {
  const auto* hosts = member(rule, "toFQDNs");
  const auto ports = read_cilium_ports(member(rule, "toPorts"));
  if (hosts == nullptr || !hosts->is_array() || !ports)
    return;
  for (const auto& x : *hosts)
    if (const auto name = text_of(member(x, "matchName"))) {
      auto& known = to.hosts[*name];
      known.insert(known.end(), ports->begin(), ports->end());
    }
}

void add_cilium_rules(const json& rules, allowance& to) {
  to.destinations.push_back({cluster_resolver(), {{"", 53, 53, false}}});
  to.dns_narrowed_to.emplace();
  const auto dns = std::find_if(rules.begin(), rules.end(), [](const json& x) { return member(x, "toEndpoints") != nullptr; });
  if (const auto names = dns == rules.end() ? dns_restriction{std::in_place}
                                            : read_dns_restriction(member(*dns, "toPorts")).value_or(std::vector<std::string_view>{}))
    to.dns_narrowed_to->insert(names->begin(), names->end());
  else
    to.dns_narrowed_to.reset();
  for (const auto& x : rules)
    add_hosts(x, to);
}

/// The names that a side of a union brings; nothing: all.
std::optional<std::set<std::string_view>> names_of(const allowance& x) {
  return x.permits_nothing ? std::optional{std::set<std::string_view>{}} : x.dns_narrowed_to;
}

} // namespace

allowance allowance_of(policy_object translated) {
  auto got = allowance{};
  got.policy_kind = translated.policy_kind;
  got.named = std::make_shared<const policy_object>(std::move(translated));
  const auto& rules = rules_of(got.named->manifest);
  if (got.named->kind == resource_kind::network_policy) {
    got.permits_nothing = rules.empty();
    for (const auto& x : rules)
      add_core_rule(x, got);
  } else {
    add_cilium_rules(rules, got);
  }
  return got;
}

allowance union_of(allowance baseline, const allowance& added) {
  auto names = names_of(baseline);
  if (const auto more = names_of(added); names && more)
    names->insert(more->begin(), more->end());
  else
    names.reset();
  auto got = std::move(baseline);
  got.dns_narrowed_to = std::move(names);
  got.destinations.insert(got.destinations.end(), added.destinations.begin(), added.destinations.end());
  for (const auto& [name, ports] : added.hosts) {
    auto& known = got.hosts[name];
    known.insert(known.end(), ports.begin(), ports.end());
  }
  got.permits_everything = got.permits_everything || added.permits_everything;
  got.permits_nothing = got.permits_nothing && added.permits_nothing;
  got.also_named.push_back(added.named);
  got.also_named.insert(got.also_named.end(), added.also_named.begin(), added.also_named.end());
  return got;
}

} // namespace paddock::egress
