#pragma once

#include "base/flows/sleep.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paddock::guest {

/// One of the flows that a `family` runs. Its cancellation is its own: it does not hear of the parent's.
class child_base {
public:
  [[nodiscard]] bool over() const noexcept {
    return over_;
  }
  /// What it threw, when it threw anything but "cancelled".
  [[nodiscard]] const std::optional<std::string>& thrown() const noexcept {
    return thrown_;
  }
  /// Asks it to end; it has ended once `over`.
  void stop() {
    if (!over_)
      stop_.emit(boost::asio::cancellation_type::terminal);
  }

private:
  friend class family;
  boost::asio::cancellation_signal stop_;
  std::optional<std::string> thrown_;
  bool over_ = false;
};

template <class T>
class child : public child_base {
public:
  /// What it ended with. Absent: it still runs, was stopped, or threw.
  std::optional<T> value;
};

/// Why a wait ended.
enum class woke { over, withdrawn, late };

/// The children of one coroutine, all on its executor (one strand or one thread), and the one place where it waits for
/// any of them. The parent must have `throw_if_cancelled(false)`, and must `close` before it ends.
class family {
public:
  family(flow_time& time, const boost::asio::any_io_executor& lane);
  family(const family&) = delete;
  family& operator=(const family&) = delete;

  template <class T>
  std::shared_ptr<child<T>> start(boost::asio::awaitable<T> flow) {
    auto it = std::make_shared<child<T>>();
    spawn(it, run_into(it, std::move(flow)));
    return it;
  }
  /// A child that does nothing until `at`.
  std::shared_ptr<child<bool>> alarm(time_source::clock::time_point at);

  /// Waits until something has happened: a child has ended, or the parent was cancelled. It may wake for nothing.
  boost::asio::awaitable<void> wait();
  /// Waits for one child, until `at`; `heed` says whether the parent's own cancellation ends the wait. The end of the
  /// child comes first, then the cancellation, then the time.
  boost::asio::awaitable<woke> settle(std::shared_ptr<child_base> which, time_source::clock::time_point at, bool heed);
  /// Stops all and waits for the last.
  boost::asio::awaitable<void> close();

private:
  struct bell {
    explicit bell(const boost::asio::any_io_executor& lane) : timer(lane, boost::asio::steady_timer::time_point::max()) {
    }
    boost::asio::steady_timer timer;
  };

  template <class T>
  static boost::asio::awaitable<void> run_into(std::shared_ptr<child<T>> it, boost::asio::awaitable<T> flow) {
    auto got = co_await std::move(flow);
    it->value.emplace(std::move(got));
  }
  void spawn(std::shared_ptr<child_base> it, boost::asio::awaitable<void> flow);

  flow_time& time_;
  boost::asio::any_io_executor lane_;
  std::shared_ptr<bell> bell_;
  std::vector<std::shared_ptr<child_base>> live_;
};

/// Whether the running coroutine has been cancelled.
boost::asio::awaitable<bool> was_withdrawn();

} // namespace paddock::guest
