#pragma once

#include "actors/world.hpp"
#include "messages/interfaces.hpp"
#include "messages/mail.hpp"
#include "workspace/session.hpp"

#include <tl/expected.hpp>

#include <functional>
#include <map>
#include <string>

namespace paddock {

/// What a WORKSPACE grants with ([W] 3.15): the FENCE of its session, and the POLICY QUEUE of each owner uid. Lives in the WORKSPACE's
/// state and acts on its behalf; the WORKSPACE orders the grants.
class workspace_policies {
public:
  using outcome = tl::expected<policy_view, problem>;
  using taker = std::function<void(outcome)>;

  /// @pre `world` has the ports of a fence and of policies
  workspace_policies(workspace_actor::pointer self, actor_world& world, workspace::id which);

  // -- asking -----------------------------------------------------------------

  // Each calls `to` exactly once, after the Sandbox was read and found to be that of `held`.

  /// Grants, and says what is granted now.
  void set(const workspace::session& held, policy_spec what, deadline until, taker to);
  /// Reads what stands.
  void show(const workspace::session& held, deadline until, taker to);

  // -- what the WORKSPACE knows -----------------------------------------------

  /// A verb that opens a session has ended. `proved`: it has proved the fence for it.
  void session_began(bool proved);
  /// What the session holds by now: queues of other owners end.
  void keep(const workspace::session& held);
  /// The session is bound to a new pod: what was granted to its owner is looked at.
  void check(const workspace::session& held, deadline until);

  // -- messages of the WORKSPACE ------------------------------------------------

  /// A port has answered. False: the ticket is nobody's here.
  bool land(std::uint64_t ticket, const landed& x);
  void note(const policy_event& x);
  void down(const caf::actor_addr& who);
  /// Refuses and withdraws; whoever waits is told, before `idle` says that it is over.
  void stop();
  [[nodiscard]] bool idle() const {
    return reads_.empty() && queues_.empty();
  }

private:
  using found_grantee = tl::expected<egress::grantee, problem>;
  struct queue {
    policy_queue_actor actor;
    egress::label_map pod_labels;
  };

  /// Reads the Sandbox anew and holds it against the session.
  void with_grantee(const workspace::session& held, const std::string& operation, deadline until, std::function<void(found_grantee)> then);
  void grant(const egress::grantee& to_whom, const policy_spec& what, deadline until, const taker& to);
  queue& queue_of(const egress::grantee& whose);
  fence_actor fence();
  void tell_queues_of_fence();
  /// What a port calls back with; `then` runs in the WORKSPACE, and the read is over by then.
  template <class T>
  std::function<void(T)> answer(egress::ticket ticket, std::function<void(const T&)> then);

  workspace_actor::pointer self_;
  actor_world& world_;
  workspace::id which_;
  fence_actor fence_;   // null: nothing has needed one since the session began
  bool proved_ = false; // what a FENCE is born with
  std::map<std::string, queue> queues_;
  std::map<egress::ticket, std::function<void(const landed&)>> reads_;
  bool stopping_ = false;
};

} // namespace paddock
