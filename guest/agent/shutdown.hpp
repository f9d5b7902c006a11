#pragma once

#include "guest/agent/core.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <memory>

namespace paddock::guest {

/// The end of the agent as SIGTERM asks for it, from the second step on ([G] 14): the quiesce gate for good, the quiesce
/// rounds, the flush, then what is still queued to hosts. Each failure is a line of the log and holds up nothing.
class shutdown_run : public std::enable_shared_from_this<shutdown_run> {
public:
  shutdown_run(std::shared_ptr<agent_core> core, std::function<void()> done);

  /// `done` is called once, at the shutdown deadline at the latest, unless `abandon` comes first.
  void start();
  void abandon();

private:
  using clock = std::chrono::steady_clock; // bounds of real processes are real time

  boost::asio::awaitable<void> stop_what_runs();
  void flush();
  void deliver(clock::time_point until);
  void finish();
  [[nodiscard]] std::chrono::milliseconds left() const;

  std::shared_ptr<agent_core> core_;
  std::function<void()> done_;
  boost::asio::steady_timer watchdog_;
  boost::asio::steady_timer step_;
  clock::time_point deadline_;
};

} // namespace paddock::guest
