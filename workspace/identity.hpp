#pragma once

#include "guest/identity.hpp"
#include "k8s/uids.hpp"
#include "workspace/session.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::workspace {

/// Who is behind a workspace ([W] 6.1). The Sandbox and its disks stay for as long as it does; a pod is named only while a session
/// has one, and a boot id only beside the pod that it was heard from.
struct identity {
  std::optional<sandbox_uid> sandbox;
  std::map<std::string, claim_uid> claims;
  std::optional<pod_uid> pod;
  std::optional<guest_boot_id> boot;
  friend bool operator==(const identity&, const identity&) = default;
};
[[nodiscard]] identity identity_of(const session& now);

/// The guest of a session has started anew, and nobody here asked for it ([W] 6.4). Both identities name a pod.
struct guest_restart {
  enum class why { pod_replaced, container_restarted };
  why reason = why::pod_replaced;
  identity previous;
  identity current;
  friend bool operator==(const guest_restart&, const guest_restart&) = default;
};
[[nodiscard]] std::string_view to_string(guest_restart::why x); // pod-replaced, container-restarted

/// A pod that was found behind a workspace, and where its guest listens.
struct found_pod {
  pod_uid pod;
  guest::endpoint guest;
};

/// Takes a boot id that came over a connection to the guest of `from`. The first one of a pod is where counting starts; another one
/// is a restart. Nothing is taken from a pod that the session has left, nor where the session does not run.
[[nodiscard]] std::optional<guest_restart> hear(session& now, const pod_uid& from, const guest_boot_id& boot);

/// Moves the session to another pod; of its guest nothing has been heard. Nothing happens where it is there already, or does not run.
[[nodiscard]] std::optional<guest_restart> move_to(session& now, const found_pod& next);

/// A newer holder has written since: the session ends, and what stands has to be read before anything else is done.
void end_overtaken(session& now);

} // namespace paddock::workspace
