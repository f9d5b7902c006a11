#include "actors/workspace_policies.hpp"

#include "actors/callers.hpp"
#include "actors/fence.hpp"
#include "actors/policy_queue.hpp"
#include "actors/translate.hpp"
#include "messages/error.hpp"
#include "workspace/granting.hpp"

namespace paddock {

namespace {

constexpr std::size_t most_reads = 256; // of one workspace at once; more are refused

policy_view to_view(const workspace::id& which, const egress::grant_target& whose, const nlohmann::json* object) {
  policy_view out;
  out.workspace = which.text();
  out.sandbox_uid = whose.owner.uid;
  out.policy = egress::per_sandbox_policy_name(whose.owner.uid);
  out.stands = object != nullptr;
  if (object == nullptr)
    return out;
  out.allowed_hosts = egress::hosts_of(*object);
  if (const auto spec = object->find("spec"); spec != object->end())
    out.spec = spec->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return out;
}

} // namespace

workspace_policies::workspace_policies(workspace_actor::pointer self, actor_world& world, workspace::id which) :
  self_(self), world_(world), which_(std::move(which)) {
}

// -- asking ---------------------------------------------------------------------

void workspace_policies::set(const workspace::session& held, policy_spec what, deadline until, taker to) {
  with_grantee(held, "setNetworkPolicy", until, [this, what = std::move(what), until, to = std::move(to)](const found_grantee& x) {
    if (x)
      grant(*x, what, until, to);
    else
      to(tl::unexpected{x.error()});
  });
}

void workspace_policies::show(const workspace::session& held, deadline until, taker to) {
  with_grantee(held, "showNetworkPolicy", until, [this, until, to = std::move(to)](const found_grantee& x) {
    if (!x)
      return to(tl::unexpected{x.error()});
    const auto ticket = world_.next_ticket();
    using found_policy = egress::result<std::optional<nlohmann::json>>;
    world_.policies->read(ticket, x->whose, until, answer<found_policy>(ticket, [this, whose = x->whose, to](const found_policy& found) {
                            if (!found)
                              return to(tl::unexpected{to_problem(found.error())});
                            to(to_view(which_, whose, *found ? &**found : nullptr));
                          }));
  });
}

void workspace_policies::with_grantee(const workspace::session& held, const std::string& operation, deadline until,
                                      std::function<void(found_grantee)> then) {
  if (const auto may = workspace::may_be_granted(which_, held, operation); !may)
    return then(tl::unexpected{to_problem(may.error())});
  if (reads_.size() >= most_reads)
    return then(tl::unexpected{too_many_callers()});
  const auto ticket = world_.next_ticket();
  using found = egress::result<std::optional<egress::grantee>>;
  world_.policies->read_sandbox(ticket, which_.sandbox_name(), until, answer<found>(ticket, [this, held, then](const found& x) {
                                  if (!x)
                                    return then(tl::unexpected{to_problem(x.error())});
                                  if (stopping_)
                                    return then(tl::unexpected{call_withdrawn()});
                                  const auto uid = *x ? std::optional{sandbox_uid{(*x)->whose.owner.uid}} : std::nullopt;
                                  if (const auto same = workspace::check_owner(which_, held, uid); !same)
                                    return then(tl::unexpected{to_problem(same.error())});
                                  then(**x);
                                }));
}

void workspace_policies::grant(const egress::grantee& to_whom, const policy_spec& what, deadline until, const taker& to) {
  const auto asked = queue_of(to_whom).actor;
  mail::ask(self_, asked, caf::infinite, atom::allow_v, what, caf::timespan{until.left(world_.time)})
    .then(
      [this, whose = to_whom.whose, what, to] {
        // The queue has refused what means nothing.
        const auto meant = egress::meaning_of(whose, what.allowed_hosts).value();
        to(to_view(which_, whose, meant.object ? &meant.object->manifest : nullptr));
      },
      [to](const caf::error& why) { to(tl::unexpected{to_problem(why)}); });
}

workspace_policies::queue& workspace_policies::queue_of(const egress::grantee& whose) {
  auto& one = queues_[whose.whose.owner.uid];
  if (!one.actor) {
    one.actor = self_->spawn<policy_queue_impl>(
      std::ref(world_), policy_queue_options{whose.whose, whose.pod_labels, fence(), caf::actor_cast<policy_watcher_actor>(self_)});
    self_->monitor(one.actor);
    one.pod_labels = whose.pod_labels;
  } else if (one.pod_labels != whose.pod_labels) {
    one.pod_labels = whose.pod_labels;
    mail::tell(self_, one.actor, atom::moved_v, whose.pod_labels);
  }
  return one;
}

fence_actor workspace_policies::fence() {
  if (!fence_) {
    fence_ = self_->spawn<fence_impl>(std::ref(world_), caf::actor_cast<caf::actor>(self_), proved_);
    self_->monitor(fence_);
  }
  return fence_;
}

void workspace_policies::tell_queues_of_fence() {
  for (const auto& [uid, one] : queues_)
    mail::tell(self_, one.actor, atom::moved_v, fence());
}

template <class T>
std::function<void(T)> workspace_policies::answer(egress::ticket ticket, std::function<void(const T&)> then) {
  reads_.emplace(ticket, [then = std::move(then)](const landed& x) { then(*static_cast<const T*>(x.value.get())); });
  const mail::weak<workspace_actor> me{caf::actor_cast<workspace_actor>(self_)};
  return [me, ticket](T x) { me.tell(atom::landed_v, std::uint64_t{ticket}, landed{std::make_shared<const T>(std::move(x))}); };
}

// -- what the WORKSPACE knows -----------------------------------------------------

void workspace_policies::session_began(bool proved) {
  proved_ = proved;
  const auto former = std::exchange(fence_, nullptr);
  if (!former)
    return;
  self_->demonitor(former.address());
  // The queues know the next one before the former refuses them.
  tell_queues_of_fence();
  mail::tell(self_, former, atom::stop_v);
}

void workspace_policies::keep(const workspace::session& held) {
  for (const auto& [uid, one] : queues_)
    if (held.at == workspace::state::deleted || (held.sandbox && held.sandbox->text() != uid))
      mail::tell(self_, one.actor, atom::stop_v);
}

void workspace_policies::check(const workspace::session& held, deadline until) {
  const auto found = held.sandbox ? queues_.find(held.sandbox->text()) : queues_.end();
  if (found == queues_.end())
    return;
  mail::ask(self_, found->second.actor, caf::infinite, atom::check_v, caf::timespan{until.left(world_.time)})
    .then([] {},
          [this](const caf::error& why) {
            world_.warn("workspace " + which_.text() + ": its policy could not be checked after it was bound: " + to_problem(why).message);
          });
}

// -- messages of the WORKSPACE ------------------------------------------------------

bool workspace_policies::land(std::uint64_t ticket, const landed& x) {
  auto found = reads_.extract(ticket);
  if (found)
    found.mapped()(x);
  return !found.empty();
}

void workspace_policies::note(const policy_event& x) {
  world_.warn("workspace " + which_.text() + ": policy " + x.policy + " " + x.what + ": " + x.text);
}

void workspace_policies::down(const caf::actor_addr& who) {
  std::erase_if(queues_, [&](const auto& x) { return x.second.actor.address() == who; });
  if (!fence_ || fence_.address() != who)
    return;
  // It has crashed, and what it knew is gone.
  fence_ = nullptr;
  proved_ = false;
  tell_queues_of_fence();
}

void workspace_policies::stop() {
  stopping_ = true;
  for (const auto& [ticket, one] : reads_)
    world_.policies->cancel(ticket);
  for (const auto& [uid, one] : queues_)
    mail::tell(self_, one.actor, atom::stop_v);
}

} // namespace paddock
