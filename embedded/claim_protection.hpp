#pragma once

#include "k8s/call.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <vector>

namespace paddock::embedded {

/// The finalizer that keeps a claim while a pod uses it.
inline constexpr auto claim_protection = "kubernetes.io/pvc-protection";

/// The patch that puts the finalizer on a claim, or nothing: it has it, or terminates.
[[nodiscard]] std::optional<k8s::call> protect_claim(const nlohmann::json& claim);

/// The patch that lets a terminating claim go, or nothing: it does not terminate, has no protection, or a pod uses it.
[[nodiscard]] std::optional<k8s::call> release_claim(const nlohmann::json& claim, const std::vector<nlohmann::json>& pods);

} // namespace paddock::embedded
