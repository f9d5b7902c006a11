#include "egress/dns_restriction.hpp"
#include "egress/rule_verdict.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace paddock::egress {

using nlohmann::json;

namespace {

using answer = rule_verdict::answer;

/// Where a Cilium rule lets traffic go; they add up.
constexpr auto destinations =
  std::array<std::string_view, 8>{"toEntities", "toCIDR", "toCIDRSet", "toFQDNs", "toEndpoints", "toServices", "toGroups", "toNodes"};

constexpr auto not_allowed = "which the configuration does not allow, or not on these ports";

/// One rule under judgement.
class judged_rule {
public:
  judged_rule(const json& rule, const port_ranges& ports, const allowance& allowed, bool clusterwide) :
    rule_(rule),
    ports_(ports),
    allowed_(allowed),
    clusterwide_(clusterwide),
    reach_(allowed.destinations, ports),
    names_matter_(allowed.dns_narrowed_to && have_dns(ports)) {
  }

  rule_verdict verdict() {
    if (std::none_of(destinations.begin(), destinations.end(), [this](std::string_view x) { return !list(x).empty(); }))
      return allowed_.permits_everything
               ? rule_verdict{}
               : rule_verdict::beyond(rule_reason::everywhere, "", "names no destination, and so allows every one");
    for (const auto name : destinations)
      for (auto i = std::size_t{0}; i < list(name).size(); ++i)
        if (auto got = entry(name, list(name)[i]); got.is != answer::within) {
          got.where.path = at_index(name, i) + got.where.path;
          return got;
        }
    return {};
  }

private:
  const json& list(std::string_view name) const {
    static const auto none = json::array();
    const auto* x = member(rule_, name);
    return x == nullptr ? none : *x;
  }

  rule_verdict entry(std::string_view name, const json& x) {
    if (name == "toEntities")
      return entity(x);
    if (name == "toCIDR")
      return block(x, read_cidr_peer(x));
    if (name == "toCIDRSet")
      return block(x, read_cidr_set_peer(x));
    if (name == "toFQDNs")
      return host(x);
    if (name == "toEndpoints")
      return endpoint(x);
    return rule_verdict::unknown({"", "is a kind of destination that is not understood here"});
  }

  rule_verdict entity(const json& x) const {
    if (!x.is_string())
      return rule_verdict::unknown({"", "is not a string"});
    if (allowed_.permits_everything)
      return {};
    return rule_verdict::beyond(rule_reason::entity, "", "reaches the entity " + excerpt(x) + ", and the configuration allows none");
  }

  rule_verdict block(const json& x, const tl::expected<peer, unreadable>& read) {
    if (!read)
      return rule_verdict::unknown(read.error());
    if (reach_.has(*read))
      return {};
    return rule_verdict::beyond(rule_reason::destination, "", "reaches " + excerpt(x) + ", " + not_allowed);
  }

  rule_verdict host(const json& x) {
    if (!x.is_object())
      return rule_verdict::unknown({"", "is not an object"});
    if (auto name = unknown_member(x, {"matchName", "matchPattern"}))
      return rule_verdict::unknown({"." + *name, "is not understood"});
    if (member(x, "matchPattern") != nullptr)
      return rule_verdict::beyond(rule_reason::host_pattern, ".matchPattern",
                                  "reaches what matches " + excerpt(x) + " by matchPattern, and only names can be compared");
    const auto name = text_of(member(x, "matchName"));
    const auto known = name ? allowed_.hosts.find(*name) : allowed_.hosts.end();
    if (known == allowed_.hosts.end())
      return rule_verdict::beyond(rule_reason::host, "", "reaches " + excerpt(x) + ", which is not in the configured list");
    if (cover_rule(known->second))
      return {};
    return rule_verdict::beyond(rule_reason::host, "",
                                "reaches " + excerpt(x) + " on ports or TLS server names that the configuration does not allow");
  }

  /// Whether `allowed` ports of a host are all of the rule's. Found once for each host: a rule with many entries and many ports takes no
  /// time by their product.
  bool cover_rule(const port_ranges& allowed) {
    const auto [known, is_new] = hosts_covered_.try_emplace(&allowed, false);
    if (is_new)
      known->second = std::all_of(ports_.begin(), ports_.end(), [&](const port_range& wanted) {
        return std::any_of(allowed.begin(), allowed.end(), [&](const port_range& x) { return x.covers(wanted); });
      });
    return known->second;
  }

  rule_verdict endpoint(const json& x) {
    const auto read = read_endpoint_peer(x, clusterwide_);
    if (!read)
      return rule_verdict::unknown(read.error());
    if (names_matter_ && meets_resolver(*read) && !asks_for_allowed_names())
      return rule_verdict::beyond(rule_reason::dns_names, "",
                                  "reaches the cluster's DNS without a restriction of names to those of the configuration");
    if (reach_.has(*read))
      return {};
    return rule_verdict::beyond(rule_reason::destination, "", "reaches " + excerpt(x) + ", " + not_allowed);
  }

  /// Found once: it is the same for every entry of the rule.
  bool asks_for_allowed_names() {
    if (!names_allowed_) {
      const auto asked = read_dns_restriction(member(rule_, "toPorts"));
      names_allowed_ = asked && *asked && std::all_of((*asked)->begin(), (*asked)->end(), [this](std::string_view x) {
                         return allowed_.dns_narrowed_to->contains(x);
                       });
    }
    return *names_allowed_;
  }

  const json& rule_;
  const port_ranges& ports_;
  const allowance& allowed_;
  bool clusterwide_;
  containment reach_;
  bool names_matter_; // of DNS
  std::map<const port_ranges*, bool> hosts_covered_;
  std::optional<bool> names_allowed_;
};

} // namespace

rule_verdict judge_cilium_rule(const json& rule, const allowance& allowed, bool clusterwide) {
  if (allowed.permits_nothing)
    return rule_verdict::beyond(rule_reason::nothing_permitted, "", "allows something, and the configuration permits no egress at all");
  if (!rule.is_object())
    return rule_verdict::unknown({"", "is not an object"});
  const auto ports = read_cilium_ports(member(rule, "toPorts"));
  if (!ports)
    return rule_verdict::unknown(ports.error());
  for (const auto name : destinations)
    if (const auto* x = member(rule, name); x != nullptr && !x->is_array())
      return rule_verdict::unknown({"." + std::string{name}, "is not a list"});
  auto got = judged_rule{rule, *ports, allowed, clusterwide}.verdict();
  // A destination that nobody here knows may be any. `toRequires` and the rest narrow what the others allow.
  if (got.is == answer::within && !allowed.permits_everything)
    if (auto name = unknown_member(rule, {"toEntities", "toCIDR", "toCIDRSet", "toFQDNs", "toEndpoints", "toServices", "toGroups",
                                          "toNodes", "toPorts", "toRequires", "icmps", "authentication"}))
      return rule_verdict::unknown({"." + *name, "is not understood"});
  return got;
}

} // namespace paddock::egress
