#pragma once

#include "workspace/evidence.hpp"
#include "workspace/identity.hpp"

#include <string>
#include <variant>

namespace paddock::workspace {

/// Somebody else suspended the workspace, and a call or a refresh found out ([W] 3.8).
struct suspended_elsewhere {
  identity previous;
};

/// What a workspace tells those who listen.
using event = std::variant<guest_restart, cancellation_unconfirmed, suspended_elsewhere>;

/// For people; names no pod.
[[nodiscard]] std::string to_string(const event& x);

} // namespace paddock::workspace
