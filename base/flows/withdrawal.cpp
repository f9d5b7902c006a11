#include "base/flows/withdrawal.hpp"

#include <boost/asio/this_coro.hpp>

namespace paddock {

namespace asio = boost::asio;

asio::awaitable<bool> withdrawn() {
  auto state = co_await asio::this_coro::cancellation_state;
  co_return state.cancelled() != asio::cancellation_type::none;
}

asio::awaitable<void> keep_going() {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
}

} // namespace paddock
