#pragma once

#include "egress/errors.hpp"
#include "egress/policy_object.hpp"

#include <string>
#include <vector>

namespace paddock::egress {

/// Whose egress a configuration bounds.
struct policy_target {
  std::string name_space;
  std::string template_name;
};

/// Whether the engine can enforce the policy, the excluded blocks are blocks or the hosts are any, and an active narrowing
/// narrows something and has legal values: in this order ([E] 1.7). A resolver's hosts are not asked for before this holds. A
/// list without hosts is refused because what data planes make of it is not known, and `deny-all` says it.
[[nodiscard]] result<void> check_enforceable(const egress_config& config);

/// Whether an active narrowing has something to narrow: a list of hosts under engine cilium.
[[nodiscard]] result<void> check_narrowable(const egress_config& config);

/// The one object that `config` means for `target`, which an operator applies ([E] 2). `resolved` are the hosts that the
/// embedding program said, for a policy of kind resolver; the other kinds ignore them. Checks `check_enforceable` first.
[[nodiscard]] result<policy_object> translate(const egress_config& config, const policy_target& target,
                                              const std::vector<std::string>& resolved = {});

} // namespace paddock::egress
