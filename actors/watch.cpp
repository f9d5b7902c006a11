#include "actors/watch.hpp"

#include "actors/supervise.hpp"
#include "k8s/fenced_write.hpp"
#include "k8s/list_watch.hpp"

namespace paddock {

watch_state::watch_state(watch_actor::pointer self, actor_world& world, k8s::watched what) :
  self_(self), world_(world), what_(std::move(what)), ticket_(world.next_ticket()) {
}

watch_state::~watch_state() {
  world_.watches->stop(ticket_);
}

watch_actor::behavior_type watch_state::make_behavior() {
  report_crashes(self_, world_, "WATCH of " + what_.what.collection);
  self_->set_down_handler([this](const caf::down_msg& x) { forget(x.source); });
  const mail::weak<watch_actor> me{caf::actor_cast<watch_actor>(self_)};
  world_.watches->start(
    ticket_, what_, [me](k8s::watch_news x) { me.tell(atom::landed_v, landed{std::make_shared<const k8s::watch_news>(std::move(x))}); });
  return {
    [this](atom::watch, const std::string& which, const watcher_actor& who) { watch(which, who); },
    [this](atom::stamp, std::uint64_t first, const stamper_actor& who) { stamp(first, who); },
    [this](atom::landed, const landed& x) { take(*static_cast<const k8s::watch_news*>(x.value.get())); },
  };
}

// -- what is known ------------------------------------------------------------

void watch_state::take(const k8s::watch_news& news) {
  if (const auto* lost = std::get_if<k8s::watch_lost>(&news))
    return lose(lost->why);
  if (const auto* list = std::get_if<k8s::watch_listed>(&news)) {
    warned_ = 0;
    return note(known_.replace(list->all, list->version, list->anew), true);
  }
  if (const auto* event = std::get_if<k8s::watch_told>(&news))
    return note(known_.apply(event->what, event->object), true);
  known_.advance(std::get<k8s::watch_marked>(news).version);
  note({}, true);
}

void watch_state::lose(const k8s::read_failure& why) {
  const auto refused = k8s::is_denied(why.status);
  if (refused && why.status != warned_)
    world_.warn("nothing is watched, so readiness is read again and again: " + why.text);
  if (refused)
    warned_ = why.status;
  note({}, false);
}

void watch_state::note(const std::vector<k8s::kept_change>& changes, bool live) {
  for (const auto& x : changes)
    ask_for_stamp(x.after);
  listed_ = listed_ || live;
  // Whether anything is told concerns everybody, a change only those who watch its name.
  if (std::exchange(live_, live) != live) {
    for (const auto& [which, all] : watchers_)
      for (const auto& [address, who] : all)
        tell(which, who);
    return;
  }
  for (const auto& x : changes)
    if (const auto found = watchers_.find((x.after ? x.after : x.before)->key().name); found != watchers_.end())
      for (const auto& [address, who] : found->second)
        tell(found->first, who);
}

// -- who is told --------------------------------------------------------------

void watch_state::watch(const std::string& which, const watcher_actor& who) {
  forget(who.address());
  self_->monitor(who);
  watchers_[which].emplace(who.address(), who);
  names_.emplace(who.address(), which);
  tell(which, who);
}

void watch_state::forget(const caf::actor_addr& who) {
  const auto found = names_.extract(who);
  if (!found)
    return;
  self_->demonitor(who);
  const auto all = watchers_.find(found.mapped());
  all->second.erase(who);
  if (all->second.empty())
    watchers_.erase(all);
}

void watch_state::stamp(std::uint64_t first, const stamper_actor& who) {
  first_epoch_ = first;
  stamper_ = who;
  for (const auto& x : known_.all())
    ask_for_stamp(x);
}

void watch_state::ask_for_stamp(const k8s::kept& x) {
  if (stamper_ && x && k8s::needs_stamp(k8s::read_fence(*x->open()), first_epoch_))
    mail::tell(self_, stamper_, atom::stamp_v, x->key().name, listed_);
}

void watch_state::tell(const std::string& which, const watcher_actor& who) {
  mail::tell(self_, who, atom::shown_v,
             landed{std::make_shared<const k8s::sighting>(k8s::sighting{live_, known_.find({what_.name_space, which})})});
}

} // namespace paddock
