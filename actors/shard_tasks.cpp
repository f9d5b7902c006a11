#include "actors/shard_tasks.hpp"

#include "messages/error.hpp"

namespace paddock {

shard_tasks::shard_tasks(shard_actor::pointer self, actor_world& world) : self_(self), world_(world) {
}

shard_tasks::~shard_tasks() {
  for (const auto& [address, one] : tasks_)
    caf::anon_send_exit(one, caf::exit_reason::kill);
}

caf::result<task_actor> shard_tasks::acquire(task_options how, caf::timespan budget) {
  auto waiting = self_->make_response_promise<task_actor>();
  auto made = self_->spawn<task_impl>(std::ref(world_), std::move(how));
  self_->monitor(made);
  tasks_.emplace(made.address(), made);
  mail::ask(self_, made, caf::infinite, atom::acquire_v, budget)
    .then([waiting, made](const task_view&) mutable { waiting.deliver(made); },
          [waiting](const caf::error& why) mutable { waiting.deliver(to_error(to_problem(why))); });
  return waiting;
}

void shard_tasks::down(const caf::actor_addr& who) {
  tasks_.erase(who);
}

void shard_tasks::stop() {
  for (const auto& [address, one] : tasks_)
    mail::tell(self_, one, atom::stop_v);
}

} // namespace paddock
