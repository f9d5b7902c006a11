#pragma once

#include "base/secret.hpp"
#include "base/tagged.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace paddock {

/// `metadata.uid` of a pod. It doubles as the guest's bind token, so it is shown only to who asked for the identity of
/// a workspace, and never logged.
using pod_uid = tagged<struct pod_uid_tag>;

/// Identifies one agent process ([G] 5.1).
using guest_boot_id = tagged<struct guest_boot_id_tag>;

namespace guest {

/// Where a guest listens, and what it wants to see.
struct endpoint {
  std::string host;
  std::uint16_t port = 0;
  secret token;
  /// The one agent process that the requests are meant for ([G] 5.3): each carries it as `expectedGuestBootId`, and any
  /// other process refuses with `guest_mismatch`. Only for a guest with the feature `pinned-guest`.
  std::optional<guest_boot_id> pinned{};
};

} // namespace guest

} // namespace paddock
