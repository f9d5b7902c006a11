#include "client/follow.hpp"

#include "client/asking.hpp"
#include "client/follower.hpp"

#include <chrono>
#include <utility>
#include <vector>

namespace paddock::client {

namespace {

/// Tells one event, and only then asks for the next: a listener that is slow bounds what lies in between.
class follower_state {
public:
  static inline const char* name = "paddock.follower";

  follower_state(event_sink_actor::pointer self, node_actor node, std::string workspace, std::shared_ptr<listening> to) :
    self_(self), node_(std::move(node)), workspace_(std::move(workspace)), to_(std::move(to)) {
  }

  event_sink_actor::behavior_type make_behavior() {
    self_->monitor(node_);
    self_->set_down_handler([this](const caf::down_msg&) { to_->tell_over(node_gone(effect::reads)); });
    mail::ask(self_, node_, std::chrono::seconds{30}, atom::subscribe_v, workspace_, caf::actor_cast<event_sink_actor>(self_))
      .then([this](const std::vector<workspace_event>& before) { begin(before); },
            [this](const caf::error& why) { to_->tell_over(explained(effect::reads, why)); });
    return {
      [this](atom::noted, workspace_event& x) -> caf::result<void> {
        auto taken = self_->make_response_promise<void>();
        if (begun_) {
          to_->tell(x);
          taken.deliver();
        } else {
          early_.emplace_back(std::move(x), taken);
        }
        return taken;
      },
      [this](atom::failed, const problem& why) { to_->tell_over(why); },
    };
  }

private:
  void begin(const std::vector<workspace_event>& before) {
    begun_ = true;
    for (const auto& x : before)
      to_->tell(x);
    for (auto& [event, taken] : std::exchange(early_, {})) {
      to_->tell(event);
      taken.deliver();
    }
  }

  event_sink_actor::pointer self_;
  node_actor node_;
  std::string workspace_;
  std::shared_ptr<listening> to_;
  bool begun_ = false;                                                               // the past is told
  std::vector<std::pair<workspace_event, caf::typed_response_promise<void>>> early_; // what came before the past
};

using follower_impl = event_sink_actor::stateful_impl<follower_state>;

} // namespace

void listening::tell(const workspace_event& x) {
  gate_.pass([&] {
    if (to_.event)
      to_.event(x);
  });
}

void listening::tell_over(const problem& why) {
  gate_.pass_last([&] {
    if (to_.over)
      to_.over(why);
  });
}

void listening::close() {
  gate_.close();
}

event_sink_actor spawn_follower(caf::actor_system& in, node_actor node, std::string workspace, std::shared_ptr<listening> to) {
  return in.spawn<follower_impl>(std::move(node), std::move(workspace), std::move(to));
}

following::state::~state() {
  to->close();
  caf::anon_send_exit(by, caf::exit_reason::user_shutdown);
}

following::following(std::unique_ptr<state> x) : state_(std::move(x)) {
}
following::~following() = default;
following::following(following&&) noexcept = default;
following& following::operator=(following&&) noexcept = default;

} // namespace paddock::client
