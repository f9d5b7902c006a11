#pragma once

#include "egress/errors.hpp"
#include "egress/policy_object.hpp"
#include "k8s/call.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace paddock::egress {

// Whether the object that an operator applies stands as the configuration means it ([E] 3.2).

/// The one GET of the check.
[[nodiscard]] k8s::call named_object_request(const policy_object& wanted);

/// Judges its answer: `policy_not_applied` for a 404 or 410, `policy_mismatch` naming the first member that differs, every other
/// failure as it came. A missing body, like a missing `spec`, is an empty one.
[[nodiscard]] result<void> judge_named_object(const policy_object& wanted, const k8s::result<std::optional<nlohmann::json>>& answer);

/// The same for an object that is at hand, and what else there is to say of it than its path.
[[nodiscard]] std::optional<std::string> difference_of(const policy_object& wanted, const nlohmann::json& live);

/// As `difference_of`, without a word about a list `specs`: whether the object's own `spec`, and its owners, are what is meant.
[[nodiscard]] std::optional<std::string> own_difference_of(const policy_object& wanted, const nlohmann::json& live);

} // namespace paddock::egress
