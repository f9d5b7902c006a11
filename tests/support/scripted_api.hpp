#pragma once

#include "k8s/flows/api.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paddock::test {

// What a scripted API server answers. `about` names the call in the failure, as the real client does.

inline k8s::result<k8s::answer> found(nlohmann::json body) {
  return k8s::answer{std::move(body)};
}
inline k8s::result<k8s::answer> no_value() {
  return k8s::answer{};
}
inline k8s::result<k8s::answer> gone(const k8s::call& about, unsigned status = 404) {
  return tl::unexpected{k8s::failure{k8s::already_gone{about.method, about.path, status}}};
}
inline k8s::result<k8s::answer> taken(const k8s::call& about) {
  return tl::unexpected{k8s::failure{k8s::conflict{about.method, about.path}}};
}
inline k8s::result<k8s::answer> not_applied(const k8s::call& about) {
  return tl::unexpected{k8s::failure{k8s::patch_not_applied{about.method, about.path, 422}}};
}
inline k8s::result<k8s::answer> denied(const k8s::call& about, unsigned status = 403) {
  return tl::unexpected{k8s::failure{k8s::credential_failure{about.method, about.path, status}}};
}
inline k8s::result<k8s::answer> status(const k8s::call& about, unsigned code) {
  return tl::unexpected{
    k8s::failure{k8s::api_failure{k8s::api_failure::transport::status, about.method, about.path, code, std::nullopt, true, "scripted"}}};
}
/// `sent`: a connection lost after the request left; else a refused one.
inline k8s::result<k8s::answer> unreachable(const k8s::call& about, bool sent) {
  return tl::unexpected{k8s::failure{
    k8s::api_failure{k8s::api_failure::transport::connect, about.method, about.path, std::nullopt, std::nullopt, sent, "scripted"}}};
}
inline k8s::result<k8s::answer> timed_out(const k8s::call& about, bool sent = true) {
  return tl::unexpected{k8s::failure{k8s::api_timeout{about.method, about.path, std::chrono::milliseconds{30'000}, sent}}};
}

/// An API server whose answers a test scripts. Every call is recorded in `calls`, in the order it was sent. Answered by,
/// in this order: the queue (`then`), the handler (`handle`), and else held until the test answers it (`hold`) or, without
/// `hold`, refused as unreachable and recorded in `unscripted`. For one thread.
class scripted_api final : public k8s::api {
public:
  using reply = k8s::result<k8s::answer>;
  using handler = std::function<reply(const k8s::call&)>;
  /// May decline a call by nothing, which then goes on to the next way of answering.
  using maybe = std::function<std::optional<reply>(const k8s::call&)>;

  scripted_api() = default;
  explicit scripted_api(handler all) {
    handle(std::move(all));
  }

  /// Answers the next call that no earlier `then` answers; called when it arrives.
  scripted_api& then(handler once) {
    queue_.push_back(std::move(once));
    return *this;
  }
  scripted_api& then(reply once) {
    return then([once = std::move(once)](const k8s::call&) { return once; });
  }
  /// Answers every call that the queue does not.
  void handle(handler all) {
    handler_ = [all = std::move(all)](const k8s::call& x) { return std::optional<reply>{all(x)}; };
  }
  void handle_some(maybe some) {
    handler_ = std::move(some);
  }
  /// From now on calls that nothing answers wait for `answer`.
  void hold() {
    hold_ = true;
  }

  /// The calls that wait for the test, oldest first.
  [[nodiscard]] std::vector<k8s::call> waiting() const {
    auto got = std::vector<k8s::call>{};
    for (const auto& x : held_)
      got.push_back(x->what);
    return got;
  }
  /// Answers the `nth` waiting call; its flow resumes from the io_context. @pre `nth < waiting().size()`
  void answer(reply with, std::size_t nth = 0) {
    auto it = held_.at(nth);
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(nth));
    it->got = std::move(with);
    it->bell.cancel();
  }

  boost::asio::awaitable<reply> send(k8s::call what, deadline until) override {
    calls.push_back(what);
    deadlines.push_back(until);
    if (!queue_.empty()) {
      auto now = std::move(queue_.front());
      queue_.pop_front();
      co_return now(what);
    }
    if (handler_) {
      auto got = handler_(what);
      if (got)
        co_return std::move(*got);
    }
    if (!hold_) {
      unscripted.push_back(what);
      co_return unreachable(what, false);
    }
    auto lane = co_await boost::asio::this_coro::executor;
    auto me = std::make_shared<question>(
      question{what, std::nullopt, boost::asio::steady_timer{lane, std::chrono::steady_clock::time_point::max()}});
    held_.push_back(me);
    [[maybe_unused]] auto [ec] = co_await me->bell.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    if (me->got)
      co_return std::move(*me->got);
    std::erase(held_, me);
    co_return tl::unexpected{k8s::failure{k8s::cancelled{what.method, what.path, true}}};
  }

  /// The calls of one method, in order.
  [[nodiscard]] std::vector<k8s::call> sent(const std::string& method) const {
    auto got = std::vector<k8s::call>{};
    for (const auto& x : calls)
      if (x.method == method)
        got.push_back(x);
    return got;
  }
  /// "GET path", one a call, in order: what a worked request trace shows.
  [[nodiscard]] std::vector<std::string> trace() const {
    auto got = std::vector<std::string>{};
    for (const auto& x : calls)
      got.push_back(x.method + " " + x.path);
    return got;
  }

  std::vector<k8s::call> calls;
  std::vector<deadline> deadlines; // of each call
  std::vector<k8s::call> unscripted;

private:
  struct question {
    k8s::call what;
    std::optional<reply> got;
    boost::asio::steady_timer bell;
  };
  std::deque<handler> queue_;
  maybe handler_;
  bool hold_ = false;
  std::vector<std::shared_ptr<question>> held_;
};

} // namespace paddock::test
