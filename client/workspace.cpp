#include "client/workspace.hpp"

#include "client/call_start.hpp"
#include "client/connection.hpp"
#include "client/follower.hpp"

#include <mutex>
#include <optional>
#include <utility>

namespace paddock::client {

namespace {

effect effect_of_question(const guest_question& what) {
  return std::holds_alternative<sessions_question>(what.what) ? effect::reads : effect::changes;
}

} // namespace

// -- pinned_guest ---------------------------------------------------------------------------------

struct pinned_guest::state {
  std::shared_ptr<const connection> by;
  std::string id;
  caf::timespan budget;
  pin_spec which;
  std::mutex making;
  std::optional<pinned_guest_actor> view; // guarded by `making`

  /// The view, made once and kept.
  result<pinned_guest_actor> made() {
    const auto hold = std::scoped_lock{making};
    if (!view) {
      auto got = by->ask<pinned_guest_actor>(effect::reads, budget, atom::pin_v, id, which);
      if (!got)
        return tl::unexpected{std::move(got.error())};
      view = std::move(*got);
    }
    return *view;
  }
};

pinned_guest::pinned_guest(std::shared_ptr<state> x) : state_(std::move(x)) {
}

result<guest_answer> pinned_guest::ask(guest_question what) const {
  auto view = state_->made();
  if (!view)
    return tl::unexpected{std::move(view.error())};
  const auto kind = effect_of_question(what);
  return state_->by->ask_of<guest_answer>(*view, kind, state_->budget, atom::ask_v, std::move(what), state_->budget);
}

result<std::unique_ptr<running_call>> pinned_guest::begin(call_spec what, std::shared_ptr<inbox> to) const {
  auto view = state_->made();
  if (!view)
    return tl::unexpected{std::move(view.error())};
  return start_call(state_->by, *view, state_->budget, std::move(what), std::move(to));
}

// -- remote_workspace -----------------------------------------------------------------------------

remote_workspace::remote_workspace(std::shared_ptr<const connection> by, std::string id, std::chrono::nanoseconds budget) :
  by_(std::move(by)), id_(std::move(id)), budget_(bounded(budget)) {
}

remote_workspace remote_workspace::within(std::chrono::nanoseconds budget) const {
  return {by_, id_, budget};
}

result<opened_view> remote_workspace::open(open_spec what) const {
  return by_->ask<opened_view>(effect::changes, budget_, atom::open_v, id_, std::move(what), budget_);
}

result<opened_view> remote_workspace::resume(open_spec what) const {
  return by_->ask<opened_view>(effect::changes, budget_, atom::resume_v, id_, std::move(what), budget_);
}

result<workspace_view> remote_workspace::suspend(suspend_spec what) const {
  return by_->ask<workspace_view>(effect::changes, budget_, atom::suspend_v, id_, std::move(what), budget_);
}

result<workspace_view> remote_workspace::get() const {
  return by_->ask<workspace_view>(effect::reads, budget_, atom::get_v, id_, budget_);
}

result<workspace_view> remote_workspace::refresh() const {
  return by_->ask<workspace_view>(effect::reads, budget_, atom::refresh_v, id_, budget_);
}

result<void> remote_workspace::remove(remove_spec what) const {
  return by_->ask<void>(effect::changes, budget_, atom::remove_v, id_, std::move(what), budget_);
}

result<workspace_view> remote_workspace::reset_epoch(reset_spec what) const {
  return by_->ask<workspace_view>(effect::changes, budget_, atom::reset_epoch_v, id_, std::move(what), budget_);
}

result<policy_view> remote_workspace::policy() const {
  return by_->ask<policy_view>(effect::reads, budget_, atom::policy_v, id_, policy_request{}, budget_);
}

result<policy_view> remote_workspace::set_policy(std::vector<std::string> hosts) const {
  return by_->ask<policy_view>(effect::changes, budget_, atom::policy_v, id_, policy_request{policy_spec{std::move(hosts)}}, budget_);
}

result<policy_view> remote_workspace::clear_policy() const {
  return set_policy({});
}

result<std::vector<workspace_event>> remote_workspace::events() const {
  return by_->ask<std::vector<workspace_event>>(effect::reads, budget_, atom::events_v, id_);
}

following remote_workspace::follow(listener to) const {
  auto heard = std::make_shared<listening>(std::move(to));
  auto by = spawn_follower(by_->system(), by_->node(), id_, heard);
  return following{std::unique_ptr<following::state>{new following::state{by_, std::move(heard), std::move(by)}}};
}

pinned_guest remote_workspace::pinned(pin_spec which) const {
  return pinned_guest{std::shared_ptr<pinned_guest::state>{new pinned_guest::state{by_, id_, budget_, std::move(which), {}, {}}}};
}

result<guest_answer> remote_workspace::ask(guest_question what) const {
  const auto kind = effect_of_question(what);
  return by_->ask<guest_answer>(kind, budget_, atom::ask_v, id_, std::move(what), budget_);
}

result<std::unique_ptr<running_call>> remote_workspace::begin(call_spec what, std::shared_ptr<inbox> to) const {
  return start_call(by_, by_->node(), budget_, std::move(what), std::move(to), id_);
}

} // namespace paddock::client
