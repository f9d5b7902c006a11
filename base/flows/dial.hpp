#pragma once

#include "base/io_failure.hpp"
#include "base/time.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <string>

namespace paddock {

/// One TCP connection to `host`:`port` (a name or an address), or why not; over by `until`. One attempt, each address of
/// a name in turn. Failures are of stage `resolve`, `connect`, `timeout` or `cancelled`, and never `sent`; a resolver that
/// could not say (EAI_AGAIN) is `temporary`.
boost::asio::awaitable<io_result<boost::asio::ip::tcp::socket>> dial(std::string host, std::uint16_t port, deadline until);

} // namespace paddock
