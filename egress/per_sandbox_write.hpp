#pragma once

#include "egress/per_sandbox_policy.hpp"
#include "k8s/call.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace paddock::egress {

// What is sent to give one sandbox a policy of its own, and to take it away ([E] 5.4). The fence bounds all of it; whoever sends
// proves it first.

/// Whose policy, and what it selects.
struct grant_target {
  per_sandbox_egress how;
  std::string name_space;
  policy_owner owner;
  std::string selector_value;
  /// Whether another object may come to stand under the owner's name, and is then selected in its place: so it is for a
  /// workspace ([W] P7), and not for what has a name of its own.
  bool name_may_pass_on = false;
};

[[nodiscard]] k8s::call create_policy(const policy_object& what);
/// The whole manifest as a merge patch: lists are replaced as a whole. What the object has beside survives; the read-back and
/// the fence see to that.
[[nodiscard]] k8s::call replace_policy(const policy_object& what);
[[nodiscard]] k8s::call remove_policy(const grant_target& whose);
/// Removes the very object that was written, and no later one of its name.
[[nodiscard]] k8s::call take_back_policy(const policy_object& what, const std::string& uid_of_policy);
[[nodiscard]] k8s::call read_owner(const grant_target& whose);

/// The failure of a write: itself, or that nobody knows whether it was applied.
[[nodiscard]] egress_error of_write(const k8s::call& what, const k8s::failure& why);

/// Whether an item of the namespace's CiliumNetworkPolicies is a policy that some host wrote for a sandbox of this name, and
/// its owner is another object than the one that stands: what a predecessor was granted ([E] 5.8). It has to go.
[[nodiscard]] bool is_of_predecessor(const nlohmann::json& item, const grant_target& whose);

} // namespace paddock::egress
