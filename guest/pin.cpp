#include "guest/pin.hpp"

#include "guest/features.hpp"

#include <utility>

namespace paddock::guest {

namespace {

tl::unexpected<pin_refused> differs(std::string field) {
  auto x = pin_refused{};
  x.field = std::move(field);
  return tl::unexpected{std::move(x)};
}

} // namespace

tl::expected<pin, pin_incomplete> pin::of(const pin_input& from) {
  auto missing = pin_incomplete{};
  auto taken = [&](const std::optional<std::string>& x, std::string name) {
    if (!x || x->empty())
      missing.missing.push_back(std::move(name));
    return x.value_or(std::string{});
  };
  auto made = pin{};
  made.sandbox_uid_ = taken(from.sandbox_uid, "sandboxUid");
  made.pod_ = pod_uid{taken(from.pod, "podUid")};
  made.boot_ = guest_boot_id{taken(from.boot, "guestBootId")};
  for (const auto& [name, uid] : from.claims)
    made.claims_[name] = taken(uid, "volumeClaimUids." + name);
  if (!missing.missing.empty())
    return tl::unexpected{std::move(missing)};
  return made;
}

endpoint pin::pinned(endpoint where) const {
  where.pinned = boot_;
  return where;
}

std::string_view to_string(pin_refused::why x) {
  switch (x) {
    case pin_refused::why::identity_changed: return "identity-changed";
    case pin_refused::why::guest_unsupported: return "guest-unsupported";
    case pin_refused::why::guest_replaced: return "guest-replaced";
    case pin_refused::why::pod_replaced: return "pod-replaced";
  }
  return "identity-changed";
}

std::string to_string(const pin_refused& x) {
  auto text = "the pinned guest was not reached, and nothing ran: " + std::string{to_string(x.reason)};
  if (!x.field.empty())
    text += " (" + x.field + ")";
  if (x.cause)
    text += ": " + to_string(*x.cause);
  return text;
}

tl::expected<void, pin_refused> check(const pin& wanted, const pin_identity& now) {
  if (!now.running || !now.pod || now.pod->empty())
    return differs("podUid");
  if (now.sandbox_uid != wanted.sandbox_uid())
    return differs("sandboxUid");
  if (*now.pod != wanted.pod())
    return differs("podUid");
  if (now.boot && *now.boot != wanted.boot())
    return differs("guestBootId");
  for (const auto& [name, uid] : wanted.claims()) {
    const auto found = now.claims.find(name);
    if (found == now.claims.end() || found->second != uid)
      return differs("volumeClaimUids");
  }
  return {};
}

pinned_failure translate(failure x) {
  auto refusal = pin_refused{};
  if (const auto* other = std::get_if<guest_mismatch>(&x)) {
    refusal.reason = pin_refused::why::guest_replaced;
    refusal.fresh_boot = other->boot;
  } else if (std::holds_alternative<unauthorized>(x)) {
    refusal.reason = pin_refused::why::pod_replaced;
  } else if (const auto* lacks = std::get_if<unsupported>(&x); lacks != nullptr && lacks->feature == feature::pinned_guest) {
    refusal.reason = pin_refused::why::guest_unsupported;
  } else {
    return x;
  }
  refusal.cause = std::move(x);
  return refusal;
}

} // namespace paddock::guest
