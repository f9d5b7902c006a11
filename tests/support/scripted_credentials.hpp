#pragma once

#include "k8s/flows/credentials.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <string>
#include <vector>

namespace paddock::test {

/// Another token each time; counts who asks, and what the server refused.
struct counted_tokens final : k8s::credential_source {
  int asked = 0;
  std::vector<std::string> refusals;
  bool renews = false; // whether a refused token is given up

  boost::asio::awaitable<io_result<k8s::credential>> get(const time_source&) override {
    ++asked;
    co_return k8s::credential{secret{"tok-3f9a" + std::to_string(asked)}, {}, {}};
  }
  bool refused(const k8s::credential& shown, const time_source&) override {
    refusals.push_back(shown.token.reveal());
    return renews;
  }
};

/// A token that never comes, and that does not listen to a withdrawal either.
struct no_token final : k8s::credential_source {
  int asked = 0;

  boost::asio::awaitable<io_result<k8s::credential>> get(const time_source&) override {
    ++asked;
    auto lane = co_await boost::asio::this_coro::executor;
    auto bell = boost::asio::steady_timer{lane, boost::asio::steady_timer::time_point::max()};
    co_await boost::asio::this_coro::reset_cancellation_state(boost::asio::disable_cancellation());
    co_await bell.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    co_return k8s::credential{};
  }
};

/// Time of which an hour passes whenever it is looked at: whatever has a bound is late at once.
class leaping_time final : public flow_time {
public:
  [[nodiscard]] clock::time_point now() const override {
    return now_ += std::chrono::hours{1};
  }
  [[nodiscard]] wall_clock::time_point wall() const override {
    return {};
  }
  boost::asio::awaitable<void> sleep_until(clock::time_point) override {
    co_return;
  }

private:
  mutable clock::time_point now_;
};

} // namespace paddock::test
