#pragma once

#include "base/time.hpp"
#include "egress/egress_config.hpp"

#include <chrono>
#include <string_view>

namespace paddock::egress {

// When a pass of the union check stands for another one ([E] 3.11). What was refused never does.

/// Of pods with the same key one pass answers for all. The per-sandbox label is not in it: its value is another one for each sandbox.
[[nodiscard]] label_map union_cache_key(label_map pod_labels, std::string_view per_sandbox_label_key);

inline constexpr auto union_cache_lifetime = std::chrono::minutes{5};

/// Whether a pass that began at `began` still stands.
[[nodiscard]] bool is_fresh(time_source::clock::time_point began, time_source::clock::time_point now);

} // namespace paddock::egress
