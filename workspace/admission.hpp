#pragma once

#include "workspace/failure.hpp"
#include "workspace/session.hpp"

namespace paddock::workspace {

/// Where a call into the guest may go, or why it may not ([W] 3.12, admission). In this order: a deleted workspace is
/// `destroyed`; one that is not running, or has no session, is `suspended` as noticed by admission. A refusal means that
/// nothing was dialled. `unknown` is for the caller to settle first (`take_up`).
/// @pre `now.at != state::unknown`
[[nodiscard]] inline result<guest::endpoint> admit(const id& which, const session& now, std::string operation) {
  if (now.at == state::deleted)
    return tl::unexpected{failure{destroyed{std::move(operation), which.sandbox_name()}}};
  if (now.at != state::running || !now.guest)
    return tl::unexpected{failure{suspended{std::move(operation), which.text(), which.sandbox_name(), "admission"}}};
  return *now.guest;
}

/// Whether the cluster is asked what a failed call into the guest means ([W] 3.12). That a guest lacks a feature is an answer, and no
/// failed call ([W] 3.10).
[[nodiscard]] inline bool worth_explaining(const failure& x) {
  const auto* of_guest = std::get_if<guest::failure>(&x);
  return of_guest == nullptr || !std::holds_alternative<guest::unsupported>(*of_guest);
}

} // namespace paddock::workspace
