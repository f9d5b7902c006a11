#include "actors/node_tasks.hpp"

#include "actors/callers.hpp"
#include "actors/egress_gate.hpp"
#include "actors/fence.hpp"
#include "actors/translate.hpp"
#include "messages/error.hpp"

namespace paddock {

namespace {

constexpr std::size_t most_asked = 256;

} // namespace

node_tasks::node_tasks(node_actor::pointer self, actor_world& world) : self_(self), world_(world) {
}

egress_gate_actor node_tasks::gate() {
  if (!gate_ && world_.gates != nullptr) {
    const auto granting = world_.egress != nullptr && world_.egress->how.per_sandbox;
    gate_ = self_->spawn<egress_gate_impl>(std::ref(world_), granting ? world_.egress->how.per_sandbox->label_key
                                                                      : std::string{egress::default_per_sandbox_label_key});
    self_->monitor(gate_);
  }
  return gate_;
}

fence_actor node_tasks::fence() {
  if (!fence_ && world_.fences != nullptr) {
    fence_ = self_->spawn<fence_impl>(std::ref(world_), caf::actor_cast<caf::actor>(self_));
    self_->monitor(fence_);
  }
  return fence_;
}

template <class View, class Answer, class Ask>
caf::result<View> node_tasks::put(Ask ask) {
  if (asked_.size() >= most_asked)
    return to_error(too_many_callers());
  auto waiting = self_->make_response_promise<View>();
  const auto ticket = world_.next_ticket();
  asked_.emplace(ticket, [waiting](const landed& x) mutable {
    const auto& got = *static_cast<const workspace::result<Answer>*>(x.value.get());
    if (got)
      waiting.deliver(to_view(*got));
    else
      waiting.deliver(to_error(to_problem(got.error())));
  });
  const mail::weak<node_actor> me{caf::actor_cast<node_actor>(self_)};
  ask(ticket, [me, ticket](workspace::result<Answer> x) {
    me.tell(atom::landed_v, std::uint64_t{ticket}, landed{std::make_shared<const workspace::result<Answer>>(std::move(x))});
  });
  return waiting;
}

caf::result<released_view> node_tasks::release(std::string selector, deadline until) {
  return put<released_view, workspace::released_tasks>(
    [&](auto ticket, auto to) { world_.tasks->release_selected(ticket, std::move(selector), until, to); });
}

caf::result<capacity_view> node_tasks::capacity(const std::string& pool, deadline until) {
  return put<capacity_view, workspace::task_capacity>(
    [&](auto ticket, auto to) { world_.tasks->capacity(ticket, pool.empty() ? std::nullopt : std::optional{pool}, until, to); });
}

bool node_tasks::land(std::uint64_t ticket, const landed& x) {
  auto found = asked_.extract(ticket);
  if (found)
    found.mapped()(x);
  return !found.empty();
}

void node_tasks::down(const caf::actor_addr& who) {
  if (gate_ && gate_.address() == who)
    gate_ = nullptr;
  if (fence_ && fence_.address() == who)
    fence_ = nullptr;
}

} // namespace paddock
