#pragma once

#include "actors/callers.hpp"
#include "actors/world.hpp"
#include "messages/interfaces.hpp"
#include "messages/mail.hpp"

#include <compare>
#include <map>
#include <string>

namespace paddock {

/// The EGRESS GATE (messages/interfaces.hpp): which checks have passed and when they began, and who waits for those under way.
class egress_gate_state {
public:
  static inline const char* name = "paddock.egress-gate";
  /// @pre `world.gates` is there
  egress_gate_state(egress_gate_actor::pointer self, actor_world& world, std::string per_sandbox_label_key);
  ~egress_gate_state();
  egress_gate_state(const egress_gate_state&) = delete;
  egress_gate_state& operator=(const egress_gate_state&) = delete;
  egress_gate_actor::behavior_type make_behavior();

private:
  enum class subject : std::uint8_t { named_object, policy_union, ingress };
  /// Who asks with the same key is answered by the same check.
  struct key {
    subject of{};
    egress::label_map labels;
    auto operator<=>(const key&) const = default;
  };
  /// A check that is under way or has passed.
  struct pass {
    egress::ticket ticket = 0;
    time_source::clock::time_point began;
    bool passed = false;
  };
  struct flight {
    key what;
    callers waiting;
  };

  caf::result<void> verify(key what, egress::checked_pod which, std::uint64_t caller, caf::timespan budget);
  [[nodiscard]] key key_of(subject of, egress::label_map labels) const;
  [[nodiscard]] bool stands(const key& what, const pass& x) const;
  egress::ticket begin(const key& what, egress::checked_pod which);
  void land(std::uint64_t ticket, const egress::result<void>& how);
  void leave(std::uint64_t caller, const problem& why);

  egress_gate_actor::pointer self_;
  actor_world& world_;
  std::string per_sandbox_label_key_;
  std::map<key, pass> passes_;
  std::map<egress::ticket, flight> flights_; // of an older pass too: who waits for it is answered by it
};

using egress_gate_impl = egress_gate_actor::stateful_impl<egress_gate_state>;

} // namespace paddock
