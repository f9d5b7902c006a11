#pragma once

#include "actors/world.hpp"
#include "egress/meant_policy.hpp"
#include "messages/interfaces.hpp"
#include "messages/mail.hpp"

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <variant>

namespace paddock {

struct policy_queue_options {
  egress::grant_target whose;
  egress::label_map pod_labels; // all of them
  fence_actor fence;
  policy_watcher_actor watcher;
};

/// The POLICY QUEUE (messages/interfaces.hpp): the calls in line, the one under way, and what was last meant.
class policy_queue_state {
public:
  static inline const char* name = "paddock.policy-queue";
  /// It ends when its watcher does. @pre `world.policies` is there
  policy_queue_state(policy_queue_actor::pointer self, actor_world& world, policy_queue_options how);
  ~policy_queue_state();
  policy_queue_state(const policy_queue_state&) = delete;
  policy_queue_state& operator=(const policy_queue_state&) = delete;
  policy_queue_actor::behavior_type make_behavior();

private:
  using promise = caf::typed_response_promise<void>;
  using found_policy = egress::result<std::optional<nlohmann::json>>;
  using dropped_names = egress::result<std::vector<std::string>>;
  using port_answer = std::variant<egress::write_end, found_policy, dropped_names>;

  /// A call that says what is meant from now on.
  struct grant {
    egress::meant_policy meaning;
  };
  /// A look at what stands.
  struct look {
    bool last = false;        // no other one follows by itself
    bool removed = false;     // of predecessors something was
    std::string difference{}; // what is put right
  };
  struct queued {
    std::variant<grant, look> what;
    std::optional<promise> waiting; // absent: a look that nobody asked for; its time begins when it does
    deadline until;
  };

  // -- the queue --------------------------------------------------------------

  caf::result<void> allow(const policy_spec& what, caf::timespan budget);
  caf::result<void> check(caf::timespan budget);
  caf::result<void> join(std::variant<grant, look> what, caf::timespan budget);
  void look_again(std::uint64_t series);
  void push(queued next);
  void pump();
  void finish(const std::optional<problem>& why);
  void refuse_all(const problem& why);

  // -- what is under way ------------------------------------------------------

  /// Goes on once the fence is proved; without a proof nothing is written.
  void with_fence(std::function<void()> go_on);
  void write();
  void read();
  void drop_predecessors();
  /// What the port calls back with, for the step that begins here.
  template <class T>
  auto answer_to_me();
  void land(const egress::write_end& end);
  void land(const found_policy& found);
  void land(const dropped_names& dropped);
  void give_up(const problem& why);
  void watch_for_late_writes();
  void tell(std::string what, std::string text);

  // -- the end ----------------------------------------------------------------

  void owner_is_gone(const egress::egress_error& why);
  void stop();
  void quit_when_done();
  [[nodiscard]] deadline within(caf::timespan budget) const;

  policy_queue_actor::pointer self_;
  actor_world& world_;
  policy_queue_options how_;
  std::string policy_; // its name
  std::deque<queued> queue_;
  std::optional<queued> under_way_;
  egress::ticket ticket_ = 0;                 // of the step that the call under way is at
  bool at_fence_ = false;                     // the step is the FENCE's
  std::optional<egress::meant_policy> meant_; // absent: nothing was written yet
  std::uint64_t series_ = 0;                  // of the looks after a write that nobody knows about
  std::size_t looks_left_ = 0;
  int renewals_ = 0; // of the looks, since somebody asked, by writes of the queue's own
  bool stopping_ = false;
};

using policy_queue_impl = policy_queue_actor::stateful_impl<policy_queue_state>;

} // namespace paddock
