#include "actors/fence.hpp"

#include "actors/supervise.hpp"
#include "actors/translate.hpp"
#include "messages/error.hpp"

namespace paddock {

fence_state::fence_state(fence_actor::pointer self, actor_world& world, const caf::actor& session, bool proved) :
  self_(self), world_(world), proved_(proved) {
  self_->monitor(session);
}

fence_state::~fence_state() {
  if (under_way_)
    world_.fences->cancel(*under_way_);
}

fence_actor::behavior_type fence_state::make_behavior() {
  report_crashes(self_, world_, "FENCE");
  self_->set_down_handler([this](const caf::down_msg&) { stop(); });
  return {
    [this](atom::prove, std::uint64_t caller, caf::timespan budget) { return prove(caller, budget); },
    [this](atom::cancel, std::uint64_t caller) { waiting_.leave(caller, call_withdrawn()); },
    [this](atom::stop) { stop(); },
    [this](atom::expired, std::uint64_t caller) { waiting_.leave(caller, call_expired()); },
    [this](atom::landed, std::uint64_t ticket, const landed& x) { land(ticket, *static_cast<const egress::result<void>*>(x.value.get())); },
  };
}

caf::result<void> fence_state::prove(std::uint64_t caller, caf::timespan budget) {
  if (proved_)
    return caf::unit;
  if (waiting_.size() >= most_callers)
    return to_error(too_many_callers());
  auto waiting = self_->make_response_promise<void>();
  waiting_.join(caller, waiting);
  if (budget < shared_bound)
    mail::tell_after(self_, budget, caf::actor_cast<fence_actor>(self_), atom::expired_v, caller);
  if (!under_way_)
    ask_port();
  return waiting;
}

void fence_state::ask_port() {
  const auto ticket = world_.next_ticket();
  under_way_ = ticket;
  const mail::weak<fence_actor> me{caf::actor_cast<fence_actor>(self_)};
  world_.fences->prove(ticket, deadline{world_.time, shared_bound}, [me, ticket](egress::result<void> x) {
    me.tell(atom::landed_v, std::uint64_t{ticket}, landed{std::make_shared<const egress::result<void>>(std::move(x))});
  });
}

void fence_state::land(std::uint64_t ticket, const egress::result<void>& how) {
  if (under_way_ != ticket)
    return;
  under_way_.reset();
  proved_ = how.has_value();
  if (proved_)
    waiting_.succeed();
  else
    waiting_.fail(to_problem(how.error()));
}

void fence_state::stop() {
  waiting_.fail(make_problem(verdict::refused, "SessionOver", "the session of this fence is over; nothing was proved"));
  self_->quit();
}

} // namespace paddock
