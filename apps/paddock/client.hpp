#pragma once

#include "messages/error.hpp"
#include "messages/interfaces.hpp"
#include "messages/mail.hpp"
#include "remoting/actor_config.hpp"

#include <tl/expected.hpp>

#include <future>
#include <memory>
#include <string>
#include <type_traits>

namespace paddock::cli {

struct client_options {
  std::string host = "127.0.0.1";
  std::uint16_t port = 7330;
  caf::timespan budget{std::chrono::seconds{120}}; // of one verb, as the node is told
  remoting_tls tls;
};

/// What a request does, and so what it means when its answer is lost.
enum class effect { reads, changes };

/// A client of one node, which it addresses as a remote actor.
class client {
public:
  /// Connects, and checks that the node speaks our messages. Bounded by 10 s and the budget.
  static tl::expected<std::unique_ptr<client>, problem> connect(const client_options& how);

  [[nodiscard]] const node_actor& node() const {
    return node_;
  }
  [[nodiscard]] caf::actor_system& system() {
    return system_;
  }
  [[nodiscard]] const node_info& about() const {
    return about_;
  }
  [[nodiscard]] caf::timespan budget() const {
    return how_.budget;
  }

  /// Asks the node and waits. A node that goes away, or no answer within the budget and 20 s of grace, is `OutcomeUnknown`
  /// for what changes something and `Unreachable` for what reads. T is caf::unit_t for an answer without a value.
  template <class T, class... Ts>
  tl::expected<T, problem> ask(effect what, Ts... xs) {
    return ask_of<T>(node_, what, std::move(xs)...);
  }
  /// As `ask`, of another actor of the node.
  template <class T, class Handle, class... Ts>
  tl::expected<T, problem> ask_of(const Handle& of, effect what, Ts... xs) {
    using answer = tl::expected<T, problem>;
    auto promise = std::make_shared<std::promise<answer>>();
    auto future = promise->get_future();
    const auto bound = how_.budget + std::chrono::seconds{20};
    system_.spawn([promise, what, bound, node = of, xs...](caf::event_based_actor* self) {
      auto told = std::make_shared<bool>(false);
      auto tell = [promise, told, self](answer x) {
        if (!std::exchange(*told, true))
          promise->set_value(std::move(x));
        self->quit();
      };
      self->monitor(node);
      self->set_down_handler([tell, what](const caf::down_msg&) { tell(tl::unexpected{node_gone(what)}); });
      auto failed = [tell, what](const caf::error& why) { tell(tl::unexpected{explain(what, why)}); };
      auto asked = mail::ask(self, node, bound, xs...);
      if constexpr (std::is_same_v<T, caf::unit_t>)
        asked.then([tell] { tell(answer{caf::unit}); }, failed);
      else
        asked.then([tell](T& x) { tell(answer{std::move(x)}); }, failed);
    });
    return future.get();
  }

  static problem node_gone(effect what);

private:
  explicit client(const client_options& how);
  /// `lost`: a connection was made and went away before the node had said who it is.
  static tl::expected<std::unique_ptr<client>, problem> connect_once(const client_options& how, bool& lost);
  static problem explain(effect what, const caf::error& why);

  client_options how_;
  actor_config config_;
  caf::actor_system system_;
  node_actor node_;
  node_info about_;
};

} // namespace paddock::cli
