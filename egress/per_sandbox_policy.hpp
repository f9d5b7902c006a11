#pragma once

#include "egress/host_entry.hpp"
#include "egress/policy_object.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::egress {

/// The object with which a per-sandbox policy lives and dies.
struct policy_owner {
  enum class type : std::uint8_t { sandbox_claim, sandbox };
  type kind = type::sandbox;
  std::string name;
  std::string uid;
};

/// The one name under which a policy of this owner is ever written.
[[nodiscard]] std::string per_sandbox_policy_name(std::string_view owner_uid);

/// The entries of a call in lower case, as the policy holds them ([E] 5.4, steps 1 and 2). Sends nothing; one bad entry refuses
/// the list.
[[nodiscard]] result<std::vector<host_entry>> per_sandbox_hosts(const per_sandbox_egress& how, const std::vector<std::string>& allowed);

/// The policy that adds `hosts` to what the pod labelled with `selector_value` may reach ([E] 2.9).
/// @pre `hosts` are what `per_sandbox_hosts` made under `how`, and at least one: without hosts there is no policy
[[nodiscard]] result<policy_object> per_sandbox_policy(const per_sandbox_egress& how, std::string name_space, const policy_owner& owner,
                                                       const std::string& selector_value, std::vector<host_entry> hosts);

} // namespace paddock::egress
