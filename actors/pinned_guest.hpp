#pragma once

#include "actors/call.hpp"
#include "actors/world.hpp"
#include "guest/pin.hpp"
#include "messages/interfaces.hpp"
#include "messages/mail.hpp"

#include <map>

namespace paddock {

/// What a WORKSPACE answers to `identity`.
struct session_identity {
  workspace::session session;
  std::uint64_t generation = 0;
};

/// The PINNED GUEST (messages/interfaces.hpp). It holds a pin that never changes, and asks its WORKSPACE before each call who
/// the session's guest is. It has no session of its own, so there is nothing that it could rebind or retire.
class pinned_guest_state {
public:
  static inline const char* name = "paddock.pinned-guest";
  pinned_guest_state(pinned_guest_actor::pointer self, actor_world& world, workspace_actor owner, workspace::id which, guest::pin pin);
  ~pinned_guest_state();
  pinned_guest_state(const pinned_guest_state&) = delete;
  pinned_guest_state& operator=(const pinned_guest_state&) = delete;
  pinned_guest_actor::behavior_type make_behavior();

private:
  template <class T>
  using promise = caf::typed_response_promise<T>;

  caf::result<call_actor> call(call_spec what, sink_actor sink, caf::timespan budget);
  caf::result<guest_answer> ask(guest_question what, caf::timespan budget);
  /// Compares the pin with who the guest is now, and goes on with where it listens, or refuses. Nothing is dialled before.
  template <class T, class Then>
  void when_it_is_the_guest(promise<T> waiting, Then then);
  [[nodiscard]] problem explain(const workspace::failure& why) const;

  pinned_guest_actor::pointer self_;
  actor_world& world_;
  workspace_actor owner_;
  workspace::id which_;
  guest::pin pin_;
  std::map<caf::actor_addr, call_actor> calls_;
  std::map<workspace::ticket, promise<guest_answer>> asking_;
};

using pinned_guest_impl = pinned_guest_actor::stateful_impl<pinned_guest_state>;

} // namespace paddock
