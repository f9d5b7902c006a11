#pragma once

#include "base/time.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <deque>
#include <map>
#include <set>
#include <string>

namespace paddock::embedded {

/// A flag that one flow waits for and others raise. Raised before the wait, it is not lost.
class wake_up {
public:
  explicit wake_up(boost::asio::any_io_executor lane);
  void raise();
  /// Until raised, then lowers it; returns early when cancelled.
  boost::asio::awaitable<void> wait();
  /// As `wait`, until `at` at the latest.
  boost::asio::awaitable<void> wait_until(time_source::clock::time_point at);

private:
  boost::asio::steady_timer timer_;
  bool raised_ = false;
};

/// Runs `flow`; a cancellation ends it well.
boost::asio::awaitable<void> until_cancelled(boost::asio::awaitable<void> flow);

/// The objects that a controller has to look at, by key. A key that waits already is not put in twice; one that is being
/// looked at is. For one lane and one reader.
class work_queue {
public:
  explicit work_queue(boost::asio::any_io_executor lane);
  void push(std::string key);
  /// Not before so long from now; an earlier appointment of the key stands.
  void push_after(std::string key, time_source::clock::duration delay);
  /// The next key; an empty one when cancelled.
  boost::asio::awaitable<std::string> pop();

private:
  std::deque<std::string> due_;
  std::set<std::string> waiting_;
  std::map<std::string, time_source::clock::time_point> later_;
  wake_up changed_;
};

} // namespace paddock::embedded
