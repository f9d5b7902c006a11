#pragma once

#include "actors/callers.hpp"
#include "actors/world.hpp"
#include "messages/interfaces.hpp"
#include "messages/mail.hpp"

#include <optional>

namespace paddock {

/// The FENCE (messages/interfaces.hpp): whether the fence was proved, and who waits for the proof.
class fence_state {
public:
  static inline const char* name = "paddock.fence";
  /// It ends when `session` does. `proved`: whoever began the session has proved the fence for it. @pre `world.fences` is there
  fence_state(fence_actor::pointer self, actor_world& world, const caf::actor& session, bool proved = false);
  ~fence_state();
  fence_state(const fence_state&) = delete;
  fence_state& operator=(const fence_state&) = delete;
  fence_actor::behavior_type make_behavior();

private:
  caf::result<void> prove(std::uint64_t caller, caf::timespan budget);
  void ask_port();
  void land(std::uint64_t ticket, const egress::result<void>& how);
  void stop();

  fence_actor::pointer self_;
  actor_world& world_;
  bool proved_;
  std::optional<egress::ticket> under_way_;
  callers waiting_;
};

using fence_impl = fence_actor::stateful_impl<fence_state>;

} // namespace paddock
