#pragma once

#include "actors/world.hpp"
#include "messages/interfaces.hpp"

#include <caf/all.hpp>

#include <deque>

namespace paddock {

/// The SUBSCRIPTION (messages/interfaces.hpp). The sink is told one event at a time, so that what it has not taken waits here, where it
/// is counted, and not in a mailbox or on a connection, where it is not.
class subscription_state {
public:
  static inline const char* name = "paddock.subscription";
  static constexpr std::size_t most_waiting = 256;

  subscription_state(subscription_actor::pointer self, actor_world& world, workspace_actor of, event_sink_actor sink);
  subscription_actor::behavior_type make_behavior();

private:
  void pump();
  void end(const problem& why);

  subscription_actor::pointer self_;
  actor_world& world_;
  workspace_actor of_;
  event_sink_actor sink_;
  std::deque<workspace_event> waiting_;
  bool telling_ = false;
};

using subscription_impl = subscription_actor::stateful_impl<subscription_state>;

} // namespace paddock
