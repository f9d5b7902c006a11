#include "actors/task.hpp"

#include "actors/call.hpp"
#include "actors/callers.hpp"
#include "actors/fence.hpp"
#include "actors/policy_queue.hpp"
#include "actors/supervise.hpp"
#include "actors/translate.hpp"
#include "messages/error.hpp"
#include "workspace/lease.hpp"

#include <algorithm>

namespace paddock {

namespace {

constexpr auto clean_up_bound = std::chrono::seconds{1};
constexpr auto retirement_bound = std::chrono::seconds{15};
constexpr std::size_t most_waiting = 256;

bool makes_busy(const call_spec& x) {
  return std::holds_alternative<run_spec>(x.what) || std::holds_alternative<walk_spec>(x.what);
}

bool is_unconfirmed_cancellation(const workspace::failure& x) {
  const auto* of_guest = std::get_if<guest::failure>(&x);
  return of_guest != nullptr && std::holds_alternative<guest::cancellation_unknown>(*of_guest);
}

bool is_gone(const workspace::failure& x) {
  const auto* api = std::get_if<k8s::failure>(&x);
  return api != nullptr && std::holds_alternative<k8s::already_gone>(*api);
}

problem acquire_withdrawn() {
  return make_problem(verdict::refused, "Cancelled",
                      "the caller withdrew before there was an answer; what had been made for it was deleted, or dies with its lease");
}

} // namespace

task_state::task_state(task_actor::pointer self, actor_world& world, task_options how) : self_(self), world_(world), how_(std::move(how)) {
}

task_state::~task_state() {
  for (const auto& [ticket, then] : asked_)
    world_.tasks->cancel(ticket);
}

task_actor::behavior_type task_state::make_behavior() {
  report_crashes(self_, world_, "TASK " + how_.what.name);
  self_->monitor(how_.holder);
  if (how_.fence)
    self_->monitor(how_.fence);
  self_->set_down_handler([this](const caf::down_msg& x) { down(x.source); });
  return {
    [this](atom::acquire, caf::timespan budget) { return acquire(budget); },
    [this](atom::view) { return view(); },
    [this](atom::call, call_spec& what, const sink_actor& sink, caf::timespan budget) { return call(std::move(what), sink, budget); },
    [this](atom::allow, policy_spec& what, caf::timespan budget) { return allow(std::move(what), budget); },
    [this](atom::remove, caf::timespan budget) { return remove(budget); },
    [this](atom::stop) { end(); },
    [this](atom::renew, std::uint64_t tick) { renew(tick); },
    [this](atom::landed, std::uint64_t ticket, const landed& x) {
      if (auto then = asked_.extract(ticket))
        then.mapped()(x);
    },
    [](atom::heard, std::uint64_t, const std::string&, const std::string&) {
      // Nobody asks a task for its guest's boot id.
    },
    [this](atom::moved, std::uint64_t, const call_actor& who, const std::string& tried) { move_call(who, tried); },
    [this](atom::failed, std::uint64_t, const call_actor& who, const std::string&, const landed& x) {
      explain(who, *static_cast<const workspace::failure*>(x.value.get()));
    },
    [this](atom::noted, policy_event& x) {
      tell_holder(std::move(x.what), make_problem(verdict::failed, "PolicyChanged", "policy " + x.policy + ": " + x.text));
    },
  };
}

template <class T>
std::function<void(workspace::result<T>)> task_state::answer(workspace::ticket ticket,
                                                             std::function<void(const workspace::result<T>&)> then) {
  asked_.emplace(ticket, [then = std::move(then)](const landed& x) { then(*static_cast<const workspace::result<T>*>(x.value.get())); });
  const mail::weak<task_actor> me{caf::actor_cast<task_actor>(self_)};
  return [me, ticket](workspace::result<T> x) {
    me.tell(atom::landed_v, std::uint64_t{ticket}, landed{std::make_shared<const workspace::result<T>>(std::move(x))});
  };
}

// -- the acquire ------------------------------------------------------------------

caf::result<task_view> task_state::acquire(caf::timespan budget) {
  auto waiting = self_->make_response_promise<task_view>();
  acquiring_ = waiting;
  until_ = within(budget);
  verify(named_object_question{}, until_, [this] { plan(); });
  return waiting;
}

template <class Question>
void task_state::verify(Question what, deadline until, std::function<void()> then) {
  if (withdrawn_)
    return fail(acquire_withdrawn());
  if (!how_.gate)
    return then();
  checking_ = world_.next_ticket();
  mail::ask(self_, how_.gate, caf::infinite, atom::verify_v, std::move(what), *checking_, caf::timespan{until.left(world_.time)})
    .then(
      [this, then = std::move(then)] {
        checking_.reset();
        then();
      },
      [this](const caf::error& why) {
        checking_.reset();
        fail(of_acquire(to_problem(why)));
      });
}

void task_state::verify_pod(egress::label_map labels, const std::string& subject, deadline until, const std::function<void()>& then) {
  verify(ingress_question{labels, subject}, until, [this, labels, subject, until, then] {
    verify(union_question{labels, subject}, until, then);
  });
}

void task_state::plan() {
  if (withdrawn_)
    return fail(acquire_withdrawn());
  step_ = world_.next_ticket();
  world_.tasks->plan(step_, how_.what, until_,
                     answer<workspace::task_plan>(step_, [this](const workspace::result<workspace::task_plan>& x) {
                       if (!x)
                         return fail(to_problem(x.error()));
                       if (x->pod_labels)
                         return verify_pod(*x->pod_labels, x->subject, x->until, [this, plan = *x] { make(plan); });
                       make(*x);
                     }));
}

void task_state::make(workspace::task_plan what) {
  if (withdrawn_)
    return fail(acquire_withdrawn());
  step_ = world_.next_ticket();
  const auto verified = what.pod_labels.has_value();
  const auto until = what.until;
  auto made = [this, verified, until](const workspace::result<workspace::held_task>& x) {
    if (x)
      keep(*x, verified, until);
    else
      fail(to_problem(x.error()));
  };
  world_.tasks->make(step_, std::move(what), answer<workspace::held_task>(step_, std::move(made)));
}

void task_state::keep(const workspace::held_task& made, bool verified, deadline until) {
  held_ = made;
  if (verified)
    return probe();
  verify_pod(held_->pod_labels, held_->subject, until, [this] { probe(); });
}

void task_state::probe() {
  if (withdrawn_)
    return fail(acquire_withdrawn());
  lease_runs_ = true;
  renew_after(workspace::renewal_interval(held_->lease));
  step_ = world_.next_ticket();
  world_.tasks->probe(step_, *held_, until_, answer<workspace::done>(step_, [this](const workspace::result<workspace::done>& x) {
                        if (withdrawn_)
                          fail(acquire_withdrawn());
                        else if (x)
                          succeed();
                        else
                          fail(to_problem(x.error()));
                      }));
}

void task_state::succeed() {
  if (!lease_runs_) // its object went while its guest was probed
    return fail(to_problem(workspace::sandbox_gone{"acquire", held_->sandbox_name}));
  stage_ = stage::active;
  acquiring_->deliver(view());
  acquiring_.reset();
}

void task_state::fail(problem why) {
  if (withdrawn_)
    why = acquire_withdrawn();
  stop_lease();
  stage_ = stage::retiring;
  if (!held_)
    return end_acquire(why);
  const auto ticket = world_.next_ticket();
  // That it could not be deleted changes nothing for who waits: it dies with its lease.
  world_.tasks->release(ticket, *held_, within(clean_up_bound),
                        answer<workspace::done>(ticket, [this, why](const workspace::result<workspace::done>&) { end_acquire(why); }));
}

void task_state::end_acquire(const problem& why) {
  acquiring_->deliver(to_error(why));
  acquiring_.reset();
  self_->quit();
}

void task_state::withdraw() {
  withdrawn_ = true;
  if (checking_)
    mail::tell(self_, how_.gate, atom::cancel_v, *checking_);
  else
    world_.tasks->cancel(step_);
}

// -- the lease ----------------------------------------------------------------------

void task_state::renew_after(std::chrono::milliseconds pause) {
  mail::tell_after(self_, workspace::jittered(pause, world_.chance()), caf::actor_cast<task_actor>(self_), atom::renew_v, ++lease_tick_);
}

void task_state::renew(std::uint64_t tick) {
  if (!lease_runs_ || tick != lease_tick_)
    return;
  renewing_ = world_.next_ticket();
  world_.tasks->renew(renewing_, *held_, within(workspace::renewal_bound(held_->lease)),
                      answer<workspace::done>(renewing_, [this](const workspace::result<workspace::done>& x) { renewed(x); }));
}

void task_state::renewed(const workspace::result<workspace::done>& how) {
  if (!lease_runs_)
    return;
  if (how) {
    failed_renewals_ = 0;
    return renew_after(workspace::renewal_interval(held_->lease));
  }
  if (is_gone(how.error())) {
    stop_lease();
    if (stage_ != stage::active)
      return;
    stage_ = stage::gone;
    return tell_holder("gone", *refusal("renew"));
  }
  tell_holder("lease-renewal-failed", to_problem(how.error()));
  renew_after(workspace::pause_after_failure(held_->lease, ++failed_renewals_));
}

void task_state::stop_lease() {
  if (std::exchange(lease_runs_, false))
    world_.tasks->cancel(renewing_);
}

// -- what is held -------------------------------------------------------------------

std::optional<problem> task_state::refusal(std::string operation) const {
  const auto& which = held_ ? held_->sandbox_name : how_.what.name;
  if (stage_ == stage::gone)
    return to_problem(workspace::sandbox_gone{std::move(operation), which});
  if (stage_ != stage::active)
    return to_problem(workspace::destroyed{std::move(operation), which});
  return std::nullopt;
}

caf::result<call_actor> task_state::call(call_spec what, sink_actor sink, caf::timespan budget) {
  if (auto no = refusal(operation_of(what)))
    return to_error(*no);
  if (calls_.size() >= most_waiting)
    return to_error(make_problem(verdict::refused, "TooManyWaiting", "too many calls run in this task sandbox; nothing was done"));
  const auto busy = makes_busy(what);
  auto made = self_->spawn<call_impl>(std::ref(world_), call_options{held_->guest, 0, caf::actor_cast<call_owner_actor>(self_),
                                                                     std::move(sink), std::move(what), within(budget)});
  self_->monitor(made);
  calls_.emplace(made.address(), running{made, busy});
  return made;
}

void task_state::move_call(const call_actor& who, const std::string& tried) {
  if (stage_ != stage::active)
    return mail::tell(self_, who, atom::moved_v, nowhere_else());
  using found = workspace::result<std::optional<workspace::found_pod>>;
  const auto tell = [this, who](const std::optional<workspace::found_pod>& x) {
    mail::tell(self_, who, atom::moved_v, landed{std::make_shared<const found>(x)});
  };
  if (held_->guest.token.reveal() != tried)
    return tell(workspace::found_pod{pod_uid{held_->guest.token.reveal()}, held_->guest});
  const auto ticket = world_.next_ticket();
  world_.tasks->reread(ticket, *held_, within(retirement_bound),
                       answer<std::optional<workspace::found_pod>>(ticket, [this, tell](const found& x) {
                         if (x && *x)
                           held_->guest = (*x)->guest;
                         tell(x ? *x : std::nullopt);
                       }));
}

void task_state::explain(const call_actor& who, const workspace::failure& why) {
  auto told = to_problem(why);
  if (!is_unconfirmed_cancellation(why))
    return mail::tell(self_, who, atom::failed_v, std::move(told));
  if (stage_ == stage::destroyed)
    return mail::tell(self_, who, atom::failed_v, retired(std::move(told), nullptr));
  retiring_.emplace_back([this, who, told](const problem* no) { mail::tell(self_, who, atom::failed_v, retired(told, no)); });
  give_back(within(retirement_bound));
}

caf::result<void> task_state::allow(policy_spec what, caf::timespan budget) {
  if (auto no = refusal("setNetworkPolicy"))
    return to_error(*no);
  if (world_.policies == nullptr)
    return to_error(make_problem(verdict::refused, "PerSandboxEgressNotConfigured",
                                 "this node grants nothing to single sandboxes: its egress configuration has no `perSandbox`"));
  return self_->delegate(policy_queue(), atom::allow_v, std::move(what), budget);
}

policy_queue_actor& task_state::policy_queue() {
  if (queue_)
    return queue_;
  using owner = egress::policy_owner::type;
  egress::grant_target whose;
  whose.how = *world_.egress->how.per_sandbox;
  whose.name_space = world_.egress->baseline.name_space;
  whose.owner.kind = held_->what.kind == workspace::owned_object::type::claim ? owner::sandbox_claim : owner::sandbox;
  whose.owner.name = held_->what.name;
  whose.owner.uid = held_->owner_uid;
  whose.selector_value = held_->what.name;
  queue_ = self_->spawn<policy_queue_impl>(
    std::ref(world_), policy_queue_options{std::move(whose), held_->pod_labels, fence(), caf::actor_cast<policy_watcher_actor>(self_)});
  self_->monitor(queue_);
  return queue_;
}

fence_actor& task_state::fence() {
  if (!how_.fence) {
    how_.fence = self_->spawn<fence_impl>(std::ref(world_), caf::actor_cast<caf::actor>(self_));
    self_->monitor(how_.fence);
  }
  return how_.fence;
}

void task_state::tell_holder(std::string what, problem why) {
  mail::tell(self_, how_.holder, atom::noted_v, task_event{std::move(what), std::move(why)});
}

// -- the end --------------------------------------------------------------------------

caf::result<void> task_state::remove(caf::timespan budget) {
  if (stage_ == stage::destroyed)
    return caf::unit;
  if (removing_.size() >= most_waiting)
    return to_error(too_many_callers());
  auto waiting = self_->make_response_promise<void>();
  removing_.push_back(waiting);
  if (releasing_ && !retiring_.empty())
    release_again_ = within(budget);
  give_back(within(budget));
  return waiting;
}

void task_state::give_back(deadline until) {
  if (std::exchange(releasing_, true))
    return;
  stage_ = stage::retiring;
  stop_lease();
  if (queue_)
    mail::tell(self_, queue_, atom::stop_v);
  const auto ticket = world_.next_ticket();
  world_.tasks->release(ticket, *held_, until,
                        answer<workspace::done>(ticket, [this](const workspace::result<workspace::done>& x) { given_back(x); }));
}

void task_state::given_back(const workspace::result<workspace::done>& how) {
  releasing_ = false;
  const auto why = how ? problem{} : to_problem(how.error());
  for (const auto& tell : std::exchange(retiring_, {}))
    tell(how ? nullptr : &why);
  if (const auto again = std::exchange(release_again_, std::nullopt); again && !how)
    return give_back(*again);
  if (how)
    stage_ = stage::destroyed;
  for (auto& one : std::exchange(removing_, {}))
    if (how)
      one.deliver();
    else
      one.deliver(to_error(why));
  if (ending_)
    self_->quit();
}

void task_state::end() {
  if (std::exchange(ending_, true))
    return;
  for (const auto& [address, one] : calls_)
    mail::tell(self_, one.actor, atom::cancel_v);
  if (acquiring_ || stage_ == stage::acquiring)
    return withdraw();
  if (stage_ == stage::destroyed || stage_ == stage::gone)
    return self_->quit();
  give_back(within(retirement_bound));
}

void task_state::down(const caf::actor_addr& who) {
  calls_.erase(who);
  if (who == how_.holder.address())
    return end();
  if (queue_ && who == queue_.address())
    queue_ = nullptr;
  if (how_.fence && who == how_.fence.address()) {
    // What it knew is gone with it.
    how_.fence = nullptr;
    if (queue_)
      mail::tell(self_, queue_, atom::moved_v, fence());
  }
}

deadline task_state::within(caf::timespan budget) const {
  return {world_.time, std::chrono::duration_cast<time_source::clock::duration>(budget)};
}

task_view task_state::view() const {
  task_view out;
  out.name = how_.what.name;
  if (!held_)
    return out;
  const auto busy = std::ranges::any_of(calls_, [](const auto& x) { return x.second.makes_busy; });
  out.kind = to_string(held_->what.kind);
  out.sandbox_name = held_->sandbox_name;
  out.template_name = held_->request.template_name;
  out.pool = held_->request.pool.value_or("");
  out.status = stage_ != stage::active ? "destroyed" : busy ? "busy" : "ready";
  out.may_grant = world_.policies != nullptr;
  return out;
}

} // namespace paddock
