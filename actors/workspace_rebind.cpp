// Which guest a WORKSPACE talks to: another pod after a call that ran nothing, and what the answers say of the guest ([W] 6).

#include "actors/translate.hpp"
#include "actors/workspace.hpp"
#include "guest/rebind_judge.hpp"
#include "messages/error.hpp"

#include <algorithm>

namespace paddock {

void workspace_state::raise(const workspace::event& x) {
  events_.raise(to_event(x));
}

void workspace_state::hear(std::uint64_t generation, const std::string& boot, const std::string& pod) {
  if (generation != generation_)
    return;
  if (const auto restart = workspace::hear(session_, pod_uid{pod}, guest_boot_id{boot}))
    raise(*restart);
}

void workspace_state::find_elsewhere(std::uint64_t generation, const pod_uid& tried, elsewhere then) {
  if (stopping_ || generation != generation_ || session_.at != workspace::state::running || !session_.guest)
    return then(std::optional<workspace::found_pod>{});
  // Another call has found it meanwhile.
  if (session_.pod != tried)
    return then(std::optional{workspace::found_pod{*session_.pod, *session_.guest}});
  const auto shared = std::ranges::find(rereads_, generation, [](const auto& x) { return x.second.generation; });
  if (shared != rereads_.end()) {
    shared->second.waiting.push_back(std::move(then));
    return;
  }
  const auto ticket = world_.next_ticket();
  rereads_.emplace(ticket, rereading{generation, {std::move(then)}});
  const mail::weak<workspace_actor> me{caf::actor_cast<workspace_actor>(self_)};
  world_.transitions.reread(ticket, which_, session_, within(workspace::reread_bound), [me, ticket](found x) {
    me.tell(atom::landed_v, std::uint64_t{ticket}, landed{std::make_shared<const found>(std::move(x))});
  });
}

void workspace_state::land_reread(workspace::ticket ticket, const found& x) {
  const auto done = rereads_.extract(ticket).mapped();
  const auto late = done.generation != generation_;
  // A verb that is under way owns the session; who is turned away after it looks again.
  if (!late && !verb_under_way()) {
    if (x && *x) {
      if (const auto restart = workspace::move_to(session_, **x)) {
        raise(*restart);
        check_policies();
      }
    } else if (!x && std::holds_alternative<workspace::precondition>(x.error())) {
      workspace::end_overtaken(session_);
      ++generation_;
    }
  }
  for (const auto& then : done.waiting)
    then(late ? found{} : x);
}

void workspace_state::move_call(std::uint64_t generation, const call_actor& who, const std::string& tried) {
  find_elsewhere(generation, pod_uid{tried},
                 [this, who](const found& x) { mail::tell(self_, who, atom::moved_v, landed{std::make_shared<const found>(x)}); });
}

bool workspace_state::may_run_elsewhere(const workspace::failure& why, const guest::endpoint& where) {
  const auto* of_guest = std::get_if<guest::failure>(&why);
  return of_guest != nullptr && guest::judge_rebind(*of_guest, {guest::is_host_name(where.host), false}) == guest::rebind_verdict::reread;
}

bool workspace_state::ask_again(asking& one, workspace::ticket ticket, const workspace::failure& why) {
  if (one.moved || !may_run_elsewhere(why, one.where))
    return false;
  one.moved = true;
  find_elsewhere(one.generation, pod_uid{one.where.token.reveal()}, [this, ticket, why](const found& x) {
    auto& asked = asking_.at(ticket);
    if (x && *x) {
      asked.where = (*x)->guest;
      ask_guest(ticket);
      return;
    }
    using answer = workspace::result<workspace::reply>;
    land_question(asked, ticket, {std::make_shared<const answer>(tl::unexpected{x ? why : x.error()})});
  });
  return true;
}

bool workspace_state::ask_again_in_line(const verb_end& end) {
  auto* ask = std::get_if<ask_verb>(&under_way_->verb);
  if (ask == nullptr || end.answer || ask->moved || ask->explaining || !session_.guest
      || !may_run_elsewhere(end.answer.error(), *session_.guest))
    return false;
  ask->moved = true;
  // Nothing overtakes a question in line: the pod of the session is the one that it was sent to, or one found since.
  find_elsewhere(generation_, ask->tried, [this, ticket = ticket_, end](const found& x) {
    if (x && *x)
      ask_in_line(std::get<ask_verb>(under_way_->verb), (*x)->guest, under_way_->until, ticket);
    else if (x)
      land(end);
    else
      land(verb_end{session_, tl::unexpected{x.error()}});
  });
  return true;
}

} // namespace paddock
