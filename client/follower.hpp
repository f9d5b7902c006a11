#pragma once

#include "client/follow.hpp"
#include "client/gate.hpp"
#include "messages/interfaces.hpp"

namespace paddock::client {

/// The listener, until it no longer wants to be told.
class listening {
public:
  explicit listening(listener to) : to_(std::move(to)) {
  }
  void tell(const workspace_event& x);
  /// At most once; nothing is told after it.
  void tell_over(const problem& why);
  void close();

private:
  gate gate_;
  listener to_;
};

/// Tells of `workspace` what `node` has seen, and then what it sees.
[[nodiscard]] event_sink_actor spawn_follower(caf::actor_system& in, node_actor node, std::string workspace, std::shared_ptr<listening> to);

struct following::state {
  ~state();
  std::shared_ptr<const void> alive; // keeps the system; goes last
  std::shared_ptr<listening> to;
  event_sink_actor by;
};

} // namespace paddock::client
