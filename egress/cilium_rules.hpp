#pragma once

#include "egress/host_entry.hpp"
#include "egress/policy_object.hpp"

#include <optional>
#include <string>
#include <vector>

namespace paddock::egress {

/// Everything that a CiliumNetworkPolicy for a list of hosts is made of.
struct cilium_policy {
  egress::policy_kind policy_kind{};
  std::string name_space;
  std::string name;
  label_map selects;
  std::vector<host_entry> hosts{};
  std::optional<egress::narrowing> narrowing{};
  std::string narrowing_field; // its path below `config.egress`, for refusals
};

/// The object ([E] 2.6-2.8): the DNS rule, then one rule for all hosts or, narrowed, one for each. Refused when the narrowing
/// attaches server names and an entry means a whole domain.
[[nodiscard]] result<policy_object> compose(const cilium_policy& what);

} // namespace paddock::egress
