#pragma once

#include "workspace/failure.hpp"
#include "workspace/session.hpp"

#include <optional>
#include <string>

namespace paddock::workspace {

/// Whether a workspace may be asked about its policy ([W] 3.15.3): a deleted one is `destroyed`, and nothing is sent. One that is
/// suspended, or of which nothing is known yet, may.
[[nodiscard]] inline result<void> may_be_granted(const id& which, const session& held, std::string operation) {
  if (held.at == state::deleted)
    return tl::unexpected{failure{destroyed{std::move(operation), which.sandbox_name()}}};
  return {};
}

/// Whether the Sandbox that stands is the one of the session: `replaced` where it is not, or none was read. A session that has
/// bound none yet takes whichever stands.
[[nodiscard]] inline result<void> check_owner(const id& which, const session& held, const std::optional<sandbox_uid>& stands) {
  if (!stands || (held.sandbox && *held.sandbox != *stands))
    return tl::unexpected{failure{replaced{which.text(), which.sandbox_name(), held.sandbox, stands}}};
  return {};
}

} // namespace paddock::workspace
