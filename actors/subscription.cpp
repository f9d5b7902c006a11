#include "actors/subscription.hpp"

#include "actors/supervise.hpp"
#include "messages/error.hpp"
#include "messages/mail.hpp"

namespace paddock {

subscription_state::subscription_state(subscription_actor::pointer self, actor_world& world, workspace_actor of, event_sink_actor sink) :
  self_(self), world_(world), of_(std::move(of)), sink_(std::move(sink)) {
}

subscription_actor::behavior_type subscription_state::make_behavior() {
  report_crashes(self_, world_, "SUBSCRIPTION");
  self_->monitor(of_);
  self_->monitor(sink_);
  self_->set_down_handler([this](const caf::down_msg& x) {
    if (x.source == sink_.address()) {
      self_->quit();
      return;
    }
    // Nothing is waited for any more: a node that stops must not hang on who does not listen.
    for (auto& event : waiting_)
      mail::tell(self_, sink_, atom::noted_v, std::move(event));
    end(make_problem(verdict::failed, "EventsEnded", "the node has let go of the workspace; what followed is not told"));
  });
  of_ = nullptr; // it holds this actor, and must not be held by it
  return {
    [this](atom::noted, workspace_event& x) {
      if (waiting_.size() >= most_waiting) {
        end(make_problem(verdict::failed, "EventsDropped", "events came faster than they were taken; what followed is not told"));
        return;
      }
      waiting_.push_back(std::move(x));
      pump();
    },
  };
}

void subscription_state::pump() {
  if (telling_ || waiting_.empty())
    return;
  telling_ = true;
  auto next = std::move(waiting_.front());
  waiting_.pop_front();
  mail::ask(self_, sink_, caf::infinite, atom::noted_v, std::move(next))
    .then(
      [this] {
        telling_ = false;
        pump();
      },
      [this](const caf::error&) { self_->quit(); });
}

void subscription_state::end(const problem& why) {
  mail::tell(self_, sink_, atom::failed_v, why);
  self_->quit();
}

} // namespace paddock
