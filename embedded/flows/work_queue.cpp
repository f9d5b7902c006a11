#include "embedded/flows/work_queue.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace paddock::embedded {

using boost::asio::as_tuple;
using boost::asio::cancellation_type;
using boost::asio::use_awaitable;
namespace this_coro = boost::asio::this_coro;

wake_up::wake_up(boost::asio::any_io_executor lane) : timer_(std::move(lane)) {
}

void wake_up::raise() {
  raised_ = true;
  timer_.cancel();
}

boost::asio::awaitable<void> wake_up::wait() {
  co_await wait_until(boost::asio::steady_timer::time_point::max());
}

boost::asio::awaitable<void> wake_up::wait_until(time_source::clock::time_point at) {
  while (!raised_) {
    timer_.expires_at(at);
    auto [error] = co_await timer_.async_wait(as_tuple(use_awaitable));
    auto state = co_await this_coro::cancellation_state;
    if (!error || state.cancelled() != cancellation_type::none)
      co_return;
  }
  raised_ = false;
}

boost::asio::awaitable<void> until_cancelled(boost::asio::awaitable<void> flow) {
  try {
    co_await std::move(flow);
  } catch (const boost::system::system_error& x) {
    if (x.code() != boost::asio::error::operation_aborted)
      throw;
  }
}

work_queue::work_queue(boost::asio::any_io_executor lane) : changed_(std::move(lane)) {
}

void work_queue::push(std::string key) {
  later_.erase(key);
  if (!waiting_.insert(key).second)
    return;
  due_.push_back(std::move(key));
  changed_.raise();
}

void work_queue::push_after(std::string key, time_source::clock::duration delay) {
  if (waiting_.contains(key))
    return;
  auto at = time_source::clock::now() + delay;
  auto [there, made] = later_.emplace(std::move(key), at);
  if (!made && at >= there->second)
    return;
  there->second = at;
  changed_.raise();
}

boost::asio::awaitable<std::string> work_queue::pop() {
  for (;;) {
    auto state = co_await this_coro::cancellation_state;
    if (state.cancelled() != cancellation_type::none)
      co_return std::string{};
    // Appointments that have come.
    auto next = boost::asio::steady_timer::time_point::max();
    for (auto i = later_.begin(); i != later_.end();) {
      if (i->second <= time_source::clock::now()) {
        if (waiting_.insert(i->first).second)
          due_.push_back(i->first);
        i = later_.erase(i);
      } else {
        next = std::min(next, i->second);
        ++i;
      }
    }
    if (!due_.empty()) {
      auto result = std::move(due_.front());
      due_.pop_front();
      waiting_.erase(result);
      co_return result;
    }
    co_await changed_.wait_until(next);
  }
}

} // namespace paddock::embedded
