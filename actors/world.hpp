#pragma once

#include "base/time.hpp"
#include "egress/backend.hpp"
#include "egress/ports.hpp"
#include "k8s/watch_port.hpp"
#include "workspace/ports.hpp"
#include "workspace/task_ports.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace paddock {

/// Which Sandboxes are stamped without being asked for: those without a holder epoch or with one below `below`, of workspaces that live on
/// this node, or of all. A node that stands alone has taken nobody's place: it only puts back what it had written ([W] P11, P12).
struct stamping {
  std::uint64_t below = 0;
  bool all = false;
};

/// What the actors of a node ask and are told by: the ports, the time, the log. Lives as long as the actor system.
struct actor_world {
  workspace::transitions_port& transitions;
  workspace::inventory_port& inventory;
  workspace::guest_port& guests;
  const time_source& time;
  std::string template_name;                             // of an open that names none
  std::function<void(const std::string&)> warn;          // one line for people; never a secret
  k8s::watch_port* watches = nullptr;                    // null: nothing is watched, and readiness is read again and again
  const egress::backend* egress = nullptr;               // null where the configuration says nothing of egress
  egress::fence_port* fences = nullptr;                  // as `egress`, and null also without per-sandbox egress
  egress::gate_port* gates = nullptr;                    // null where the configuration has nothing verified
  egress::policy_port* policies = nullptr;               // as `fences`
  std::optional<stamping> stamps{};                      // absent: the writes of this node carry no holder epoch
  std::optional<std::chrono::milliseconds> idle_after{}; // after so long a WORKSPACE that nobody uses is let go; absent: never
  workspace::task_port* tasks = nullptr;                 // null: no tasks are run here
  std::function<double()> chance = [] { return 0.5; };   // uniform in [0, 1)
  std::atomic<workspace::ticket> last_ticket{0};

  /// A ticket that no other transition or call of this node has.
  [[nodiscard]] workspace::ticket next_ticket() {
    return ++last_ticket;
  }
};

} // namespace paddock
