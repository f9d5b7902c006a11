#pragma once

#include "base/time.hpp"

#include <boost/asio/awaitable.hpp>

namespace paddock {

/// A time source that a flow can wait on.
class flow_time : public time_source {
public:
  /// Resumes at `at`, or at once when it has passed. Throws `operation_aborted` as any Asio operation does when the
  /// coroutine is cancelled.
  virtual boost::asio::awaitable<void> sleep_until(clock::time_point at) = 0;
};

/// The machine's clock and Asio's timers. `tests/support/manual_time.hpp` is the other one.
class real_flow_time final : public flow_time {
public:
  [[nodiscard]] clock::time_point now() const override {
    return clock::now();
  }
  [[nodiscard]] wall_clock::time_point wall() const override {
    return wall_clock::now();
  }
  boost::asio::awaitable<void> sleep_until(clock::time_point at) override;
};

} // namespace paddock
