#pragma once

#include "workspace/ports.hpp"

#include <optional>
#include <string>

namespace paddock::workspace {

/// Why a suspend may not join one that is under way, or nothing ([W] 2.5). Checked in this order: it wants a flush and the
/// other is not flushing (`FlushUnconfirmed`); it wants a quiesce and the other is not quiescing (`QuiesceUnconfirmed`).
/// Nothing is sent for a refused joiner, and the other goes on.
[[nodiscard]] inline std::optional<std::string> refused_joiner(const suspend_options& flight, const suspend_options& joiner) {
  if (joiner.flush && !flight.flush)
    return "FlushUnconfirmed";
  if (joiner.quiesce && !flight.quiesce)
    return "QuiesceUnconfirmed";
  return std::nullopt;
}

} // namespace paddock::workspace
