#include "egress/translate.hpp"

#include "egress/cidr.hpp"
#include "egress/cilium_rules.hpp"
#include "egress/core_rules.hpp"
#include "egress/labels.hpp"
#include "egress/narrowing.hpp"

namespace paddock::egress {

namespace {

/// Whether a decimal number in a block begins with a needless zero. The groups of an IPv6 address are none.
bool has_leading_zero(std::string_view block) {
  auto decimals = block.substr(block.rfind(':') + 1);
  if (decimals.find('.') == std::string_view::npos)
    decimals = decimals.substr(decimals.find('/') + 1);
  for (auto at = std::size_t{0}; at + 1 < decimals.size(); ++at)
    if (decimals[at] == '0' && (at == 0 || decimals[at - 1] == '.' || decimals[at - 1] == '/') && decimals[at + 1] >= '0')
      return true;
  return false;
}

/// What is wrong with a block that is to be taken out of the whole internet; empty: nothing.
std::string_view problem_of(std::string_view text) {
  auto got = read_cidr(text);
  if (!got)
    return "is no block of addresses: an address, a slash and the number of its leading bits";
  if (has_leading_zero(text))
    return "has a number with a leading zero, which the API server refuses";
  if (got->host_bits)
    return "has bits set beyond its prefix, which the API server refuses";
  if (got->mapped)
    return "is an IPv4 block in an IPv6 form, which data planes read differently: write it as IPv4";
  if (got->block.bits == 0)
    return "is the whole internet: configure no-network or deny-all";
  return {};
}

result<void> check_blocks(const public_internet& policy) {
  for (const auto& x : policy.except_cidrs)
    if (auto problem = problem_of(x); !problem.empty())
      return tl::unexpected{illegal_config{"policy.exceptCidrs", "holds \"" + x + "\", which " + std::string{problem}}};
  return {};
}

result<void> check_listed(const static_hosts& policy) {
  if (!policy.allowed_hosts.empty())
    return {};
  return tl::unexpected{illegal_config{"policy.allowedHosts", "is empty: configure deny-all for DNS alone, no-network for nothing"}};
}

result<std::vector<host_entry>> hosts_of(const egress_policy& policy, const std::vector<std::string>& resolved) {
  if (const auto* listed = std::get_if<static_hosts>(&policy))
    return parse_hosts(listed->allowed_hosts);
  if (resolved.empty())
    return tl::unexpected{illegal_config{"policy", "of kind resolver was given no host at all"}};
  return parse_hosts(resolved);
}

} // namespace

result<void> check_narrowable(const egress_config& config) {
  auto kind = kind_of(config.policy);
  if (names_hosts(kind) && config.engine == policy_engine::cilium)
    return {};
  return tl::unexpected{narrowing_unsupported{kind, config.engine}};
}

result<void> check_enforceable(const egress_config& config) {
  auto kind = kind_of(config.policy);
  if (names_hosts(kind) && config.engine != policy_engine::cilium)
    return tl::unexpected{unenforceable_policy{kind}};
  if (const auto* internet = std::get_if<public_internet>(&config.policy))
    if (auto ok = check_blocks(*internet); !ok)
      return ok;
  if (const auto* listed = std::get_if<static_hosts>(&config.policy))
    if (auto ok = check_listed(*listed); !ok)
      return ok;
  if (!config.cilium_narrowing || !config.cilium_narrowing->active())
    return {};
  if (auto ok = check_narrowable(config); !ok)
    return ok;
  return check_narrowing(*config.cilium_narrowing, "ciliumNarrowing");
}

result<policy_object> translate(const egress_config& config, const policy_target& target, const std::vector<std::string>& resolved) {
  if (auto ok = check_enforceable(config); !ok)
    return tl::unexpected{ok.error()};
  auto name = named_object_name(config, target.template_name);
  if (!name)
    return tl::unexpected{name.error()};
  auto selects = selected_labels(config, target.template_name);
  auto kind = kind_of(config.policy);
  if (!names_hosts(kind))
    return compose(config.policy, target.name_space, *std::move(name), selects);
  auto hosts = hosts_of(config.policy, resolved);
  if (!hosts)
    return tl::unexpected{hosts.error()};
  return compose(
    {kind, target.name_space, *std::move(name), std::move(selects), *std::move(hosts), config.cilium_narrowing, "ciliumNarrowing"});
}

} // namespace paddock::egress
