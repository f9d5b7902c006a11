#include "client/task.hpp"

#include "client/call_start.hpp"
#include "client/connection.hpp"
#include "client/task_state.hpp"

#include <utility>

namespace paddock::client {

namespace {

task_holder_actor::behavior_type make_holder(std::function<void(const task_event&)> told, std::shared_ptr<gate> hearing) {
  return {[told = std::move(told), hearing = std::move(hearing)](atom::noted, const task_event& x) {
    hearing->pass([&] {
      if (told)
        told(x);
    });
  }};
}

} // namespace

struct remote_task::state {
  std::shared_ptr<const connection> by; // goes last
  caf::timespan budget;
  task_actor task;
};

remote_task::remote_task(std::shared_ptr<const state> x) : state_(std::move(x)) {
}

remote_task remote_task::within(std::chrono::nanoseconds budget) const {
  return remote_task{std::make_shared<const state>(state{state_->by, bounded(budget), state_->task})};
}

result<void> remote_task::remove() const {
  return state_->by->ask_of<void>(state_->task, effect::changes, state_->budget, atom::remove_v, state_->budget);
}

result<guest_answer> remote_task::ask(guest_question) const {
  return tl::unexpected{make_problem(verdict::usage, "IllegalArgument", "a task sandbox is asked nothing")};
}

result<std::unique_ptr<running_call>> remote_task::begin(call_spec what, std::shared_ptr<inbox> to) const {
  return start_call(state_->by, state_->task, state_->budget, std::move(what), std::move(to));
}

task_holder::state::state(std::shared_ptr<const connection> through, caf::timespan bound, std::function<void(const task_event&)> told) :
  by(std::move(through)), budget(bound), self(by->system().spawn(make_holder, std::move(told), hearing)) {
}

task_holder::state::~state() {
  hearing->close();
  let_go();
}

void task_holder::state::let_go() const {
  caf::anon_send_exit(self, caf::exit_reason::user_shutdown);
}

task_holder::task_holder(std::unique_ptr<state> x) : state_(std::move(x)) {
}
task_holder::~task_holder() = default;
task_holder::task_holder(task_holder&&) noexcept = default;
task_holder& task_holder::operator=(task_holder&&) noexcept = default;

result<remote_task> task_holder::acquire(task_spec what) const {
  const auto& by = state_->by;
  const auto budget = state_->budget;
  auto got = by->ask<task_actor>(effect::changes, budget, atom::acquire_v, std::move(what), state_->self, budget);
  if (!got)
    return tl::unexpected{std::move(got.error())};
  return remote_task{std::make_shared<const remote_task::state>(remote_task::state{by, budget, std::move(*got)})};
}

void task_holder::let_go() const {
  state_->let_go();
}

} // namespace paddock::client
