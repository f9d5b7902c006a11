#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>

#include <utility>

namespace paddock {

/// Runs `flow` with `throw_if_cancelled` off, so that it answers when it is cancelled, and puts it back afterwards.
template <class T>
boost::asio::awaitable<T> unthrown(boost::asio::awaitable<T> flow) {
  const bool throwing = co_await boost::asio::this_coro::throw_if_cancelled();
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  auto got = co_await std::move(flow);
  co_await boost::asio::this_coro::throw_if_cancelled(throwing);
  co_return got;
}

} // namespace paddock
