#include "actors/workspace.hpp"

#include "actors/pinned_guest.hpp"
#include "actors/supervise.hpp"
#include "actors/translate.hpp"
#include "base/overloaded.hpp"
#include "messages/error.hpp"
#include "workspace/admission.hpp"
#include "workspace/expected_identity.hpp"
#include "workspace/joining.hpp"

#include <algorithm>
#include <array>

namespace paddock {

namespace {

/// How long a suspend that flushes looks for the guest of a session that this node does not hold yet; then it goes on without.
constexpr auto look_for_guest = std::chrono::seconds{10};
constexpr std::size_t most_waiting = 256; // verbs and parked calls of one workspace; more are refused
constexpr auto stamp_bound = std::chrono::seconds{60};

std::optional<sandbox_uid> to_sandbox_uid(std::optional<std::string> x) {
  return x ? std::optional{sandbox_uid{std::move(*x)}} : std::nullopt;
}

caf::error stopping() {
  return to_error(make_problem(verdict::refused, "NodeStopping", "the node is stopping; nothing was done"));
}

/// The word for a question in errors.
std::string operation_of(const workspace::question& x) {
  constexpr std::array names = {"listSessions", "startDetached", "killSession", "quiesce", "flush", "cancelExecution"};
  return names[x.index()];
}

bool waits_in_line(const workspace::question& x) {
  return std::holds_alternative<workspace::quiesce_guest>(x) || std::holds_alternative<workspace::flush_guest>(x);
}

caf::error too_many() {
  return to_error(make_problem(verdict::refused, "TooManyWaiting", "too many requests wait for this workspace; nothing was done"));
}

} // namespace

workspace_state::workspace_state(workspace_actor::pointer self, actor_world& world, workspace::id which, workspace::remembered former) :
  self_(self), world_(world), which_(std::move(which)), session_(workspace::session_of(former)), events_(self, world) {
  if (world.policies != nullptr)
    policies_.emplace(self, world, which_);
}

workspace_actor::behavior_type workspace_state::make_behavior() {
  report_crashes(self_, world_, "WORKSPACE " + which_.text());
  self_->set_down_handler([this](const caf::down_msg& x) {
    calls_.erase(x.source);
    pins_.erase(x.source);
    events_.down(x.source);
    if (policies_)
      policies_->down(x.source);
    if (watch_ && x.source == watch_.address()) {
      watch_ = nullptr;
      show({});
    }
    quit_when_done();
  });
  return {
    [this](atom::open, open_spec& what, caf::timespan budget) { return open(std::move(what), false, budget); },
    [this](atom::suspend, suspend_spec& what, caf::timespan budget) { return suspend(std::move(what), budget); },
    [this](atom::resume, open_spec& what, caf::timespan budget) { return open(std::move(what), true, budget); },
    [this](atom::remove, remove_spec& what, caf::timespan budget) { return remove(std::move(what), budget); },
    [this](atom::reset_epoch, reset_spec& what, caf::timespan budget) { return reset_epoch(std::move(what), budget); },
    [this](atom::stamp, bool report) { return stamp(report); },
    [this](atom::view) { return view(); },
    [this](atom::call, call_spec& what, const sink_actor& sink, caf::timespan budget) { return call(std::move(what), sink, budget); },
    [this](atom::ask, guest_question& what, caf::timespan budget) { return ask(std::move(what), budget); },
    [this](atom::pin, pin_spec& what) { return pin(std::move(what)); },
    [this](atom::identity) { return identity(); },
    [this](atom::policy, policy_request& what, caf::timespan budget) { return policy(std::move(what), budget); },
    [this](atom::refresh, caf::timespan budget) { return refresh(budget); },
    [this](atom::events) { return events_.kept(); },
    [this](atom::subscribe, const event_sink_actor& sink) { return events_.subscribe(sink); },
    [this](atom::stop) { stop(); },
    [this](atom::leave) {
      const auto left = leave();
      return landed{left ? std::make_shared<const workspace::remembered>(*left) : nullptr};
    },
    [this](atom::landed, std::uint64_t ticket, const landed& x) {
      if (policies_ && policies_->land(ticket, x))
        quit_when_done();
      else if (under_way_ && ticket == ticket_ && std::holds_alternative<policy_verb>(under_way_->verb))
        land_policy(*static_cast<const workspace_policies::outcome*>(x.value.get()));
      else if (under_way_ && ticket == ticket_)
        land(*static_cast<const verb_end*>(x.value.get()));
      else if (auto asked = asking_.find(ticket); asked != asking_.end())
        land_question(asked->second, ticket, x);
      else if (rereads_.contains(ticket))
        land_reread(ticket, *static_cast<const found*>(x.value.get()));
    },
    [this](atom::heard, std::uint64_t generation, const std::string& boot, const std::string& pod) { hear(generation, boot, pod); },
    [this](atom::moved, std::uint64_t generation, const call_actor& who, const std::string& pod) { move_call(generation, who, pod); },
    [this](atom::failed, std::uint64_t generation, const call_actor& who, std::string& operation, const landed& x) {
      explain(generation, who, std::move(operation), *static_cast<const workspace::failure*>(x.value.get()));
    },
    [this](atom::explained, std::uint64_t generation, const call_actor& who, const landed& x) {
      explained(generation, who, *static_cast<const workspace::transition<workspace::done>*>(x.value.get()));
    },
    [this](atom::watch, const watch_actor& by) { watch(by); },
    [this](atom::shown, const landed& x) {
      if (watch_ && self_->current_sender() == caf::actor_cast<caf::strong_actor_ptr>(watch_))
        show(*static_cast<const k8s::sighting*>(x.value.get()));
    },
    [this](atom::noted, const policy_event& x) { policies_->note(x); },
  };
}

// -- verbs --------------------------------------------------------------------

caf::result<opened_view> workspace_state::open(open_spec what, bool resume, caf::timespan budget) {
  if (stopping_)
    return stopping();
  if (queue_.size() >= most_waiting)
    return too_many();
  workspace::open_options how;
  how.template_name = what.template_name.empty() ? world_.template_name : std::move(what.template_name);
  how.refresh_template = what.refresh_template;
  how.create = !resume;
  how.expect = to_sandbox_uid(std::move(what.expect_uid));
  for (auto& [entry, uid] : what.expect_claims)
    how.expect_claims.emplace(entry, claim_uid{std::move(uid)});
  auto waiting = self_->make_response_promise<opened_view>();
  push({open_verb{std::move(how), resume, waiting}, within(budget)});
  return waiting;
}

caf::result<workspace_view> workspace_state::suspend(suspend_spec what, caf::timespan budget) {
  if (stopping_)
    return stopping();
  workspace::suspend_options how{what.flush, what.quiesce};
  if (what.grace)
    how.quiesce_grace = std::chrono::duration_cast<std::chrono::milliseconds>(*what.grace);
  how.by_id = what.by_id;
  how.expect = to_sandbox_uid(std::move(what.expect_uid));
  // Joins the last verb in line only: one that waits behind another verb must not be answered by what came before it.
  auto* last = !queue_.empty() ? &queue_.back() : under_way_ ? &*under_way_ : nullptr;
  if (auto* flight = last ? std::get_if<suspend_verb>(&last->verb) : nullptr; flight != nullptr && flight->how.expect == how.expect) {
    if (auto why = workspace::refused_joiner(flight->how, how))
      return to_error(to_problem(workspace::failure{std::move(*why)}));
    if (flight->waiting.size() >= most_waiting)
      return too_many();
    flight->waiting.push_back({self_->make_response_promise<workspace_view>(), what.or_deleted});
    return flight->waiting.back().answer;
  }
  if (queue_.size() >= most_waiting)
    return too_many();
  auto waiting = self_->make_response_promise<workspace_view>();
  push({suspend_verb{std::move(how), {{waiting, what.or_deleted}}}, within(budget)});
  return waiting;
}

caf::result<void> workspace_state::remove(remove_spec what, caf::timespan budget) {
  if (stopping_)
    return stopping();
  workspace::remove_options how{to_sandbox_uid(std::move(what.expect_uid))};
  auto* last = !queue_.empty() ? &queue_.back() : under_way_ ? &*under_way_ : nullptr;
  if (auto* flight = last ? std::get_if<remove_verb>(&last->verb) : nullptr; flight != nullptr && flight->how.expect == how.expect) {
    if (flight->waiting.size() >= most_waiting)
      return too_many();
    flight->waiting.push_back(self_->make_response_promise<void>());
    return flight->waiting.back();
  }
  if (queue_.size() >= most_waiting)
    return too_many();
  auto waiting = self_->make_response_promise<void>();
  push({remove_verb{std::move(how), {waiting}}, within(budget)});
  return waiting;
}

caf::result<workspace_view> workspace_state::reset_epoch(reset_spec what, caf::timespan budget) {
  if (stopping_)
    return stopping();
  if (queue_.size() >= most_waiting)
    return too_many();
  auto waiting = self_->make_response_promise<workspace_view>();
  push({reset_verb{{std::move(what.stored), sandbox_uid{std::move(what.sandbox_uid)}}, waiting}, within(budget)});
  return waiting;
}

caf::result<void> workspace_state::stamp(bool report) {
  if (stopping_)
    return stopping();
  if (queue_.size() >= most_waiting)
    return too_many();
  auto waiting = self_->make_response_promise<void>();
  push({stamp_verb{report, waiting}, within(stamp_bound)});
  return waiting;
}

caf::result<workspace_view> workspace_state::refresh(caf::timespan budget) {
  if (stopping_)
    return stopping();
  if (queue_.size() >= most_waiting)
    return too_many();
  auto waiting = self_->make_response_promise<workspace_view>();
  push({refresh_verb{waiting}, within(budget)});
  return waiting;
}

void workspace_state::push(queued next) {
  queue_.push_back(std::move(next));
  pump();
}

void workspace_state::pump() {
  if (under_way_ || queue_.empty())
    return;
  // What asks something of the guest asks the one that stands: while nobody knows that one, the cluster is asked first, once.
  if (auto& next = queue_.front(); session_.at == workspace::state::unknown && asks_guest(next) && !std::exchange(next.taken_up, true)) {
    const auto until = needs_guest(next) ? next.until : next.until.no_later_than(world_.time.now() + look_for_guest);
    queue_.push_front({take_up_verb{expected_by(next)}, until});
  }
  under_way_.emplace(std::move(queue_.front()));
  queue_.pop_front();
  ticket_ = world_.next_ticket();
  under_way_->boot = session_.boot;
  ask_port(*under_way_, ticket_);
  if (watch_)
    show(sighting_);
}

bool workspace_state::asks_guest(const queued& next) {
  const auto* suspend = std::get_if<suspend_verb>(&next.verb);
  // A suspend that names its Sandbox looks at that one before anything is written, so no session is taken up for its flush.
  return needs_guest(next) || (suspend != nullptr && suspend->how.flush && !suspend->how.by_id && !suspend->how.expect);
}

bool workspace_state::needs_guest(const queued& next) {
  const auto* suspend = std::get_if<suspend_verb>(&next.verb);
  return std::holds_alternative<ask_verb>(next.verb) || (suspend != nullptr && suspend->how.quiesce && !suspend->how.by_id);
}

std::optional<sandbox_uid> workspace_state::expected_by(const queued& x) {
  return std::visit(overloaded{
                      [](const open_verb& verb) { return verb.how.expect; },
                      [](const suspend_verb& verb) { return verb.how.expect; },
                      [](const remove_verb& verb) { return verb.how.expect; },
                      [](const take_up_verb& verb) { return verb.expect; },
                      [](const auto&) { return std::optional<sandbox_uid>{}; },
                    },
                    x.verb);
}

bool workspace_state::tells_state(const queued& x) {
  return !std::holds_alternative<policy_verb>(x.verb) && !std::holds_alternative<stamp_verb>(x.verb)
         && !std::holds_alternative<reset_verb>(x.verb) && !std::holds_alternative<refresh_verb>(x.verb) && !expected_by(x);
}

workspace::transitions_port::then<workspace::done> workspace_state::landing(workspace::ticket ticket) const {
  return [me = mail::weak<workspace_actor>{caf::actor_cast<workspace_actor>(self_)}, ticket](workspace::transition<workspace::done> x) {
    auto end = std::make_shared<verb_end>(verb_end{std::move(x.after), std::optional<workspace::origin>{}, {}, {}, std::move(x.events)});
    if (!x.answer)
      end->answer = tl::unexpected{std::move(x.answer.error())};
    me.tell(atom::landed_v, std::uint64_t{ticket}, landed{std::move(end)});
  };
}

void workspace_state::ask_port(queued& next, workspace::ticket ticket) {
  const mail::weak<workspace_actor> me{caf::actor_cast<workspace_actor>(self_)};
  const auto opened = [me, ticket](workspace::transition<workspace::opened> x) {
    auto end = std::make_shared<verb_end>(verb_end{std::move(x.after), std::optional<workspace::origin>{}, {}, {}, std::move(x.events)});
    if (x.answer)
      end->answer = x.answer->from;
    else
      end->answer = tl::unexpected{std::move(x.answer.error())};
    me.tell(atom::landed_v, std::uint64_t{ticket}, landed{std::move(end)});
  };
  const auto done = landing(ticket);
  if (const auto* open = std::get_if<open_verb>(&next.verb)) {
    if (open->resume)
      world_.transitions.resume(ticket, which_, open->how, session_, next.until, opened);
    else
      world_.transitions.open(ticket, which_, open->how, session_, next.until, opened);
  } else if (const auto* suspend = std::get_if<suspend_verb>(&next.verb)) {
    world_.transitions.suspend(ticket, which_, suspend->how, session_, next.until, done);
  } else if (auto* ask = std::get_if<ask_verb>(&next.verb)) {
    auto where = workspace::admit(which_, session_, operation_of(ask->what));
    if (!where) {
      me.tell(atom::landed_v, std::uint64_t{ticket},
              landed{std::make_shared<verb_end>(verb_end{session_, tl::unexpected{std::move(where.error())}, {}})});
      return;
    }
    ask_in_line(*ask, std::move(*where), next.until, ticket);
  } else if (std::holds_alternative<refresh_verb>(next.verb)) {
    world_.transitions.refresh(ticket, which_, session_, next.until, done);
  } else if (const auto* grant = std::get_if<policy_verb>(&next.verb)) {
    policies_->set(session_, grant->what, next.until, [me, ticket](workspace_policies::outcome x) {
      me.tell(atom::landed_v, std::uint64_t{ticket}, landed{std::make_shared<const workspace_policies::outcome>(std::move(x))});
    });
  } else if (const auto* remove = std::get_if<remove_verb>(&next.verb)) {
    world_.transitions.remove(ticket, which_, remove->how, session_, next.until, done);
  } else if (const auto* reset = std::get_if<reset_verb>(&next.verb)) {
    world_.transitions.reset_epoch(ticket, which_, reset->what, session_, next.until, done);
  } else if (std::holds_alternative<stamp_verb>(next.verb)) {
    world_.transitions.stamp(ticket, which_, session_, next.until, [me, ticket](workspace::transition<workspace::stamped> x) {
      auto end = std::make_shared<verb_end>(verb_end{std::move(x.after), std::optional<workspace::origin>{}, {}});
      if (x.answer)
        end->stamp = std::move(*x.answer);
      else
        end->answer = tl::unexpected{std::move(x.answer.error())};
      me.tell(atom::landed_v, std::uint64_t{ticket}, landed{std::move(end)});
    });
  } else {
    world_.transitions.take_up(ticket, which_, workspace::of_expected(session_, expected_by(next)), next.until, done);
  }
}

void workspace_state::ask_in_line(ask_verb& ask, guest::endpoint where, deadline until, workspace::ticket ticket) {
  ask.tried = pod_uid{where.token.reveal()};
  const mail::weak<workspace_actor> me{caf::actor_cast<workspace_actor>(self_)};
  world_.guests.ask(ticket, std::move(where), ask.what, until, [me, ticket](workspace::result<workspace::reply> x) {
    auto end = std::make_shared<verb_end>();
    if (x)
      end->said = std::move(*x);
    else
      end->answer = tl::unexpected{std::move(x.error())};
    me.tell(atom::landed_v, std::uint64_t{ticket}, landed{std::move(end)});
  });
}

void workspace_state::land(const verb_end& end) {
  if (ask_again_in_line(end) || explain_in_line(end))
    return;
  auto done = std::move(*under_way_);
  under_way_.reset();
  keep(done, end);
  tell_policies(done, end.answer.has_value());
  if (end.answer)
    answer_well(done, end);
  else
    answer(done, to_problem(end.answer.error()));
  // What waited until the state is known: the line first, then calls.
  if (std::holds_alternative<take_up_verb>(done.verb) && !end.answer)
    refuse_without_guest(done, end.answer.error());
  answer_parked(done, end);
  quit_when_done();
  pump();
}

void workspace_state::answer_parked(const queued& done, const verb_end& end) {
  for (auto& one : std::exchange(parked_, {}))
    if (session_.at != workspace::state::unknown)
      one.go();
    else if (!end.answer && tells_state(done))
      one.refuse(to_error(to_problem(end.answer.error())));
    else
      parked_.push_back(std::move(one));
  // Those that waited for a verb which named another Sandbox than stands have learnt nothing from it.
  if (!parked_.empty() && !tells_state(done) && !learns_the_state())
    queue_.push_front({take_up_verb{}, std::ranges::max_element(parked_, {}, [](const auto& x) { return x.until.at(); })->until});
}

bool workspace_state::explain_in_line(const verb_end& end) {
  auto* ask = std::get_if<ask_verb>(&under_way_->verb);
  if (ask == nullptr || end.answer || stopping_ || session_.at != workspace::state::running
      || !workspace::worth_explaining(end.answer.error()) || ask->explaining)
    return false;
  ask->explaining = generation_;
  ticket_ = world_.next_ticket();
  world_.transitions.explain(ticket_, which_, operation_of(ask->what), session_, end.answer.error(), within(std::chrono::seconds{10}),
                             landing(ticket_));
  return true;
}

void workspace_state::refuse_without_guest(const queued& taking_up, const workspace::failure& why) {
  // That the time of the first was up, or that it named another Sandbox, is no answer for those behind it.
  const auto for_all = !expected_by(taking_up) && !taking_up.until.passed(world_.time);
  while (!queue_.empty() && needs_guest(queue_.front()) && (queue_.front().taken_up || for_all)) {
    auto next = std::move(queue_.front());
    queue_.pop_front();
    answer(next, to_problem(why));
  }
  if (!queue_.empty() && queue_.front().taken_up && workspace::kind_of(why) != workspace::kind::not_found)
    world_.warn("workspace " + which_.text() + ": its guest was not found (" + workspace::to_string(why)
                + "); the suspend goes on without a flush");
}

void workspace_state::keep(const queued& done, const verb_end& end) {
  if (const auto* ask = std::get_if<ask_verb>(&done.verb)) {
    // A question changes no session, but what the cluster says of its failure may.
    if (ask->explaining)
      take_over(*ask->explaining, end.after, end.events);
    return;
  }
  if (std::holds_alternative<reset_verb>(done.verb) || std::holds_alternative<stamp_verb>(done.verb)) {
    // Neither of them opens a session or ends one. What was never read stays so, and learns its epoch as anybody who starts.
    if (session_.at != workspace::state::unknown || session_.sandbox) {
      session_.epoch = end.after.epoch;
      session_.stamped = end.after.stamped;
    }
    return;
  }
  // Who looked for one Sandbox and got no hold of it has learnt nothing of what stands.
  const auto* looked = std::get_if<take_up_verb>(&done.verb);
  const auto stands = end.after.at != workspace::state::unknown && end.after.at != workspace::state::deleted;
  if (looked != nullptr && looked->expect && !stands && end.after.epoch == session_.epoch)
    return;
  auto after = end.after;
  if (after.at != session_.at || after.pod != session_.pod) {
    ++generation_;
  } else {
    // What was heard of the same guest meanwhile is younger than what the verb heard.
    const auto is_news = session_.boot == done.boot && after.boot && after.pod;
    if (const auto restart = is_news ? workspace::hear(session_, *after.pod, *after.boot) : std::nullopt)
      raise(*restart);
    after.boot = session_.boot;
  }
  session_ = std::move(after);
  for (const auto& x : end.events)
    raise(x);
}

void workspace_state::answer_well(queued& done, const verb_end& end) {
  if (auto* open = std::get_if<open_verb>(&done.verb)) {
    open->waiting.deliver(opened_view{std::string{workspace::to_string(end.answer->value_or(session_.from))}, view()});
  } else if (auto* suspend = std::get_if<suspend_verb>(&done.verb)) {
    for (auto& one : suspend->waiting)
      one.answer.deliver(view());
  } else if (auto* remove = std::get_if<remove_verb>(&done.verb)) {
    for (auto& one : remove->waiting)
      one.deliver();
  } else if (auto* reset = std::get_if<reset_verb>(&done.verb)) {
    reset->waiting.deliver(view());
  } else if (auto* stamp = std::get_if<stamp_verb>(&done.verb)) {
    if (stamp->report && end.stamp && end.stamp->written)
      world_.warn("workspace " + which_.text() + " stood with "
                  + (end.stamp->found ? "the holder epoch " + *end.stamp->found : std::string{"no holder epoch"})
                  + ", and was given one of this node");
    stamp->waiting.deliver();
  } else if (auto* ask = std::get_if<ask_verb>(&done.verb)) {
    ask->waiting.deliver(to_answer(end.said.value_or(workspace::reply{})));
  } else if (auto* refresh = std::get_if<refresh_verb>(&done.verb)) {
    refresh->waiting.deliver(view());
  }
}

void workspace_state::answer(queued& done, const problem& why) {
  if (auto* open = std::get_if<open_verb>(&done.verb)) {
    open->waiting.deliver(to_error(why));
  } else if (auto* suspend = std::get_if<suspend_verb>(&done.verb)) {
    for (auto& one : suspend->waiting)
      if (one.or_deleted && session_.at == workspace::state::deleted)
        one.answer.deliver(view());
      else
        one.answer.deliver(to_error(why));
  } else if (auto* remove = std::get_if<remove_verb>(&done.verb)) {
    for (auto& one : remove->waiting)
      one.deliver(to_error(why));
  } else if (auto* reset = std::get_if<reset_verb>(&done.verb)) {
    reset->waiting.deliver(to_error(why));
  } else if (auto* stamp = std::get_if<stamp_verb>(&done.verb)) {
    stamp->waiting.deliver(to_error(why));
  } else if (auto* ask = std::get_if<ask_verb>(&done.verb)) {
    ask->waiting.deliver(to_error(why));
  } else if (auto* grant = std::get_if<policy_verb>(&done.verb)) {
    grant->waiting.deliver(to_error(why));
  } else if (auto* refresh = std::get_if<refresh_verb>(&done.verb)) {
    refresh->waiting.deliver(to_error(why));
  }
}

// -- calls and questions ----------------------------------------------------------

void workspace_state::once_known(parked one) {
  if (session_.at != workspace::state::unknown)
    return one.go();
  if (parked_.size() >= most_waiting)
    return one.refuse(too_many());
  // What stands is not known yet: the verb in line will tell, or this one asks.
  const auto until = one.until;
  parked_.push_back(std::move(one));
  if (!learns_the_state())
    push({take_up_verb{}, until});
}

caf::result<call_actor> workspace_state::call(call_spec what, sink_actor sink, caf::timespan budget) {
  if (stopping_)
    return stopping();
  auto waiting = self_->make_response_promise<call_actor>();
  const auto until = within(budget);
  once_known({until, [this, what = std::move(what), sink = std::move(sink), until, waiting] { admit(what, sink, until, waiting); },
              [waiting](const caf::error& why) mutable { waiting.deliver(why); }});
  return waiting;
}

void workspace_state::admit(call_spec what, sink_actor sink, deadline until, promise<call_actor> waiting) {
  auto where = workspace::admit(which_, session_, paddock::operation_of(what));
  if (!where) {
    waiting.deliver(to_error(to_problem(where.error())));
    return;
  }
  auto call =
    self_->spawn<call_impl>(std::ref(world_), call_options{std::move(*where), generation_, caf::actor_cast<call_owner_actor>(self_),
                                                           std::move(sink), std::move(what), until});
  self_->monitor(call);
  calls_.emplace(call.address(), call);
  waiting.deliver(std::move(call));
}

caf::result<guest_answer> workspace_state::ask(guest_question what, caf::timespan budget) {
  if (stopping_)
    return stopping();
  auto waiting = self_->make_response_promise<guest_answer>();
  const auto until = within(budget);
  auto question = to_question(std::move(what));
  if (waits_in_line(question)) {
    if (queue_.size() >= most_waiting)
      return too_many();
    push({ask_verb{std::move(question), waiting}, until});
    return waiting;
  }
  if (asking_.size() >= most_waiting)
    return too_many();
  once_known({until, [this, question = std::move(question), until, waiting] { put_question(question, until, waiting); },
              [waiting](const caf::error& why) mutable { waiting.deliver(why); }});
  return waiting;
}

void workspace_state::put_question(workspace::question what, deadline until, promise<guest_answer> waiting) {
  auto where = workspace::admit(which_, session_, operation_of(what));
  if (!where) {
    waiting.deliver(to_error(to_problem(where.error())));
    return;
  }
  const auto ticket = world_.next_ticket();
  auto operation = operation_of(what);
  asking_.emplace(ticket, asking{waiting, generation_, std::move(operation), std::move(what), std::move(*where), until});
  ask_guest(ticket);
}

void workspace_state::ask_guest(workspace::ticket ticket) {
  const auto& one = asking_.at(ticket);
  const mail::weak<workspace_actor> me{caf::actor_cast<workspace_actor>(self_)};
  world_.guests.ask(ticket, one.where, one.what, one.until, [me, ticket](workspace::result<workspace::reply> x) {
    me.tell(atom::landed_v, std::uint64_t{ticket}, landed{std::make_shared<const workspace::result<workspace::reply>>(std::move(x))});
  });
}

void workspace_state::land_question(asking& one, workspace::ticket ticket, const landed& x) {
  if (one.explaining) {
    const auto& end = *static_cast<const workspace::transition<workspace::done>*>(x.value.get());
    take_over(one.generation, end.after, end.events);
    if (!end.answer)
      one.waiting.deliver(to_error(to_problem(end.answer.error())));
  } else {
    const auto& said = *static_cast<const workspace::result<workspace::reply>*>(x.value.get());
    if (said)
      one.waiting.deliver(to_answer(*said));
    else if (ask_again(one, ticket, said.error()) || explain_question(one, ticket, said.error()))
      return;
    else
      one.waiting.deliver(to_error(to_problem(said.error())));
  }
  asking_.erase(ticket);
  quit_when_done();
}

bool workspace_state::explain_question(asking& one, workspace::ticket ticket, const workspace::failure& why) {
  if (one.generation != generation_ || session_.at != workspace::state::running || stopping_ || session_ends()
      || !workspace::worth_explaining(why))
    return false;
  one.explaining = true;
  const mail::weak<workspace_actor> me{caf::actor_cast<workspace_actor>(self_)};
  world_.transitions.explain(ticket, which_, one.operation, session_, why, within(std::chrono::seconds{10}),
                             [me, ticket](workspace::transition<workspace::done> end) {
                               me.tell(atom::landed_v, std::uint64_t{ticket},
                                       landed{std::make_shared<const workspace::transition<workspace::done>>(std::move(end))});
                             });
  return true;
}

caf::result<pinned_guest_actor> workspace_state::pin(pin_spec what) {
  if (stopping_)
    return stopping();
  auto pin = to_pin(what);
  if (!pin)
    return to_error(to_problem(workspace::failure{workspace::pin_incomplete{std::move(pin.error().missing)}}));
  pinned_guest_actor view =
    self_->spawn<pinned_guest_impl>(std::ref(world_), caf::actor_cast<workspace_actor>(self_), which_, std::move(*pin));
  self_->monitor(view);
  pins_.insert(view.address());
  return view;
}

caf::result<landed> workspace_state::identity() {
  if (stopping_)
    return stopping();
  auto waiting = self_->make_response_promise<landed>();
  once_known({within(std::chrono::seconds{10}),
              [this, waiting]() mutable {
                waiting.deliver(landed{std::make_shared<const session_identity>(session_identity{session_, generation_})});
              },
              [waiting](const caf::error& why) mutable { waiting.deliver(why); }});
  return waiting;
}

void workspace_state::explain(std::uint64_t generation, const call_actor& who, std::string operation, const workspace::failure& why) {
  auto now = session_;
  if (generation != generation_)
    workspace::end_overtaken(now); // whoever it was that had the call, it is not the guest of this session
  else if (session_ends())
    now.at = workspace::state::suspending;
  const auto* of_guest = std::get_if<guest::failure>(&why);
  const auto unconfirmed = of_guest != nullptr && std::holds_alternative<guest::cancellation_unknown>(*of_guest);
  if (now.at != workspace::state::running && !unconfirmed) {
    mail::tell(self_, who, atom::failed_v, to_problem(why));
    return;
  }
  const mail::weak<workspace_actor> me{caf::actor_cast<workspace_actor>(self_)};
  world_.transitions.explain(world_.next_ticket(), which_, std::move(operation), std::move(now), why, within(std::chrono::seconds{20}),
                             [me, generation, who](workspace::transition<workspace::done> x) {
                               me.tell(atom::explained_v, generation, who,
                                       landed{std::make_shared<const workspace::transition<workspace::done>>(std::move(x))});
                             });
}

void workspace_state::explained(std::uint64_t generation, const call_actor& who, const workspace::transition<workspace::done>& end) {
  take_over(generation, end.after, end.events);
  if (!end.answer)
    mail::tell(self_, who, atom::failed_v, kept(to_problem(end.answer.error()), "workspace-kept"));
}

void workspace_state::take_over(std::uint64_t generation, const workspace::session& after, const std::vector<workspace::event>& events) {
  // A verb that is under way owns the session; its answer is newer than this one. A session that has been ended names no pod.
  const auto taken = generation == generation_ && !verb_under_way() && after.at != session_.at && !after.pod;
  if (taken) {
    // The pod that goes is the one of now: another call may have found it after this look began.
    const auto pod = session_.pod;
    session_ = after;
    session_.retired_pod = pod;
    ++generation_;
  }
  for (const auto& x : events)
    if (taken || !std::holds_alternative<workspace::suspended_elsewhere>(x))
      raise(x);
}

// -- the policy ---------------------------------------------------------------------

caf::result<policy_view> workspace_state::policy(policy_request what, caf::timespan budget) {
  if (!policies_)
    return to_error(make_problem(verdict::refused, "PerSandboxEgressNotConfigured",
                                 "this node grants nothing to single workspaces: its egress configuration has no `perSandbox`"));
  if (stopping_)
    return stopping();
  const auto until = within(budget);
  auto waiting = self_->make_response_promise<policy_view>();
  if (!what.grant) {
    policies_->show(session_, until, [waiting](workspace_policies::outcome x) mutable {
      if (x)
        waiting.deliver(std::move(*x));
      else
        waiting.deliver(to_error(x.error()));
    });
    return waiting;
  }
  if (queue_.size() >= most_waiting)
    return too_many();
  push({policy_verb{std::move(*what.grant), waiting}, until});
  return waiting;
}

void workspace_state::land_policy(const workspace_policies::outcome& x) {
  auto done = std::move(*under_way_);
  under_way_.reset();
  if (x)
    std::get<policy_verb>(done.verb).waiting.deliver(*x);
  else
    answer(done, x.error());
  quit_when_done();
  pump();
}

void workspace_state::tell_policies(const queued& done, bool well) {
  if (!policies_)
    return;
  policies_->keep(session_);
  const auto opens = std::holds_alternative<open_verb>(done.verb);
  if (opens)
    policies_->session_began(well && session_.fence_proved);
  if (well && (opens || std::holds_alternative<take_up_verb>(done.verb)) && session_.at == workspace::state::running)
    check_policies();
}

void workspace_state::check_policies() {
  if (policies_)
    policies_->check(session_, within(std::chrono::seconds{30}));
}

bool workspace_state::learns_the_state() const {
  // A verb that names its Sandbox may not tell in the end; then who waits for it has the cluster asked (`answer_parked`).
  const auto may_tell = [](const queued& x) { return tells_state(x) || expected_by(x); };
  return (under_way_ && may_tell(*under_way_)) || std::ranges::any_of(queue_, may_tell);
}

// -- what a WATCH shows ---------------------------------------------------------

void workspace_state::watch(const watch_actor& by) {
  if (watch_)
    self_->demonitor(watch_.address());
  watch_ = by;
  self_->monitor(watch_);
  mail::tell(self_, watch_, atom::watch_v, which_.sandbox_name(), caf::actor_cast<watcher_actor>(self_));
}

void workspace_state::show(k8s::sighting x) {
  sighting_ = std::move(x);
  if (verb_under_way())
    world_.transitions.saw(ticket_, sighting_);
}

// -- stopping -----------------------------------------------------------------

std::optional<workspace::remembered> workspace_state::leave() const {
  const auto waiting = under_way_ || !queue_.empty() || !parked_.empty();
  const auto guest_used = !calls_.empty() || !pins_.empty() || !asking_.empty() || !rereads_.empty();
  if (waiting || guest_used || stopping_ || events_.has_listeners() || (policies_ && !policies_->idle()))
    return std::nullopt;
  return workspace::what_remains(session_);
}

void workspace_state::stop() {
  stopping_ = true;
  const auto why = to_problem(stopping());
  for (auto& one : std::exchange(queue_, {}))
    answer(one, why);
  for (auto& one : std::exchange(parked_, {}))
    one.refuse(to_error(why));
  if (const auto* ask = under_way_ ? std::get_if<ask_verb>(&under_way_->verb) : nullptr; ask != nullptr && !ask->explaining)
    world_.guests.cancel(ticket_);
  else if (under_way_ && !std::holds_alternative<policy_verb>(under_way_->verb))
    world_.transitions.cancel(ticket_);
  for (const auto& [ticket, one] : asking_)
    if (one.explaining)
      world_.transitions.cancel(ticket);
    else
      world_.guests.cancel(ticket);
  for (const auto& [ticket, one] : rereads_)
    world_.transitions.cancel(ticket);
  for (const auto& [address, call] : calls_)
    mail::tell(self_, call, atom::cancel_v);
  if (policies_)
    policies_->stop();
  quit_when_done();
}

void workspace_state::quit_when_done() {
  if (stopping_ && !under_way_ && calls_.empty() && asking_.empty() && (!policies_ || policies_->idle()))
    self_->quit();
}

bool workspace_state::verb_under_way() const {
  return under_way_ && !std::holds_alternative<ask_verb>(under_way_->verb) && !std::holds_alternative<policy_verb>(under_way_->verb);
}

bool workspace_state::session_ends() const {
  return under_way_ && (std::holds_alternative<suspend_verb>(under_way_->verb) || std::holds_alternative<remove_verb>(under_way_->verb));
}

deadline workspace_state::within(caf::timespan budget) const {
  return {world_.time, std::chrono::duration_cast<time_source::clock::duration>(budget)};
}

workspace_view workspace_state::view() const {
  return to_view(which_, session_);
}

} // namespace paddock
