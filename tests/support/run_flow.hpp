#pragma once

#include "tests/support/manual_time.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

namespace paddock::test {

/// A flow that was started on an io_context: whether it has ended, and with what. `T` may be void. Copies are the same flow.
template <class T>
class started {
public:
  using value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

  started(boost::asio::io_context& on, boost::asio::awaitable<T> flow) : state_(std::make_shared<state>()) {
    auto to = boost::asio::bind_cancellation_slot(state_->stop.slot(), ender{state_});
    boost::asio::co_spawn(on, keep(state_.get(), std::move(flow)), std::move(to));
  }
  [[nodiscard]] bool done() const {
    return state_->ended;
  }
  /// What it ended with; throws what it threw. @pre `done()`
  value& get() {
    if (state_->error)
      std::rethrow_exception(state_->error);
    return state_->got.value();
  }
  /// Terminal cancellation, as a `flow_group` sends it.
  void cancel() {
    state_->stop.emit(boost::asio::cancellation_type::terminal);
  }

private:
  struct state {
    boost::asio::cancellation_signal stop;
    std::exception_ptr error;
    std::optional<value> got;
    bool ended = false; // the flow and all it held are gone
  };
  struct ender {
    std::shared_ptr<state> to;
    void operator()(std::exception_ptr error) {
      to->error = error;
      to->ended = true;
    }
  };
  static boost::asio::awaitable<void> keep(state* to, boost::asio::awaitable<T> flow) {
    if constexpr (std::is_void_v<T>) {
      co_await std::move(flow);
      to->got.emplace();
    } else {
      auto got = co_await std::move(flow);
      to->got.emplace(std::move(got));
    }
  }
  std::shared_ptr<state> state_;
};

/// Starts `flow` on `on`; nothing runs before the context does.
template <class T>
started<T> start_flow(boost::asio::io_context& on, boost::asio::awaitable<T> flow) {
  return started<T>{on, std::move(flow)};
}

/// Runs `on` until `enough`. Throws when that takes longer than `bound` of real time: a test that hangs is a failure.
inline void run_until(boost::asio::io_context& on, const std::function<bool()>& enough,
                      std::chrono::seconds bound = std::chrono::seconds{20}) {
  const auto end = std::chrono::steady_clock::now() + bound;
  while (!enough()) {
    on.restart();
    on.run_one_until(std::min(end, std::chrono::steady_clock::now() + std::chrono::milliseconds{100}));
    if (std::chrono::steady_clock::now() >= end)
      throw std::runtime_error{"the flow did not end within the bound of the test"};
  }
}

/// Runs everything that is ready now and nothing that waits.
inline void run_ready(boost::asio::io_context& on) {
  on.restart();
  on.poll();
}

/// Runs one flow to its end and gives what it ended with.
template <class T>
T run_flow(boost::asio::io_context& on, boost::asio::awaitable<T> flow, std::chrono::seconds bound = std::chrono::seconds{20}) {
  auto it = start_flow(on, std::move(flow));
  run_until(
    on, [&] { return it.done(); }, bound);
  if constexpr (std::is_void_v<T>)
    static_cast<void>(it.get());
  else
    return std::move(it.get());
}

/// As `run_until`, moving `time` to the earliest sleeper whenever nothing else is ready: a minute of polling passes at
/// once. Only for flows that wait for nothing but `time`, scripted answers and each other.
inline void run_until(boost::asio::io_context& on, manual_time& time, const std::function<bool()>& enough,
                      std::chrono::seconds bound = std::chrono::seconds{20}) {
  const auto end = std::chrono::steady_clock::now() + bound;
  while (!enough()) {
    on.restart();
    if (on.poll_one() != 0)
      continue;
    if (auto at = time.next())
      time.advance_to(*at);
    else
      throw std::runtime_error{"the flow waits for something that the test never gives it"};
    if (std::chrono::steady_clock::now() >= end)
      throw std::runtime_error{"the flow did not end within the bound of the test"};
  }
}

template <class T>
T run_flow(boost::asio::io_context& on, manual_time& time, boost::asio::awaitable<T> flow,
           std::chrono::seconds bound = std::chrono::seconds{20}) {
  auto it = start_flow(on, std::move(flow));
  run_until(
    on, time, [&] { return it.done(); }, bound);
  if constexpr (std::is_void_v<T>)
    static_cast<void>(it.get());
  else
    return std::move(it.get());
}

} // namespace paddock::test
