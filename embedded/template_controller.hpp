#pragma once

#include "k8s/call.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <vector>

namespace paddock::embedded {

/// The writes that bring a SandboxTemplate and its NetworkPolicy to what [C] 4.9 says: the label with the hash of its name; a
/// policy `<name>-network-policy` while it is managed, and none while it is not. A policy of that name that somebody else
/// controls is left alone. None for a terminating template.
[[nodiscard]] std::vector<k8s::call> plan_template(const nlohmann::json& sandbox_template, const std::optional<nlohmann::json>& policy);

/// The name of the template's NetworkPolicy.
[[nodiscard]] std::string policy_name_of(const nlohmann::json& sandbox_template);

} // namespace paddock::embedded
