#include "actors/egress_gate.hpp"

#include "actors/supervise.hpp"
#include "actors/translate.hpp"
#include "egress/union_cache.hpp"
#include "messages/error.hpp"

#include <algorithm>
#include <numeric>

namespace paddock {

egress_gate_state::egress_gate_state(egress_gate_actor::pointer self, actor_world& world, std::string per_sandbox_label_key) :
  self_(self), world_(world), per_sandbox_label_key_(std::move(per_sandbox_label_key)) {
}

egress_gate_state::~egress_gate_state() {
  for (const auto& [ticket, one] : flights_)
    world_.gates->cancel(ticket);
}

egress_gate_actor::behavior_type egress_gate_state::make_behavior() {
  report_crashes(self_, world_, "EGRESS GATE");
  return {
    [this](atom::verify, const named_object_question&, std::uint64_t caller, caf::timespan budget) {
      return verify({subject::named_object, {}}, {}, caller, budget);
    },
    [this](atom::verify, union_question& x, std::uint64_t caller, caf::timespan budget) {
      return verify(key_of(subject::policy_union, x.pod_labels), {x.pod_labels, std::move(x.subject)}, caller, budget);
    },
    [this](atom::verify, ingress_question& x, std::uint64_t caller, caf::timespan budget) {
      return verify(key_of(subject::ingress, x.pod_labels), {x.pod_labels, std::move(x.subject)}, caller, budget);
    },
    [this](atom::cancel, std::uint64_t caller) { leave(caller, call_withdrawn()); },
    [this](atom::expired, std::uint64_t caller) { leave(caller, call_expired()); },
    [this](atom::landed, std::uint64_t ticket, const landed& x) { land(ticket, *static_cast<const egress::result<void>*>(x.value.get())); },
  };
}

egress_gate_state::key egress_gate_state::key_of(subject of, egress::label_map labels) const {
  return {of, egress::union_cache_key(std::move(labels), per_sandbox_label_key_)};
}

bool egress_gate_state::stands(const key& what, const pass& x) const {
  return what.of != subject::policy_union || egress::is_fresh(x.began, world_.time.now());
}

caf::result<void> egress_gate_state::verify(key what, egress::checked_pod which, std::uint64_t caller, caf::timespan budget) {
  std::erase_if(passes_, [this](const auto& x) { return !stands(x.first, x.second); });
  const auto found = passes_.find(what);
  if (found != passes_.end() && found->second.passed)
    return caf::unit;
  // A check that nobody waits for any more counts like one caller: it still runs.
  const auto waiting = std::transform_reduce(flights_.begin(), flights_.end(), std::size_t{0}, std::plus{},
                                             [](const auto& x) { return std::max(x.second.waiting.size(), std::size_t{1}); });
  if (waiting >= most_callers)
    return to_error(too_many_callers());
  auto promise = self_->make_response_promise<void>();
  const auto ticket = found != passes_.end() ? found->second.ticket : begin(what, std::move(which));
  flights_.at(ticket).waiting.join(caller, promise);
  if (budget < shared_bound)
    mail::tell_after(self_, budget, caf::actor_cast<egress_gate_actor>(self_), atom::expired_v, caller);
  return promise;
}

egress::ticket egress_gate_state::begin(const key& what, egress::checked_pod which) {
  const auto ticket = world_.next_ticket();
  passes_[what] = {ticket, world_.time.now(), false};
  flights_[ticket].what = what;
  const auto until = deadline{world_.time, shared_bound};
  const mail::weak<egress_gate_actor> me{caf::actor_cast<egress_gate_actor>(self_)};
  const auto to = [me, ticket](egress::result<void> x) {
    me.tell(atom::landed_v, std::uint64_t{ticket}, landed{std::make_shared<const egress::result<void>>(std::move(x))});
  };
  switch (what.of) {
    case subject::named_object: world_.gates->verify_named_object(ticket, until, to); break;
    case subject::policy_union: world_.gates->verify_union(ticket, std::move(which), until, to); break;
    case subject::ingress: world_.gates->verify_ingress(ticket, std::move(which), until, to); break;
  }
  return ticket;
}

void egress_gate_state::land(std::uint64_t ticket, const egress::result<void>& how) {
  auto done = flights_.extract(ticket);
  if (!done)
    return;
  // By now another check may have begun under the same key: this one says nothing about it.
  if (const auto found = passes_.find(done.mapped().what); found != passes_.end() && found->second.ticket == ticket) {
    found->second.passed = how.has_value();
    if (!how)
      passes_.erase(found);
  }
  if (how)
    done.mapped().waiting.succeed();
  else
    done.mapped().waiting.fail(to_problem(how.error()));
}

void egress_gate_state::leave(std::uint64_t caller, const problem& why) {
  for (auto& [ticket, one] : flights_)
    one.waiting.leave(caller, why);
}

} // namespace paddock
