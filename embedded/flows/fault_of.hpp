#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <exception>
#include <string>
#include <utility>

namespace paddock::embedded {

/// Runs `flow` and answers what it threw; empty: it has ended. `operation_aborted`, its cancellation, goes on.
inline boost::asio::awaitable<std::string> fault_of(boost::asio::awaitable<void> flow) {
  try {
    co_await std::move(flow);
    co_return std::string{};
  } catch (const boost::system::system_error& x) {
    if (x.code() == boost::asio::error::operation_aborted)
      throw;
    co_return std::string{x.what()};
  } catch (const std::exception& x) {
    co_return std::string{x.what()};
  }
}

} // namespace paddock::embedded
