#pragma once

#include "guest/identity.hpp"
#include "k8s/uids.hpp"
#include "workspace/id.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::workspace {

/// The states of [W] 2.1, and two of ours: `unknown` before the cluster was read (a WORKSPACE that has just started), and
/// `resuming` after a wake-up write whose outcome is unknown ([W] P4).
enum class state : std::uint8_t { unknown, running, suspending, resuming, suspended, deleted };

/// How a session came to be; fixed for its life.
enum class origin : std::uint8_t { created, adopted_running, resumed };

[[nodiscard]] std::string_view to_string(state x);
[[nodiscard]] std::string_view to_string(origin x); // created, adopted-running, resumed

/// What a host holds of one workspace between verbs ([W] 2.6). A value: a flow takes one and gives the next one back;
/// the WORKSPACE keeps it. Nothing in it outlives what the cluster knows, but the epoch.
struct session {
  state at = state::unknown;
  origin from = origin::adopted_running;
  std::optional<std::uint64_t> epoch; // the holder epoch that the next write carries; never lowered
  bool stamped = false;               // that object carries an epoch of ours, so that its absence is a loss ([W] P11)
  std::optional<sandbox_uid> sandbox; // that of the 201, else of the first reading ([W] P3)
  std::optional<pod_uid> pod;         // only while a session is bound
  std::optional<pod_uid> retired_pod; // must be seen replaced by the next bind
  std::optional<guest_boot_id> boot;  // of the pod named above, once it has answered
  std::map<std::string, claim_uid> claims;
  bool claims_read = false;
  std::optional<std::string> revision; // the pod-template hash that the object carries
  bool revision_current = false;
  std::string template_name;
  std::optional<guest::endpoint> guest; // where the session's guest listens
  /// The verb that began this session has proved the admission fence for it: so does a resume, and neither a create nor an
  /// adopt, whose proof is their own ([W] 3.15.2).
  bool fence_proved = false;
};

/// One row of an inventory, read without waking anything ([W] 3.11).
struct summary {
  std::string workspace;
  std::string sandbox_name;
  std::string template_name;
  std::string mode; // Running or Suspended
  std::optional<std::string> created_at;
  std::optional<std::string> mode_changed_at;
  std::optional<std::uint64_t> holder_epoch; // absent: unreadable
  sandbox_uid sandbox;
};

} // namespace paddock::workspace
