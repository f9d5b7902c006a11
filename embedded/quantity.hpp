#pragma once

#include <optional>
#include <string_view>

namespace paddock::embedded {

/// A Kubernetes quantity (`100m`, `1.5`, `2Gi`, `1e3`) as a number, or nothing for another text.
[[nodiscard]] std::optional<double> read_quantity(std::string_view text);

} // namespace paddock::embedded
