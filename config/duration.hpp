#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::config {

/// A duration as people write it: a whole number and one of the units `ms`, `s`, `m`, `h`; without a unit it counts
/// milliseconds. `250`, `250ms`, `30s`, `1m`. No sign, no fraction, no space, no second unit. Nothing for any other text,
/// and for a duration of more than 2^53 - 1 milliseconds.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

/// The shortest text that `parse_duration` reads back as `x`: `90s`, `1m`, `250ms`, `0ms`.
/// @pre `x` is not negative
[[nodiscard]] std::string write_duration(std::chrono::milliseconds x);

/// A whole number in decimal digits without sign or needless zeros, at most 2^53 - 1.
[[nodiscard]] std::optional<std::uint64_t> parse_whole(std::string_view text);

} // namespace paddock::config
