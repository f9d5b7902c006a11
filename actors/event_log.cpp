#include "actors/event_log.hpp"

#include "actors/subscription.hpp"
#include "messages/error.hpp"
#include "messages/mail.hpp"

namespace paddock {

void event_log::raise(workspace_event x) {
  x.number = ++raised_;
  x.at = rfc3339_millis(world_.time.wall());
  for (const auto& [address, one] : listeners_)
    mail::tell(self_, one, atom::noted_v, x);
  if (kept_.size() == most_kept)
    kept_.erase(kept_.begin());
  kept_.push_back(std::move(x));
}

caf::result<std::vector<workspace_event>> event_log::subscribe(const event_sink_actor& sink) {
  if (listeners_.size() >= most_listeners)
    return to_error(make_problem(verdict::refused, "TooManyWaiting", "too many listen to this workspace; nothing was done"));
  auto one = self_->spawn<subscription_impl>(std::ref(world_), caf::actor_cast<workspace_actor>(self_), sink);
  self_->monitor(one);
  listeners_.emplace(one.address(), one);
  return kept_;
}

} // namespace paddock
