#pragma once

#include "workspace/identity.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace paddock::workspace {

/// What is known of the guest that a command was sent to, when nobody knows what became of the command ([W] 6.5).
enum class evidence : std::uint8_t { unknown, pod_gone, pod_replaced, container_restarted, same_guest };
[[nodiscard]] std::string_view to_string(evidence x); // unknown, pod-gone, pod-replaced, container-restarted, same-guest

/// What the agent said of itself when it was asked.
enum class agent_health : std::uint8_t { ok, retiring, unreachable };
[[nodiscard]] std::string_view to_string(agent_health x);

/// What one look at the Sandbox and its pod showed.
struct guest_look {
  enum class found { failed, stranger, no_pod, pod };
  found what = found::failed;   // `stranger`: another Sandbox, or none; `no_pod`: Suspended, or not Ready
  std::optional<pod_uid> pod{}; // of `pod`
};

/// Weighs a look against the guest that had accepted the command, and against the boot id that the session has heard since. Another pod
/// outranks another boot id; a look that failed still leaves the boot ids.
[[nodiscard]] evidence weigh(const guest_look& seen, const identity& accepted, const identity& now);

/// Whether the guest that had the command is gone for sure.
[[nodiscard]] bool is_gone_for_sure(evidence x);

/// A command was cancelled and the cancel is not confirmed. Its pod was kept.
struct cancellation_unconfirmed {
  agent_health agent = agent_health::unreachable;
  evidence guest = evidence::unknown;
  identity previous; // who had accepted the command
  identity current;  // who stands there now
};

} // namespace paddock::workspace
