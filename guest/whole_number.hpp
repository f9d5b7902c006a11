#pragma once

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <optional>

namespace paddock::guest {

/// The value of a positive safe integer in any notation of JSON (`1e3` is 1000); absent for everything else.
[[nodiscard]] inline std::optional<std::uint64_t> positive_safe_integer(const nlohmann::json& x) {
  constexpr auto most = double{9'007'199'254'740'991};
  if (!x.is_number())
    return std::nullopt;
  auto value = x.get<double>(); // exact for all that are safe
  if (!(value >= 1) || value > most || std::floor(value) != value)
    return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

} // namespace paddock::guest
