#include "apps/paddock/event_verbs.hpp"

#include <future>
#include <iostream>

namespace paddock::cli {

namespace {

/// Prints what it is told, and only then asks for more: a reader that stops bounds what lies in between.
class follower_state {
public:
  static inline const char* name = "paddock.follower";
  using ended = std::function<void(const problem&)>;

  follower_state(event_sink_actor::pointer self, node_actor node, std::string which, format how, ended over) :
    self_(self), node_(std::move(node)), which_(std::move(which)), how_(how), over_(std::move(over)) {
  }

  event_sink_actor::behavior_type make_behavior() {
    self_->monitor(node_);
    self_->set_down_handler([this](const caf::down_msg&) { over_(client::node_gone(effect::reads)); });
    mail::ask(self_, node_, std::chrono::seconds{30}, atom::subscribe_v, which_, caf::actor_cast<event_sink_actor>(self_))
      .then([this](const std::vector<workspace_event>& before) { begin(before); },
            [this](const caf::error& why) { over_(to_problem(why)); });
    return {
      [this](atom::noted, workspace_event& x) -> caf::result<void> {
        auto taken = self_->make_response_promise<void>();
        if (begun_) {
          show(x);
          taken.deliver();
        } else {
          early_.emplace_back(std::move(x), taken);
        }
        return taken;
      },
      [this](atom::failed, const problem& why) { over_(why); },
    };
  }

private:
  void begin(const std::vector<workspace_event>& before) {
    begun_ = true;
    for (const auto& x : before)
      show(x);
    for (auto& [event, taken] : std::exchange(early_, {})) {
      show(event);
      taken.deliver();
    }
  }
  void show(const workspace_event& x) {
    print_event(std::cout, how_, x);
    std::cout.flush();
    if (!std::cout.good())
      over_(make_problem(verdict::failed, "OutputFailed", "cannot write the output"));
  }

  event_sink_actor::pointer self_;
  node_actor node_;
  std::string which_;
  format how_;
  ended over_;
  bool begun_ = false;                                                               // the past is printed
  std::vector<std::pair<workspace_event, caf::typed_response_promise<void>>> early_; // what came before the past
};

using follower_impl = event_sink_actor::stateful_impl<follower_state>;

int follow(client& by, const arguments& args) {
  auto promise = std::make_shared<std::promise<problem>>();
  auto future = promise->get_future();
  auto over = [promise, told = false](const problem& why) mutable {
    if (!std::exchange(told, true))
      promise->set_value(why);
  };
  const auto follower = by.system().spawn<follower_impl>(by.node(), args.id, args.how(), follower_state::ended{std::move(over)});
  if (!args.timeout.empty() && future.wait_for(by.budget()) != std::future_status::ready)
    return 0;
  return refuse(args, future.get());
}

} // namespace

int show_events(client& by, const arguments& args) {
  if (args.follow)
    return follow(by, args);
  const auto got = by.ask<std::vector<workspace_event>>(effect::reads, atom::events_v, args.id);
  if (!got)
    return refuse(args, got.error());
  print_events(std::cout, args.how(), *got);
  return 0;
}

} // namespace paddock::cli
