#pragma once

#include "egress/peers.hpp"
#include "egress/policy_object.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace paddock::egress {

/// What a configuration lets a pod reach, so that a rule of a policy can be compared with it ([E] 3.6). The texts in it stand in
/// the objects that it names, which it keeps.
struct allowance {
  std::vector<destination> destinations;
  std::map<std::string_view, port_ranges> hosts;             // by exact name; the ports with their server names
  std::optional<std::set<std::string_view>> dns_narrowed_to; // names that the resolver may be asked for; absent: all
  bool permits_everything = false;
  bool permits_nothing = false;
  egress::policy_kind policy_kind{};
  std::shared_ptr<const policy_object> named;                   // what an operator applies
  std::vector<std::shared_ptr<const policy_object>> also_named; // what this host wrote beside it
};

/// What `translated` permits. A part of it that is not understood permits nothing.
[[nodiscard]] allowance allowance_of(policy_object translated);

/// What a pod reaches under both: Kubernetes adds up what selects it.
[[nodiscard]] allowance union_of(allowance baseline, const allowance& added);

} // namespace paddock::egress
