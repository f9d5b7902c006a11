#include "actors/shard.hpp"

#include "actors/supervise.hpp"
#include "actors/translate.hpp"
#include "messages/error.hpp"

namespace paddock {

namespace {

constexpr std::size_t most_parked = 256; // requests for one WORKSPACE that is down
constexpr auto stamp_pause = std::chrono::minutes{1};
constexpr auto looks_per_bound = 4; // how often it is looked who is idle

/// The pause between two looks. A bound may be as short as a millisecond.
caf::timespan look_pause(std::chrono::milliseconds idle_after) {
  return caf::timespan{idle_after} / looks_per_bound;
}

/// Whether a stamp that ended so may well succeed later. What the Sandbox itself has said is final, or the WATCH tells of a change; what
/// the API server refuses to this node it refuses for all Sandboxes, again and again.
bool stamps_later(verdict x) {
  return x == verdict::failed || x == verdict::unknown || x == verdict::unreachable;
}

} // namespace

shard_state::shard_state(shard_actor::pointer self, actor_world& world) : self_(self), world_(world), tasks_(self, world) {
}

shard_state::~shard_state() {
  // Without its SHARD nobody may write on its behalf.
  for (auto& [text, one] : workspaces_)
    if (one.actor)
      caf::anon_send_exit(one.actor, caf::exit_reason::kill);
  for (auto& [address, one] : retiring_)
    caf::anon_send_exit(one, caf::exit_reason::kill);
}

shard_actor::behavior_type shard_state::make_behavior() {
  report_crashes(self_, world_, "SHARD");
  self_->set_down_handler([this](const caf::down_msg& x) { down(x); });
  if (world_.idle_after)
    mail::tell_after(self_, look_pause(*world_.idle_after), caf::actor_cast<shard_actor>(self_), atom::leave_v);
  return {
    [this](atom::open, const std::string& which, open_spec& what, caf::timespan budget) {
      return pass<opened_view>(which, atom::open_v, std::move(what), budget);
    },
    [this](atom::suspend, const std::string& which, suspend_spec& what, caf::timespan budget) {
      return pass<workspace_view>(which, atom::suspend_v, std::move(what), budget);
    },
    [this](atom::resume, const std::string& which, open_spec& what, caf::timespan budget) {
      return pass<opened_view>(which, atom::resume_v, std::move(what), budget);
    },
    [this](atom::remove, const std::string& which, remove_spec& what, caf::timespan budget) {
      return pass<void>(which, atom::remove_v, std::move(what), budget);
    },
    [this](atom::reset_epoch, const std::string& which, reset_spec& what, caf::timespan budget) {
      return pass<workspace_view>(which, atom::reset_epoch_v, std::move(what), budget);
    },
    [this](atom::view, const std::string& which) -> caf::result<workspace_view> {
      const auto found = workspaces_.find(which);
      if (found == workspaces_.end() || !found->second.actor)
        return workspace_view{};
      return pass<workspace_view>(which, atom::view_v);
    },
    [this](atom::call, const std::string& which, call_spec& what, const sink_actor& sink, caf::timespan budget) {
      return pass<call_actor>(which, atom::call_v, std::move(what), sink, budget);
    },
    [this](atom::ask, const std::string& which, guest_question& what, caf::timespan budget) {
      return pass<guest_answer>(which, atom::ask_v, std::move(what), budget);
    },
    [this](atom::pin, const std::string& which, pin_spec& what) { return pass<pinned_guest_actor>(which, atom::pin_v, std::move(what)); },
    [this](atom::policy, const std::string& which, policy_request& what, caf::timespan budget) {
      return pass<policy_view>(which, atom::policy_v, std::move(what), budget);
    },
    [this](atom::refresh, const std::string& which, caf::timespan budget) { return pass<workspace_view>(which, atom::refresh_v, budget); },
    [this](atom::events, const std::string& which) -> caf::result<std::vector<workspace_event>> {
      const auto found = workspaces_.find(which);
      if (found == workspaces_.end() || !found->second.actor)
        return std::vector<workspace_event>{};
      return pass<std::vector<workspace_event>>(which, atom::events_v);
    },
    [this](atom::subscribe, const std::string& which, const event_sink_actor& sink) {
      return pass<std::vector<workspace_event>>(which, atom::subscribe_v, sink);
    },
    [this](atom::acquire, std::string& which, task_spec& what, const task_holder_actor& holder, const egress_gate_actor& gate,
           const fence_actor& fence, caf::timespan budget) -> caf::result<task_actor> {
      if (stopping_)
        return to_error(make_problem(verdict::refused, "NodeStopping", "the node is stopping; nothing was done"));
      return tasks_.acquire({to_request(std::move(which), std::move(what)), holder, gate, fence}, budget);
    },
    [this](atom::count) {
      std::uint64_t alive = 0;
      for (const auto& [text, one] : workspaces_)
        alive += one.actor ? 1u : 0u;
      return alive;
    },
    [this](atom::stop) { stop(); },
    [this](atom::stamp, const std::string& which, bool report) {
      // By itself it says so when the pause of those that failed is over.
      if (self_->current_sender() != caf::actor_cast<caf::strong_actor_ptr>(self_))
        return stamp(which, report);
      for (const auto& [text, said] : std::exchange(unstamped_, {}))
        stamp(text, said);
    },
    [this](atom::restart, const std::string& which) { restart(which); },
    [this](atom::leave) { let_idle_go(); },
    [this](atom::watch, const watch_actor& by) { watch(by); },
  };
}

template <class T, class... Ts>
caf::result<T> shard_state::pass(const std::string& text, Ts... xs) {
  auto promise = self_->make_response_promise<T>();
  if (stopping_) {
    promise.deliver(to_error(make_problem(verdict::refused, "NodeStopping", "the node is stopping; nothing was done")));
    return promise;
  }
  auto* one = find_or_start(text);
  if (!one) {
    promise.deliver(to_error(make_problem(verdict::usage, "IllegalId", "cannot name a Sandbox: \"" + text + "\"")));
    return promise;
  }
  one->asked = true;
  auto send = [this, promise, text, xs...]() mutable {
    auto& whom = workspaces_.at(text);
    note_asked(whom);
    const auto who = whom.actor.address();
    auto asked = mail::ask(self_, whom.actor, caf::infinite, xs...);
    // Whatever is not an answer of the WORKSPACE's own means that it went down with the request.
    auto failed = [this, promise, text, who](const caf::error& why) mutable {
      note_answered(text, who);
      promise.deliver(to_error(to_problem(why)));
    };
    if constexpr (std::is_void_v<T>)
      asked.then(
        [this, promise, text, who]() mutable {
          promise.deliver();
          retire(text, who);
        },
        failed);
    else
      asked.then(
        [this, promise, text, who](T& x) mutable {
          note_answered(text, who);
          promise.deliver(std::move(x));
        },
        failed);
  };
  if (one->actor)
    send();
  else if (one->parked.size() < most_parked)
    one->parked.emplace_back(std::move(send));
  else
    promise.deliver(
      to_error(make_problem(verdict::refused, "TooManyWaiting", "too many requests wait for this workspace; nothing was done")));
  return promise;
}

shard_state::entry* shard_state::find_or_start(const std::string& text) {
  if (auto found = workspaces_.find(text); found != workspaces_.end())
    return &found->second;
  if (!workspace::id::parse(text))
    return nullptr;
  auto& one = workspaces_[text];
  const auto former = let_go_.extract(text);
  start(text, one, former ? former.mapped() : workspace::remembered{});
  return &one;
}

void shard_state::start(const std::string& text, entry& one, workspace::remembered former) {
  one.actor = self_->spawn<workspace_impl>(std::ref(world_), *workspace::id::parse(text), std::move(former));
  one.started = world_.time.now();
  one.unanswered = 0;
  one.used = one.started;
  self_->monitor(one.actor);
  if (watch_)
    mail::tell(self_, one.actor, atom::watch_v, watch_);
}

shard_state::entry* shard_state::find(const std::string& text, const caf::actor_addr& who) {
  const auto found = workspaces_.find(text);
  return found != workspaces_.end() && found->second.actor && found->second.actor.address() == who ? &found->second : nullptr;
}

void shard_state::note_asked(entry& one) {
  ++one.unanswered;
  one.used = world_.time.now();
}

void shard_state::note_answered(const std::string& text, const caf::actor_addr& who) {
  if (auto* one = find(text, who)) {
    --one->unanswered;
    one->used = world_.time.now();
  }
}

void shard_state::retire(const std::string& text, const caf::actor_addr& who) {
  // Deletes that shared one flight answer one after another, and the next workspace of that name may live by then.
  const auto* one = find(text, who);
  if (one == nullptr || stopping_)
    return;
  // What was sent to it before is answered before it stops; what comes now starts another.
  retiring_.emplace(who, one->actor);
  mail::tell(self_, one->actor, atom::stop_v);
  workspaces_.erase(text);
}

void shard_state::down(const caf::down_msg& x) {
  tasks_.down(x.source);
  retiring_.erase(x.source);
  for (auto at = workspaces_.begin(); at != workspaces_.end(); ++at) {
    auto& [text, one] = *at;
    if (!one.actor || one.actor.address() != x.source)
      continue;
    one.actor = nullptr;
    if (stopping_ || !x.reason || x.reason == caf::exit_reason::user_shutdown) {
      workspaces_.erase(at);
    } else {
      if (world_.time.now() - one.started >= healthy_life)
        one.crashes = 0;
      ++one.crashes;
      mail::tell_after(self_, back_off(one.crashes), caf::actor_cast<shard_actor>(self_), atom::restart_v, text);
    }
    break;
  }
  quit_when_done();
}

void shard_state::quit_when_done() {
  if (stopping_ && workspaces_.empty() && retiring_.empty() && tasks_.idle())
    self_->quit();
}

void shard_state::restart(const std::string& text) {
  const auto found = workspaces_.find(text);
  if (found == workspaces_.end() || found->second.actor || stopping_)
    return;
  start(text, found->second);
  for (auto& send : std::exchange(found->second.parked, {}))
    send();
}

void shard_state::watch(const watch_actor& by) {
  watch_ = by;
  for (const auto& [text, one] : workspaces_)
    if (one.actor)
      mail::tell(self_, one.actor, atom::watch_v, watch_);
}

// -- letting go ---------------------------------------------------------------

void shard_state::let_idle_go() {
  if (stopping_)
    return;
  for (auto& [text, one] : workspaces_)
    if (one.actor && one.unanswered == 0 && world_.time.now() - one.used >= *world_.idle_after) {
      one.used = world_.time.now(); // one that stays is asked again after as long a time
      ask_to_leave(text, one);
    }
  mail::tell_after(self_, look_pause(*world_.idle_after), caf::actor_cast<shard_actor>(self_), atom::leave_v);
}

void shard_state::ask_to_leave(const std::string& text, entry& one) {
  mail::ask(self_, one.actor, caf::infinite, atom::leave_v)
    .then(
      [this, text, who = one.actor.address()](const landed& x) {
        // All that reaches it comes through here, so what is not answered by now came after it had said so.
        const auto* same = find(text, who);
        if (same == nullptr || same->unanswered > 0 || stopping_ || !x.value)
          return;
        const auto& left = *static_cast<const workspace::remembered*>(x.value.get());
        if (!left.empty())
          let_go_.insert_or_assign(text, left);
        retire(text, who);
      },
      [](const caf::error&) {
        // It went down, and comes back as any that crashed.
      });
}

// -- stamping -----------------------------------------------------------------

void shard_state::stamp(const std::string& which, bool report) {
  if (stopping_ || (!world_.stamps->all && !workspaces_.contains(which) && !let_go_.contains(which)))
    return;
  to_stamp_[which] |= report;
  stamp_next();
}

void shard_state::stamp_next() {
  if (stamping_ || stopping_ || to_stamp_.empty())
    return;
  const auto next = to_stamp_.extract(to_stamp_.begin());
  auto* one = find_or_start(next.key());
  if (!one || !one->actor) {
    if (one)
      stamp_later(next.key(), next.mapped()); // it is down
    return stamp_next();
  }
  stamping_ = true;
  note_asked(*one);
  const auto over = [this, which = next.key(), who = one->actor.address()] {
    stamping_ = false;
    note_answered(which, who);
    // Started for this alone it goes again: who is not used costs nothing.
    if (auto* same = find(which, who); same != nullptr && !same->asked)
      ask_to_leave(which, *same);
    stamp_next();
  };
  mail::ask(self_, one->actor, caf::infinite, atom::stamp_v, next.mapped())
    .then(over, [this, over, which = next.key(), report = next.mapped()](const caf::error& why) {
      if (stamps_later(to_problem(why).how))
        stamp_later(which, report);
      over();
    });
}

void shard_state::stamp_later(const std::string& which, bool report) {
  if (stopping_)
    return;
  if (unstamped_.empty())
    mail::tell_after(self_, stamp_pause, caf::actor_cast<shard_actor>(self_), atom::stamp_v, which, report);
  unstamped_[which] |= report;
}

void shard_state::stop() {
  stopping_ = true;
  to_stamp_.clear();
  unstamped_.clear();
  for (auto at = workspaces_.begin(); at != workspaces_.end();) {
    if (at->second.actor) {
      mail::tell(self_, at->second.actor, atom::stop_v);
      ++at;
    } else {
      // Down: those who wait are answered by their promises going away with the entry, which means "nobody knows".
      at = workspaces_.erase(at);
    }
  }
  tasks_.stop();
  quit_when_done();
}

} // namespace paddock
