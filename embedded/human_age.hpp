#pragma once

#include "base/time.hpp"

#include <string>
#include <string_view>

namespace paddock::embedded {

/// How long ago the instant was, as tables show it: `45s`, `3m20s`, `5d`. `<unknown>` for an absent or unreadable one.
[[nodiscard]] std::string human_age(std::string_view instant, time_source::wall_clock::time_point now);

} // namespace paddock::embedded
