#include "base/flows/sleep.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace paddock {

boost::asio::awaitable<void> real_flow_time::sleep_until(clock::time_point at) {
  // A withdrawal that came before the wait does not reach the timer.
  const auto withdrawn = co_await boost::asio::this_coro::cancellation_state;
  if (withdrawn.cancelled() != boost::asio::cancellation_type::none)
    throw boost::system::system_error{boost::asio::error::operation_aborted};
  if (at <= now())
    co_return;
  auto lane = co_await boost::asio::this_coro::executor;
  auto timer = boost::asio::steady_timer{lane, at};
  co_await timer.async_wait(boost::asio::use_awaitable);
}

} // namespace paddock
