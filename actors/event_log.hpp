#pragma once

#include "actors/world.hpp"
#include "messages/interfaces.hpp"

#include <caf/all.hpp>

#include <map>
#include <vector>

namespace paddock {

/// What a WORKSPACE has told of itself lately, and the SUBSCRIPTIONs of who listens.
class event_log {
public:
  static constexpr std::size_t most_kept = 64;
  static constexpr std::size_t most_listeners = 64;

  event_log(workspace_actor::pointer self, actor_world& world) : self_(self), world_(world) {
  }

  /// Numbers it, keeps it and tells it.
  void raise(workspace_event x);
  /// Oldest first.
  [[nodiscard]] const std::vector<workspace_event>& kept() const noexcept {
    return kept_;
  }
  caf::result<std::vector<workspace_event>> subscribe(const event_sink_actor& sink);
  [[nodiscard]] bool has_listeners() const noexcept {
    return !listeners_.empty();
  }
  /// An actor has ended; it may have been a SUBSCRIPTION.
  void down(const caf::actor_addr& who) {
    listeners_.erase(who);
  }

private:
  workspace_actor::pointer self_;
  actor_world& world_;
  std::uint64_t raised_ = 0;
  std::vector<workspace_event> kept_;
  std::map<caf::actor_addr, subscription_actor> listeners_;
};

} // namespace paddock
