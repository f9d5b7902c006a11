#pragma once

#include "egress/egress_config.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::egress {

// What one object of the fence must say ([E] 4.3 to 4.5). Each looks at a `spec` and answers with what is wrong with it, or
// nothing. `status` is never looked at: a stale one does not stop enforcement.

using fence_complaint = std::optional<std::string>;

struct fence_demand {
  std::string policy;                  // that the binding must name
  std::string name_space;              // that both must reach
  std::vector<std::string> operations; // that both must be about
};

/// Of the whole object: it is one, has a spec, and is not on its way out.
[[nodiscard]] fence_complaint check_readable(const nlohmann::json& object);

// -- of a policy ------------------------------------------------------------

/// The one match condition says `request.userInfo.username == '<identity>'`, in either quotes and with any spacing. A second
/// condition could exempt the host.
[[nodiscard]] fence_complaint check_identity(const nlohmann::json& spec, const std::string& identity);
[[nodiscard]] fence_complaint check_param_kind(const nlohmann::json& spec);
[[nodiscard]] fence_complaint check_failure_policy(const nlohmann::json& spec, const fence_demand& what);
[[nodiscard]] fence_complaint check_match_constraints(const nlohmann::json& spec, const fence_demand& what);
[[nodiscard]] fence_complaint check_validations(const nlohmann::json& spec, const fence_demand& what);

// -- of a binding -----------------------------------------------------------

[[nodiscard]] fence_complaint check_policy_name(const nlohmann::json& spec, const fence_demand& what);
[[nodiscard]] fence_complaint check_validation_actions(const nlohmann::json& spec, const fence_demand& what);
[[nodiscard]] fence_complaint check_match_resources(const nlohmann::json& spec, const fence_demand& what);
/// A parameter, where there is one, refuses the write when it is missing: `Allow` would let it through.
[[nodiscard]] fence_complaint check_missing_param(const nlohmann::json& spec, const fence_demand& what);
/// The parameter is exactly this ConfigMap, and without it the write is refused.
[[nodiscard]] fence_complaint check_param_ref(const nlohmann::json& spec, const object_reference& config_map);

} // namespace paddock::egress
