#include "workspace/identity.hpp"

namespace paddock::workspace {

identity identity_of(const session& now) {
  auto got = identity{now.sandbox, now.claims, now.pod, std::nullopt};
  if (now.pod)
    got.boot = now.boot;
  return got;
}

std::string_view to_string(guest_restart::why x) {
  return x == guest_restart::why::pod_replaced ? "pod-replaced" : "container-restarted";
}

std::optional<guest_restart> hear(session& now, const pod_uid& from, const guest_boot_id& boot) {
  if (now.at != state::running || now.pod != from || boot.empty() || now.boot == boot)
    return std::nullopt;
  auto before = identity_of(now);
  now.boot = boot;
  if (!before.boot)
    return std::nullopt;
  return guest_restart{guest_restart::why::container_restarted, std::move(before), identity_of(now)};
}

std::optional<guest_restart> move_to(session& now, const found_pod& next) {
  if (now.at != state::running || !now.pod || now.pod == next.pod)
    return std::nullopt;
  auto before = identity_of(now);
  now.pod = next.pod;
  now.guest = next.guest;
  now.boot.reset();
  return guest_restart{guest_restart::why::pod_replaced, std::move(before), identity_of(now)};
}

void end_overtaken(session& now) {
  now.at = state::unknown;
  now.pod.reset();
  now.boot.reset();
  now.guest.reset();
}

} // namespace paddock::workspace
