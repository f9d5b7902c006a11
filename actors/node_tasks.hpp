#pragma once

#include "actors/world.hpp"
#include "messages/interfaces.hpp"
#include "messages/mail.hpp"

#include <functional>
#include <map>
#include <string>

namespace paddock {

/// What all task sandboxes of a NODE share: the EGRESS GATE and the FENCE, which are started when the first one needs them and anew after
/// a crash; and what is asked of all of them at once. Lives in the NODE's state.
class node_tasks {
public:
  node_tasks(node_actor::pointer self, actor_world& world);

  /// Null where the configuration has nothing of the kind.
  egress_gate_actor gate();
  fence_actor fence();
  caf::result<released_view> release(std::string selector, deadline until);
  caf::result<capacity_view> capacity(const std::string& pool, deadline until);

  // -- messages of the NODE -------------------------------------------------------

  /// False: the ticket is nobody's here.
  bool land(std::uint64_t ticket, const landed& x);
  void down(const caf::actor_addr& who);

private:
  template <class View, class Answer, class Ask>
  caf::result<View> put(Ask ask);

  node_actor::pointer self_;
  actor_world& world_;
  egress_gate_actor gate_;
  fence_actor fence_;
  std::map<std::uint64_t, std::function<void(const landed&)>> asked_;
};

} // namespace paddock
