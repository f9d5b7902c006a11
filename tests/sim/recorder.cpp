#include "tests/sim/recorder.hpp"

#include "k8s/objects.hpp"

namespace paddock::sim {

using namespace workspace;

shared_verb recorder::begin(verb_kind kind, session& before, deadline& until) {
  auto x = std::make_shared<verb>();
  x->kind = kind;
  x->host = at_.slot;
  x->life = at_.life;
  x->term = at_.term;
  x->order = ++orders_;
  x->before = before;
  x->overlapped = looking_ > 0;
  const auto standing = at_.net.on.sandbox();
  if (standing)
    x->stored_epoch = k8s::read_fence(*standing).epoch.value_or(0);
  if (before.sandbox && !(kind == verb_kind::open && before.at == state::deleted))
    x->uid = before.sandbox->text();
  at_.verb = x;
  at_.net.eye.note(at_.name() + " begins to " + to_string(kind) + " (" + std::to_string(x->order) + "), state "
                   + std::string{workspace::to_string(before.at)} + ", epoch " + (before.epoch ? std::to_string(*before.epoch) : "none"));
  if (const auto* bug = at_.net.bug; bug != nullptr) {
    if (bug->begins)
      bug->begins(*x, before);
    if (bug->allows)
      bug->allows(until);
  }
  return x;
}

template <class T>
recorder::then<T> recorder::ending(shared_verb x, id which, then<T> to) {
  return [this, x, which, to = std::move(to)](transition<T> end) {
    const auto* bug = at_.net.bug;
    if (at_.verb == x)
      at_.verb = nullptr;
    if (at_.dead)
      return to(std::move(end));
    const auto well = end.answer.has_value();
    if (bug != nullptr && bug->ends)
      bug->ends(*x, end.after, well);
    at_.net.eye.ended(*x, end.after, well ? nullptr : &end.answer.error());
    if (end.after.sandbox != at_.held.sandbox)
      at_.found.clear();
    at_.held = end.after;
    if (bug != nullptr && bug->forgets && bug->forgets(*x))
      return;
    if (bug != nullptr && bug->suspends_after && bug->suspends_after(*x, well)) {
      // What the bug does is done in the name of the verb that has just ended.
      at_.verb = x;
      return to_.suspend(at_.net.ticket(), which, {false, false}, end.after, deadline{at_.net.time, std::chrono::seconds{1}},
                         [this, x, end, to](transition<done>) {
                           at_.verb = nullptr;
                           to(end);
                         });
    }
    to(std::move(end));
  };
}

template <class T>
bool recorder::answered(const shared_verb& x, const session& before, const then<T>& to, T with) {
  const auto* bug = at_.net.bug;
  if (bug == nullptr || !bug->answers_from_memory || !bug->answers_from_memory(*x))
    return false;
  to({before, with});
  return true;
}

void recorder::open(ticket name, id which, open_options how, session before, deadline until, then<opened> to) {
  auto x = begin(verb_kind::open, before, until);
  auto end = ending<opened>(x, which, std::move(to));
  if (!answered(x, before, end, opened{origin::adopted_running}))
    to_.open(name, which, std::move(how), std::move(before), until, std::move(end));
}

void recorder::take_up(ticket name, id which, session before, deadline until, then<done> to) {
  auto x = begin(verb_kind::take_up, before, until);
  to_.take_up(name, which, std::move(before), until, ending<done>(x, which, std::move(to)));
}

void recorder::suspend(ticket name, id which, suspend_options how, session before, deadline until, then<done> to) {
  auto x = begin(verb_kind::suspend, before, until);
  auto end = ending<done>(x, which, std::move(to));
  if (!answered(x, before, end, done{}))
    to_.suspend(name, which, std::move(how), std::move(before), until, std::move(end));
}

void recorder::resume(ticket name, id which, open_options how, session before, deadline until, then<opened> to) {
  auto x = begin(verb_kind::resume, before, until);
  auto end = ending<opened>(x, which, std::move(to));
  if (!answered(x, before, end, opened{origin::adopted_running}))
    to_.resume(name, which, std::move(how), std::move(before), until, std::move(end));
}

void recorder::remove(ticket name, id which, remove_options how, session before, deadline until, then<done> to) {
  auto x = begin(verb_kind::remove, before, until);
  to_.remove(name, which, std::move(how), std::move(before), until, ending<done>(x, which, std::move(to)));
}

void recorder::reset_epoch(ticket name, id which, epoch_reset what, session before, deadline until, then<done> to) {
  to_.reset_epoch(name, std::move(which), std::move(what), std::move(before), until, std::move(to));
}

void recorder::stamp(ticket name, id which, session before, deadline until, then<stamped> to) {
  to_.stamp(name, std::move(which), std::move(before), until, std::move(to));
}

void recorder::refresh(ticket name, id which, session before, deadline until, then<done> to) {
  to_.refresh(name, std::move(which), std::move(before), until, std::move(to));
}

void recorder::look() {
  ++looking_;
  if (at_.verb)
    at_.verb->overlapped = true;
}

void recorder::reread(ticket name, id which, session now, deadline until, std::function<void(result<std::optional<found_pod>>)> to) {
  look();
  to_.reread(name, which, now, until, [this, now, to = std::move(to)](result<std::optional<found_pod>> x) {
    --looking_;
    if (x && *x && !at_.dead) {
      at_.net.eye.followed(at_.name(), now, (*x)->pod);
      at_.found.insert((*x)->pod.text());
    }
    to(std::move(x));
  });
}

void recorder::explain(ticket name, id which, std::string operation, session before, failure original, deadline until, then<done> to) {
  look();
  to_.explain(name, which, std::move(operation), std::move(before), std::move(original), until,
              [this, to = std::move(to)](transition<done> x) {
                --looking_;
                to(std::move(x));
              });
}

void recorder::cancel(ticket name) {
  to_.cancel(name);
}

void recorder::saw(ticket name, k8s::sighting x) {
  to_.saw(name, std::move(x));
}

} // namespace paddock::sim
