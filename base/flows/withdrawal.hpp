#pragma once

#include <boost/asio/awaitable.hpp>

namespace paddock {

/// Whether the running coroutine has been withdrawn. An operation that starts after the withdrawal is not reached by it,
/// so whoever waits asks first.
boost::asio::awaitable<bool> withdrawn();

/// From here on the caller's withdrawal no longer reaches what is awaited. For clean-up that must run.
boost::asio::awaitable<void> keep_going();

} // namespace paddock
