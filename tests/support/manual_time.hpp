#pragma once

#include "base/flows/sleep.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace paddock::test {

/// Time that stands still until the test moves it. A flow that sleeps resumes once time has reached its instant, the
/// earliest sleeper first; it resumes from the io_context, never inside `advance`. For one thread: flows, `advance` and
/// the reads all happen on the thread that runs the context. The steady clock starts at 1000 s, the wall clock at
/// 2026-01-02T03:04:05Z; both move together.
class manual_time final : public flow_time {
public:
  [[nodiscard]] clock::time_point now() const override {
    return now_;
  }
  [[nodiscard]] wall_clock::time_point wall() const override {
    return wall_start + std::chrono::duration_cast<wall_clock::duration>(now_ - start);
  }
  boost::asio::awaitable<void> sleep_until(clock::time_point at) override {
    const auto withdrawn = co_await boost::asio::this_coro::cancellation_state;
    if (withdrawn.cancelled() != boost::asio::cancellation_type::none)
      throw boost::system::system_error{boost::asio::error::operation_aborted};
    if (at <= now_)
      co_return;
    auto lane = co_await boost::asio::this_coro::executor;
    auto me = std::make_shared<sleeper>(sleeper{at, false, boost::asio::steady_timer{lane, clock::time_point::max()}});
    sleepers_.push_back(me);
    [[maybe_unused]] auto [ec] = co_await me->bell.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    std::erase(sleepers_, me);
    if (!me->due)
      throw boost::system::system_error{boost::asio::error::operation_aborted};
  }

  /// Moves time on and wakes whoever is due.
  void advance(clock::duration by) {
    advance_to(now_ + by);
  }
  void advance_to(clock::time_point to) {
    now_ = std::max(now_, to);
    auto all = sleepers_;
    std::ranges::stable_sort(all, {}, [](const auto& x) { return x->at; });
    for (auto& x : all)
      if (!x->due && x->at <= now_) {
        x->due = true;
        x->bell.cancel();
      }
  }
  /// The instant that the earliest sleeper waits for.
  [[nodiscard]] std::optional<clock::time_point> next() const {
    auto got = std::optional<clock::time_point>{};
    for (const auto& x : sleepers_)
      if (!x->due && (!got || x->at < *got))
        got = x->at;
    return got;
  }
  [[nodiscard]] std::size_t sleeping() const {
    return static_cast<std::size_t>(std::ranges::count_if(sleepers_, [](const auto& x) { return !x->due; }));
  }
  /// How far time was moved since the start.
  [[nodiscard]] clock::duration elapsed() const {
    return now_ - start;
  }

private:
  struct sleeper {
    clock::time_point at;
    bool due = false;
    boost::asio::steady_timer bell;
  };
  static constexpr clock::time_point start{std::chrono::seconds{1000}};
  static constexpr wall_clock::time_point wall_start{std::chrono::seconds{1767323045}};
  clock::time_point now_ = start;
  std::vector<std::shared_ptr<sleeper>> sleepers_;
};

} // namespace paddock::test
