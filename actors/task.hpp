#pragma once

#include "actors/world.hpp"
#include "messages/interfaces.hpp"
#include "messages/mail.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

struct task_options {
  workspace::task_request what;
  task_holder_actor holder;
  egress_gate_actor gate; // null: nothing is verified
  fence_actor fence;      // of all tasks; null: none is known yet
};

/// The TASK (messages/interfaces.hpp): the steps of the acquire, then what is held, its lease, its calls, and who waits for its end.
class task_state {
public:
  static inline const char* name = "paddock.task";
  /// @pre `world.tasks` is there
  task_state(task_actor::pointer self, actor_world& world, task_options how);
  ~task_state();
  task_state(const task_state&) = delete;
  task_state& operator=(const task_state&) = delete;
  task_actor::behavior_type make_behavior();

private:
  /// `retiring`: it is given back, or that failed and may be tried again.
  enum class stage : std::uint8_t { acquiring, active, retiring, destroyed, gone };
  struct running {
    call_actor actor;
    bool makes_busy = false;
  };
  template <class T>
  using promise = caf::typed_response_promise<T>;

  // -- the acquire --------------------------------------------------------------

  caf::result<task_view> acquire(caf::timespan budget);
  /// Asks the GATE, and goes on where it passes.
  template <class Question>
  void verify(Question what, deadline until, std::function<void()> then);
  void verify_pod(egress::label_map labels, const std::string& subject, deadline until, const std::function<void()>& then);
  void plan();
  void make(workspace::task_plan what);
  void keep(const workspace::held_task& made, bool verified, deadline until);
  void probe();
  void succeed();
  void fail(problem why);
  void end_acquire(const problem& why);
  void withdraw();

  // -- the lease ------------------------------------------------------------------

  void renew_after(std::chrono::milliseconds pause);
  void renew(std::uint64_t tick);
  void renewed(const workspace::result<workspace::done>& how);
  void stop_lease();

  // -- what is held -----------------------------------------------------------------

  /// Why an operation is refused; nothing: it may go.
  [[nodiscard]] std::optional<problem> refusal(std::string operation) const;
  caf::result<call_actor> call(call_spec what, sink_actor sink, caf::timespan budget);
  void move_call(const call_actor& who, const std::string& tried);
  void explain(const call_actor& who, const workspace::failure& why);
  caf::result<void> allow(policy_spec what, caf::timespan budget);
  policy_queue_actor& policy_queue();
  fence_actor& fence();
  void tell_holder(std::string what, problem why);

  // -- the end ----------------------------------------------------------------------

  caf::result<void> remove(caf::timespan budget);
  void give_back(deadline until);
  void given_back(const workspace::result<workspace::done>& how);
  void end();
  void down(const caf::actor_addr& who);

  /// What a port calls back with; `then` runs in the TASK.
  template <class T>
  std::function<void(workspace::result<T>)> answer(workspace::ticket ticket, std::function<void(const workspace::result<T>&)> then);
  [[nodiscard]] deadline within(caf::timespan budget) const;
  [[nodiscard]] task_view view() const;

  task_actor::pointer self_;
  actor_world& world_;
  task_options how_;
  stage stage_ = stage::acquiring;
  deadline until_{time_source::clock::time_point{}}; // of the acquire
  std::optional<promise<task_view>> acquiring_;
  std::optional<std::uint64_t> checking_; // the GATE's ticket
  workspace::ticket step_ = 0;            // of the acquire's step at a port
  bool withdrawn_ = false;
  std::optional<workspace::held_task> held_;
  std::map<workspace::ticket, std::function<void(const landed&)>> asked_;
  bool lease_runs_ = false;
  std::uint64_t lease_tick_ = 0;
  workspace::ticket renewing_ = 0;
  int failed_renewals_ = 0;
  std::map<caf::actor_addr, running> calls_;
  policy_queue_actor queue_; // null: nothing was granted yet
  bool releasing_ = false;
  std::optional<deadline> release_again_; // who waits for a retirement that fails wants another attempt by then
  std::vector<promise<void>> removing_;
  std::vector<std::function<void(const problem*)>> retiring_; // told of a retirement; null: it was accepted
  bool ending_ = false;
};

using task_impl = task_actor::stateful_impl<task_state>;

} // namespace paddock
