#pragma once

#include <string>
#include <string_view>

namespace paddock::guest {

/// What `/proc/self/status` of a process of the guest says about its privileges ([G] 21.2). Only `unprivileged` may be
/// handed out; the other two are the reasons `unreadable-output` and `privileged`.
enum class privilege { unprivileged, unreadable, privileged };

struct privilege_reading {
  privilege what = privilege::unreadable;
  /// Unreadable: the first such field, and the beginning of its value. Privileged: every field that is not as it must be, as
  /// `CapBnd=1ffffffffff`, in the order below.
  std::string detail;
};

/// Reads the text of `/proc/self/status`. `CapInh`, `CapPrm`, `CapEff` and `CapBnd` must each stand there once, as 1 to 16
/// hex digits, and be zero; `NoNewPrivs` must stand there once and be 1. A field that is missing, repeated or malformed
/// makes the text unreadable whatever the others say.
[[nodiscard]] privilege_reading read_privileges(std::string_view status);

/// `unprivileged`, `unreadable-output` or `privileged`.
[[nodiscard]] std::string_view to_string(privilege x);

} // namespace paddock::guest
