#pragma once

#include "workspace/ports.hpp"

#include <optional>

namespace paddock::workspace {

/// Why a suspend may not join one that is under way, or nothing ([W] 2.5). Checked in this order: it wants a flush and the
/// other is not flushing (`flush_unconfirmed`); it wants a quiesce and the other is not quiescing (`quiesce_unconfirmed`).
/// Nothing is sent for a refused joiner, and the other goes on.
[[nodiscard]] inline std::optional<guest::failure> refused_joiner(const suspend_options& flight, const suspend_options& joiner) {
  constexpr auto reason = "suspend_already_in_flight";
  if (joiner.flush && !flight.flush)
    return guest::flush_unconfirmed{reason, "the suspend that is under way does not flush"};
  if (joiner.quiesce && !flight.quiesce)
    return guest::quiesce_unconfirmed{reason, "the suspend that is under way does not quiesce"};
  return std::nullopt;
}

} // namespace paddock::workspace
