#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace paddock::embedded {

/// Why the claim's `additionalPodMetadata` may not be used, or nothing ([C] 4.8, 3): a label needs a domain that is, or lies
/// below, one of `domains`, and a label's value; an annotation may not be of a system domain.
[[nodiscard]] std::optional<std::string> metadata_fault(const nlohmann::json& claim, const std::vector<std::string>& domains);

} // namespace paddock::embedded
