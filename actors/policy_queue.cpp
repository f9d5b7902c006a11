#include "actors/policy_queue.hpp"

#include "actors/callers.hpp"
#include "actors/supervise.hpp"
#include "actors/translate.hpp"
#include "messages/error.hpp"

#include <algorithm>
#include <array>

namespace paddock {

namespace {

constexpr std::size_t most_waiting = 256; // calls of one queue; more are refused
constexpr auto look_bound = std::chrono::seconds{30};
/// When what stands is read after a write that nobody knows about: it may still arrive.
constexpr std::array looks = {std::chrono::seconds{1}, std::chrono::seconds{5}, std::chrono::seconds{30}, std::chrono::seconds{90}};
constexpr int most_renewals = 8; // of the looks by themselves; an API server that loses every write is not written to for ever

problem queue_ends() {
  return make_problem(verdict::refused, "OwnerGone", "the owner of the policy is gone, or its node stops; no policy was written");
}

problem session_over() {
  return make_problem(verdict::refused, "SessionOver", "the fence ended before it was proved; no policy was written");
}

/// Of a call that wrote: "nothing happened" would be wrong.
problem after_write(problem x, egress::landing policy) {
  if (policy != egress::landing::none && (x.how == verdict::refused || x.how == verdict::usage))
    x.how = verdict::failed;
  return x;
}

} // namespace

policy_queue_state::policy_queue_state(policy_queue_actor::pointer self, actor_world& world, policy_queue_options how) :
  self_(self), world_(world), how_(std::move(how)), policy_(egress::per_sandbox_policy_name(how_.whose.owner.uid)) {
}

policy_queue_state::~policy_queue_state() {
  if (under_way_ && !at_fence_)
    world_.policies->cancel(ticket_);
}

policy_queue_actor::behavior_type policy_queue_state::make_behavior() {
  report_crashes(self_, world_, "POLICY QUEUE of " + policy_);
  self_->monitor(how_.watcher);
  self_->set_down_handler([this](const caf::down_msg&) { stop(); });
  return {
    [this](atom::allow, const policy_spec& what, caf::timespan budget) { return allow(what, budget); },
    [this](atom::check, caf::timespan budget) { return check(budget); },
    [this](atom::moved, const fence_actor& to) { how_.fence = to; },
    [this](atom::moved, egress::label_map& pod_labels) { how_.pod_labels = std::move(pod_labels); },
    [this](atom::stop) { stop(); },
    [this](atom::check, std::uint64_t series) { look_again(series); },
    [this](atom::landed, std::uint64_t ticket, const landed& x) {
      if (under_way_ && ticket == ticket_)
        std::visit([this](const auto& answer) { land(answer); }, *static_cast<const port_answer*>(x.value.get()));
    },
  };
}

// -- the queue ------------------------------------------------------------------

caf::result<void> policy_queue_state::allow(const policy_spec& what, caf::timespan budget) {
  if (stopping_)
    return to_error(queue_ends());
  auto meaning = egress::meaning_of(how_.whose, what.allowed_hosts);
  if (!meaning)
    return to_error(to_problem(meaning.error()));
  return join(grant{*std::move(meaning)}, budget);
}

caf::result<void> policy_queue_state::check(caf::timespan budget) {
  if (stopping_)
    return to_error(queue_ends());
  return join(look{}, budget);
}

caf::result<void> policy_queue_state::join(std::variant<grant, look> what, caf::timespan budget) {
  if (queue_.size() >= most_waiting)
    return to_error(too_many_callers());
  auto waiting = self_->make_response_promise<void>();
  push({std::move(what), waiting, within(budget)});
  return waiting;
}

void policy_queue_state::look_again(std::uint64_t series) {
  if (series != series_ || stopping_)
    return;
  const auto last = --looks_left_ == 0;
  // One that is still in line sees what this one would.
  const auto in_line = std::ranges::find_if(queue_, [](const auto& x) { return !x.waiting; });
  if (in_line != queue_.end())
    std::get<look>(in_line->what).last = last;
  else
    push({look{last}, std::nullopt, within(look_bound)});
}

void policy_queue_state::push(queued next) {
  queue_.push_back(std::move(next));
  pump();
}

void policy_queue_state::pump() {
  if (under_way_ || queue_.empty())
    return;
  under_way_ = std::move(queue_.front());
  queue_.pop_front();
  if (!under_way_->waiting)
    under_way_->until = within(look_bound);
  if (under_way_->until.passed(world_.time))
    finish(call_expired());
  else if (std::holds_alternative<grant>(under_way_->what))
    with_fence([this] { write(); });
  else if (under_way_->waiting)
    with_fence([this] { drop_predecessors(); });
  else
    read();
}

void policy_queue_state::finish(const std::optional<problem>& why) {
  auto done = std::move(*under_way_);
  under_way_.reset();
  at_fence_ = false;
  if (done.waiting && why)
    done.waiting->deliver(to_error(*why));
  else if (done.waiting)
    done.waiting->deliver();
  quit_when_done();
  pump();
}

void policy_queue_state::refuse_all(const problem& why) {
  for (auto& x : std::exchange(queue_, {}))
    if (x.waiting)
      x.waiting->deliver(to_error(why));
}

// -- what is under way ----------------------------------------------------------

void policy_queue_state::with_fence(std::function<void()> go_on) {
  if (stopping_)
    return give_up(queue_ends());
  const auto ticket = ticket_ = world_.next_ticket();
  at_fence_ = true;
  const auto heard = [this, ticket, asked = how_.fence, go_on = std::move(go_on)](const std::optional<problem>& why) {
    if (!under_way_ || ticket != ticket_)
      return;
    // What a former FENCE says, whatever it is, says nothing about the present one.
    if (asked != how_.fence)
      return with_fence(go_on);
    if (why)
      return give_up(*why);
    at_fence_ = false;
    go_on();
  };
  mail::ask(self_, how_.fence, caf::infinite, atom::prove_v, ticket, caf::timespan{under_way_->until.left(world_.time)})
    .then([heard] { heard(std::nullopt); },
          [heard](const caf::error& why) { heard(why.category() == caf::type_id_v<verdict> ? to_problem(why) : session_over()); });
}

template <class T>
auto policy_queue_state::answer_to_me() {
  at_fence_ = false;
  ticket_ = world_.next_ticket();
  const mail::weak<policy_queue_actor> me{caf::actor_cast<policy_queue_actor>(self_)};
  return [me, ticket = ticket_](T x) {
    me.tell(atom::landed_v, std::uint64_t{ticket}, landed{std::make_shared<const port_answer>(std::move(x))});
  };
}

void policy_queue_state::write() {
  const auto* granting = std::get_if<grant>(&under_way_->what);
  const auto& meaning = granting != nullptr ? granting->meaning : *meant_;
  auto to = answer_to_me<egress::write_end>();
  world_.policies->set(ticket_, how_.whose, how_.pod_labels, meaning.allowed_hosts, under_way_->until, std::move(to));
}

void policy_queue_state::read() {
  if (stopping_)
    return give_up(queue_ends());
  auto to = answer_to_me<found_policy>();
  world_.policies->read(ticket_, how_.whose, under_way_->until, std::move(to));
}

void policy_queue_state::drop_predecessors() {
  auto to = answer_to_me<dropped_names>();
  world_.policies->drop_predecessors(ticket_, how_.whose, under_way_->until, std::move(to));
}

void policy_queue_state::land(const dropped_names& dropped) {
  if (!dropped) {
    // The own policy is among those that go where it has lost its owner.
    if (meant_ && std::holds_alternative<egress::policy_write_unknown>(dropped.error()))
      watch_for_late_writes();
    return give_up(to_problem(dropped.error()));
  }
  std::get<look>(under_way_->what).removed = !dropped->empty();
  for (const auto& x : *dropped)
    mail::tell(self_, how_.watcher, atom::noted_v, policy_event{"dropped", x, "it was granted to a predecessor of the same name"});
  read();
}

void policy_queue_state::land(const found_policy& found) {
  if (!found)
    return give_up(to_problem(found.error()));
  auto standing = egress::judge_standing(meant_, *found);
  switch (standing.is) {
    case egress::standing_policy::verdict::as_meant: return finish(std::nullopt);
    case egress::standing_policy::verdict::never_meant:
      tell("refused", "it stands, and this host has not written it since it began to serve its owner: it is left as it is");
      return finish(std::nullopt);
    case egress::standing_policy::verdict::differs: break;
  }
  std::get<look>(under_way_->what).difference = std::move(standing.text);
  with_fence([this] { write(); });
}

void policy_queue_state::land(const egress::write_end& end) {
  if (end.policy == egress::landing::unknown)
    watch_for_late_writes();
  if (!end.answer && std::holds_alternative<egress::owner_replaced>(end.answer.error()))
    return owner_is_gone(end.answer.error());
  if (auto* granting = std::get_if<grant>(&under_way_->what); granting != nullptr && end.policy != egress::landing::none)
    meant_ = std::move(granting->meaning);
  if (!end.answer)
    return give_up(after_write(to_problem(end.answer.error()), end.policy));
  if (const auto* repaired = std::get_if<look>(&under_way_->what))
    tell(meant_->object ? "put-back" : "taken-away", repaired->difference);
  finish(std::nullopt);
}

void policy_queue_state::give_up(const problem& why) {
  if (const auto* looked = std::get_if<look>(&under_way_->what)) {
    if (!looked->difference.empty())
      tell("failed", looked->difference + ", and it could not be put right: " + why.message);
    else if (looked->last)
      tell("failed", "nobody knows whether it is as it was meant: " + why.message);
    if (looked->removed)
      return finish(after_write(why, egress::landing::landed));
  }
  finish(why);
}

void policy_queue_state::watch_for_late_writes() {
  renewals_ = under_way_->waiting ? 0 : renewals_ + 1;
  if (stopping_ || renewals_ > most_renewals)
    return;
  ++series_;
  looks_left_ = looks.size();
  for (const auto pause : looks)
    mail::tell_after(self_, pause, caf::actor_cast<policy_queue_actor>(self_), atom::check_v, series_);
}

void policy_queue_state::tell(std::string what, std::string text) {
  mail::tell(self_, how_.watcher, atom::noted_v, policy_event{std::move(what), policy_, std::move(text)});
}

// -- the end ----------------------------------------------------------------------

void policy_queue_state::owner_is_gone(const egress::egress_error& why) {
  const auto said = to_problem(why);
  tell("owner-gone", said.message);
  stopping_ = true;
  refuse_all(said);
  finish(said);
}

void policy_queue_state::stop() {
  if (std::exchange(stopping_, true))
    return;
  refuse_all(queue_ends());
  if (under_way_ && at_fence_)
    give_up(queue_ends());
  else if (under_way_)
    world_.policies->cancel(ticket_);
  quit_when_done();
}

void policy_queue_state::quit_when_done() {
  if (stopping_ && !under_way_)
    self_->quit();
}

deadline policy_queue_state::within(caf::timespan budget) const {
  return {world_.time, std::chrono::duration_cast<time_source::clock::duration>(budget)};
}

} // namespace paddock
