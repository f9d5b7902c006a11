#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string_view>

namespace paddock::embedded {

/// A Kubernetes quantity (`100m`, `1.5`, `2Gi`, `1e3`) as a finite number, or nothing for another text.
[[nodiscard]] std::optional<double> read_quantity(std::string_view text);

/// The quantity of that name in a map of them (`resources.limits`), given as a text or as a number; absent, unreadable and
/// negative ones are none: 0.
[[nodiscard]] double quantity_in(const nlohmann::json& map, std::string_view name);

} // namespace paddock::embedded
