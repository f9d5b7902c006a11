#pragma once

#include "client/asking.hpp"
#include "client/options.hpp"
#include "messages/interfaces.hpp"

#include <future>
#include <memory>

namespace paddock::client {

/// What the handles of one node share. May be used from any thread but those of its actor system.
class connection {
public:
  /// Connects, and checks that the node speaks our messages. Bounded by 10 s and the budget. With an actor system of its own, which ends
  /// with the connection.
  static result<std::shared_ptr<const connection>> open(const options& how);
  /// The same in a system that outlives the connection, and that is configured as `actor_config` is.
  static result<std::shared_ptr<const connection>> open(caf::actor_system& in, const options& how);

  ~connection();
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  [[nodiscard]] caf::actor_system& system() const {
    return system_;
  }
  [[nodiscard]] const node_actor& node() const {
    return node_;
  }
  [[nodiscard]] const node_info& about() const {
    return about_;
  }

  /// Asks the node and waits. A node that goes away, or no answer within the budget and 20 s of grace, is `OutcomeUnknown` for what
  /// changes something and `Unreachable` for what reads. T is void for an answer without a value.
  template <class T, class... Ts>
  [[nodiscard]] result<T> ask(effect what, caf::timespan budget, Ts... xs) const {
    return ask_of<T>(node_, what, budget, std::move(xs)...);
  }
  /// As `ask`, of another actor of the node.
  template <class T, class Handle, class... Ts>
  [[nodiscard]] result<T> ask_of(const Handle& of, effect what, caf::timespan budget, Ts... xs) const {
    return wait_for<T>(of, what, budget + std::chrono::seconds{20}, std::move(xs)...);
  }

private:
  struct own_system;
  connection(std::unique_ptr<own_system> own, caf::actor_system& in);
  /// A connection to a node that has not said who it is.
  static result<std::shared_ptr<connection>> dial(std::unique_ptr<own_system> own, caf::actor_system& in, const options& how,
                                                  caf::timespan bound);
  /// Dials and asks who answers. A system is brought where there is none.
  static result<std::shared_ptr<const connection>> meet(caf::actor_system* in, const options& how);

  template <class T, class Handle, class... Ts>
  [[nodiscard]] result<T> wait_for(const Handle& of, effect what, caf::timespan bound, Ts... xs) const {
    auto promise = std::make_shared<std::promise<result<T>>>();
    auto future = promise->get_future();
    client::ask<T>(
      system_, of, what, bound, [promise](result<T> x) { promise->set_value(std::move(x)); }, std::move(xs)...);
    return future.get();
  }

  std::unique_ptr<own_system> own_; // goes last; absent: the system is another's
  caf::actor_system& system_;
  node_actor node_;
  node_info about_;
};

/// A time that a verb may be given: above zero, and a year at most.
[[nodiscard]] caf::timespan bounded(std::chrono::nanoseconds budget);

} // namespace paddock::client
