#include "egress/ingress_rules.hpp"

#include "egress/cidr.hpp"
#include "egress/members.hpp"
#include "egress/port_ranges.hpp"
#include "egress/selectors.hpp"

#include <algorithm>
#include <array>

namespace paddock::egress {

using nlohmann::json;

namespace {

using effect = ingress_rule::effect;

ingress_rule unknown(std::string detail) {
  return {effect::unknown, std::move(detail)};
}

ingress_rule open(std::string detail) {
  return {effect::open, std::move(detail)};
}

/// The first part that is open, else the first that is unknown, else closed.
class worst {
public:
  void add(ingress_rule x) {
    if (x.is == effect::open && got_.is != effect::open)
      got_ = std::move(x);
    else if (x.is == effect::unknown && got_.is == effect::closed)
      got_ = std::move(x);
  }
  [[nodiscard]] ingress_rule value() && {
    return std::move(got_);
  }

private:
  ingress_rule got_;
};

/// Of a list, each of its elements; of what is none, that. Absent: closed.
template <class Judge>
ingress_rule each(const json* list, const std::string& name, Judge judge) {
  if (list == nullptr)
    return {};
  if (!list->is_array())
    return unknown(name + " is not a list");
  auto all = worst{};
  for (auto i = std::size_t{0}; i < list->size(); ++i) {
    auto one = judge((*list)[i]);
    one.detail.insert(0, name + "[" + std::to_string(i) + "]");
    all.add(std::move(one));
  }
  return std::move(all).value();
}

bool is_empty(const json* list) {
  return list == nullptr || (list->is_array() && list->empty());
}

// -- ports -------------------------------------------------------------------
//
// `open` stands for "covers the agent port" here.

struct port_dialect {
  std::string_view default_protocol;
  bool any_case;    // of protocols; `ANY` is one of them
  bool zero_is_all; // port 0
};
constexpr auto core_ports = port_dialect{"TCP", false, false};
constexpr auto cilium_ports = port_dialect{"ANY", true, true};

bool is_tcp(std::string protocol, const port_dialect& how) {
  if (how.any_case)
    std::ranges::transform(protocol, protocol.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return protocol == "TCP" || (how.any_case && protocol == "ANY");
}

ingress_rule covers_port(const json& entry, const port_dialect& how, std::uint16_t agent_port) {
  if (!entry.is_object())
    return unknown(" is not an object");
  const auto* protocol = member(entry, "protocol");
  if (protocol != nullptr && !protocol->is_string())
    return unknown(".protocol is not a text");
  const auto* end = member(entry, "endPort");
  if (end != nullptr && !end->is_number_integer())
    return unknown(".endPort is not a number");
  if (!is_tcp(protocol != nullptr ? protocol->get<std::string>() : std::string{how.default_protocol}, how))
    return {};
  const auto* port = member(entry, "port");
  if (port == nullptr)
    return open("");
  const auto first = port_number(*port);
  if (!first || (*first == 0 && !how.zero_is_all))
    return unknown(".port is not a port number");
  const auto last = end != nullptr ? port_number(*end) : first;
  if (!last || *last < *first)
    return unknown(".endPort is not a port from its port on");
  if ((*first <= agent_port && agent_port <= *last) || *first == 0)
    return open("");
  return {};
}

ingress_rule covers_port(const json& rule, std::uint16_t agent_port) {
  const auto* ports = member(rule, "ports");
  if (is_empty(ports))
    return open("");
  return each(ports, ".ports", [&](const json& x) { return covers_port(x, core_ports, agent_port); });
}

ingress_rule covers_port_in_cilium(const json& rule, std::uint16_t agent_port) {
  const auto* to_ports = member(rule, "toPorts");
  if (is_empty(to_ports))
    return open("");
  return each(to_ports, ".toPorts", [&](const json& x) {
    if (!x.is_object())
      return unknown(" is not an object");
    const auto* ports = member(x, "ports");
    if (is_empty(ports))
      return open("");
    return each(ports, ".ports", [&](const json& entry) { return covers_port(entry, cilium_ports, agent_port); });
  });
}

// -- sources -----------------------------------------------------------------

ingress_rule judge_block(const json* block) {
  if (block == nullptr || !block->is_string())
    return unknown(" is not a text");
  constexpr auto white = std::string_view{" \t\r\n"};
  auto text = std::string_view{block->get_ref<const std::string&>()};
  text.remove_prefix(std::min(text.find_first_not_of(white), text.size()));
  text.remove_suffix(text.size() - std::min(text.find_last_not_of(white) + 1, text.size()));
  const auto got = unambiguous_cidr(text);
  if (!got)
    return unknown(" is not a block of addresses");
  return got->bits == 0 ? open(" is every address") : ingress_rule{};
}

bool is_readable(const json* selector) {
  return selector == nullptr || read_demands(*selector).has_value();
}

bool selects_all(const json* selector) {
  return selector == nullptr || std::ranges::all_of(*selector, [](const json& x) { return x.is_null() || x.empty(); });
}

ingress_rule judge_peer(const json& peer) {
  if (!peer.is_object())
    return unknown(" is not an object");
  if (const auto* block = member(peer, "ipBlock")) {
    if (!block->is_object())
      return unknown(".ipBlock is not an object");
    auto got = judge_block(member(*block, "cidr"));
    got.detail.insert(0, ".ipBlock.cidr");
    return got;
  }
  const auto* pods = member(peer, "podSelector");
  const auto* spaces = member(peer, "namespaceSelector");
  if (pods == nullptr && spaces == nullptr)
    return unknown(" names no peer");
  if (!is_readable(pods))
    return unknown(".podSelector is not readable");
  if (!is_readable(spaces))
    return unknown(".namespaceSelector is not readable");
  return spaces != nullptr && selects_all(spaces) && selects_all(pods) ? open(" is every pod of the cluster") : ingress_rule{};
}

ingress_rule judge_entity(const json& x) {
  if (!x.is_string())
    return unknown(" is not a text");
  constexpr auto wide = std::array<std::string_view, 5>{"all", "cluster", "world", "world-ipv4", "world-ipv6"};
  return std::ranges::find(wide, x.get_ref<const std::string&>()) != wide.end() ? open(" is " + x.get<std::string>()) : ingress_rule{};
}

ingress_rule judge_set(const json& x) {
  if (!x.is_object())
    return unknown(" is not an object");
  auto got = judge_block(member(x, "cidr"));
  got.detail.insert(0, ".cidr");
  return got;
}

ingress_rule judge_selector(const json& x) {
  return x.is_object() && is_readable(&x) ? ingress_rule{} : unknown(" is not a readable selector");
}

ingress_rule judge_group(const json&) {
  return {};
}

struct source {
  const char* name;
  ingress_rule (*judge)(const json&);
};
constexpr auto cilium_sources = std::array{
  source{"fromEndpoints", judge_selector},
  source{"fromEntities", judge_entity},
  source{"fromCIDR", [](const json& x) { return judge_block(&x); }},
  source{"fromCIDRSet", judge_set},
  source{"fromNodes", judge_selector},
  source{"fromGroups", judge_group},
};

} // namespace

ingress_rule judge_core_ingress(const json& rule, std::uint16_t agent_port) {
  if (!rule.is_object())
    return unknown(" is not an object");
  if (auto port = covers_port(rule, agent_port); port.is != effect::open)
    return port;
  const auto* from = member(rule, "from");
  if (is_empty(from))
    return open(" admits every source");
  return each(from, ".from", judge_peer);
}

ingress_rule judge_cilium_ingress(const json& rule, std::uint16_t agent_port) {
  if (!rule.is_object())
    return unknown(" is not an object");
  if (auto port = covers_port_in_cilium(rule, agent_port); port.is != effect::open)
    return port;
  auto named = false;
  for (const auto& x : cilium_sources) {
    const auto* list = member(rule, x.name);
    if (list != nullptr && !list->is_array())
      return unknown("." + std::string{x.name} + " is not a list");
    named = named || !is_empty(list);
  }
  if (!named)
    return open(" admits every source");
  auto all = worst{};
  for (const auto& x : cilium_sources)
    all.add(each(member(rule, x.name), "." + std::string{x.name}, x.judge));
  // Sources add up: one of a kind that is not known here may be everyone.
  if (const auto other = unknown_member(rule, {"fromEndpoints", "fromRequires", "fromEntities", "fromCIDR", "fromCIDRSet", "fromNodes",
                                               "fromGroups", "toPorts", "icmps", "authentication"}))
    all.add(unknown("." + *other + " is not understood"));
  return std::move(all).value();
}

} // namespace paddock::egress
