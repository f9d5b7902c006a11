#pragma once

#include "base/time.hpp"

#include <optional>
#include <string_view>

namespace paddock::embedded {

/// An instant as objects carry it: RFC 3339 with `Z` or an offset; fractions of a second are dropped. Nothing for an absent or
/// unreadable one.
[[nodiscard]] std::optional<time_source::wall_clock::time_point> read_instant(std::string_view text);

} // namespace paddock::embedded
