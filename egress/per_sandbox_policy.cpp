#include "egress/per_sandbox_policy.hpp"

#include "egress/cilium_rules.hpp"
#include "egress/narrowing.hpp"

#include <algorithm>

namespace paddock::egress {

namespace {

using json = nlohmann::json;

constexpr auto narrowing_field = "perSandbox.narrowing";

// Neither `controller` nor `blockOwnerDeletion`: the latter takes a verb that no host has.
json reference_to(const policy_owner& x) {
  auto claim = x.kind == policy_owner::type::sandbox_claim;
  return {{"apiVersion", claim ? "extensions.agents.x-k8s.io/v1beta1" : "agents.x-k8s.io/v1beta1"},
          {"kind", claim ? "SandboxClaim" : "Sandbox"},
          {"name", x.name},
          {"uid", x.uid}};
}

} // namespace

std::string per_sandbox_policy_name(std::string_view owner_uid) {
  return std::string{per_sandbox_name_prefix} + std::string{owner_uid};
}

result<std::vector<host_entry>> per_sandbox_hosts(const per_sandbox_egress& how, const std::vector<std::string>& allowed) {
  auto hosts = parse_hosts(allowed);
  if (!hosts)
    return hosts;
  if (how.narrowing)
    if (auto ok = check_server_names(*how.narrowing, *hosts, narrowing_field); !ok)
      return tl::unexpected{ok.error()};
  std::transform(hosts->begin(), hosts->end(), hosts->begin(), [](const auto& x) { return x.lowered(); });
  return hosts;
}

result<policy_object> per_sandbox_policy(const per_sandbox_egress& how, std::string name_space, const policy_owner& owner,
                                         const std::string& selector_value, std::vector<host_entry> hosts) {
  auto got = compose(cilium_policy{policy_kind::static_hosts,
                                   std::move(name_space),
                                   per_sandbox_policy_name(owner.uid),
                                   {{how.label_key, selector_value}},
                                   std::move(hosts),
                                   how.narrowing,
                                   narrowing_field});
  if (got)
    got->manifest["metadata"]["ownerReferences"] = json::array({reference_to(owner)});
  return got;
}

} // namespace paddock::egress
