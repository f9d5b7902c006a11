#pragma once

#include "guest/failure.hpp"
#include "guest/identity.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace paddock::guest {

/// What somebody gave as the guest that a view is for ([G] 23). Nothing of it is checked yet.
struct pin_input {
  std::optional<std::string> sandbox_uid;
  std::optional<std::string> pod;
  std::optional<std::string> boot;
  std::map<std::string, std::optional<std::string>> claims; // by the claim's name
};

/// Fields of a pin are missing; nothing was sent. Claims are named `volumeClaimUids.<claim>`.
struct pin_incomplete {
  std::vector<std::string> missing;
};

/// One guest process: a sandbox, its pod, the agent process in it and, when wanted, the claims it has mounted. Complete once
/// made, and a copy of what it was made from.
class pin {
public:
  static tl::expected<pin, pin_incomplete> of(const pin_input& from);

  [[nodiscard]] const std::string& sandbox_uid() const noexcept {
    return sandbox_uid_;
  }
  [[nodiscard]] const pod_uid& pod() const noexcept {
    return pod_;
  }
  [[nodiscard]] const guest_boot_id& boot() const noexcept {
    return boot_;
  }
  [[nodiscard]] const std::map<std::string, std::string>& claims() const noexcept {
    return claims_;
  }
  /// `where`, for the pinned process only.
  [[nodiscard]] endpoint pinned(endpoint where) const;
  friend bool operator==(const pin&, const pin&) = default;

private:
  pin() = default;
  std::string sandbox_uid_;
  pod_uid pod_;
  guest_boot_id boot_;
  std::map<std::string, std::string> claims_;
};

/// What is known now of the guest that a workspace talks to.
struct pin_identity {
  bool running = false; // and it has a session
  std::optional<std::string> sandbox_uid{};
  std::optional<pod_uid> pod{};
  std::optional<guest_boot_id> boot{}; // absent: it has not said; that is not a difference
  std::map<std::string, std::string> claims{};
};

/// A pinned call that did not run, and will not when it is made again.
struct pin_refused {
  enum class why {
    identity_changed,  // the workspace knows that it is another guest; nothing was dialled
    guest_unsupported, // the guest cannot be pinned; nothing but the probe was sent
    guest_replaced,    // another agent process answered, and refused
    pod_replaced,      // the token was refused
  };
  why reason = why::identity_changed;
  std::string field{};                       // of `identity_changed`: the first that differs
  std::optional<guest_boot_id> fresh_boot{}; // of `guest_replaced`, when it said
  std::optional<failure> cause{};
};

[[nodiscard]] std::string_view to_string(pin_refused::why x);
[[nodiscard]] std::string to_string(const pin_refused& x);

/// [G] 23 step 1, before anything is dialled: the first field that differs, in the order of the contract: nothing known
/// (`podUid`), `sandboxUid`, `podUid`, `guestBootId` (only when it is known), `volumeClaimUids`.
[[nodiscard]] tl::expected<void, pin_refused> check(const pin& wanted, const pin_identity& now);

using pinned_failure = std::variant<pin_refused, failure>;

/// [G] 23 steps 3 and 5: what a failure of the pinned transport means to the caller of a view. What asserts that work may
/// have run, and a guest that is fenced, pass unchanged.
[[nodiscard]] pinned_failure translate(failure x);

/// The answer of a view to "shall the pod be retired": it keeps what it does not own.
inline constexpr std::string_view pinned_view_keeps_the_pod = "pinned-view-keeps-the-pod";

} // namespace paddock::guest
