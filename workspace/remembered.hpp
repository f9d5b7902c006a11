#pragma once

#include "workspace/session.hpp"

#include <cstdint>
#include <optional>

namespace paddock::workspace {

/// What a host keeps of a workspace of which it lets go: nothing that the cluster knows, but which object it held, what it had written
/// there, and the epoch that it may not lower ([W] P1, P3, P11). Empty: nothing of it was ever known.
struct remembered {
  std::optional<std::uint64_t> epoch;
  bool stamped = false;
  std::optional<sandbox_uid> sandbox;

  [[nodiscard]] bool empty() const noexcept {
    return !epoch && !sandbox;
  }
};

/// What remains of a session that is let go. Nothing: it has to stay, because a write of unknown outcome left it ([W] P4).
[[nodiscard]] std::optional<remembered> what_remains(const session& x);

/// The session of a workspace that comes back. What stands is not known: every verb reads it first.
[[nodiscard]] session session_of(const remembered& x);

} // namespace paddock::workspace
