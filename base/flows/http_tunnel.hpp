#pragma once

#include "base/flows/http.hpp"
#include "base/flows/wire.hpp"

#include <boost/asio/awaitable.hpp>

namespace paddock {

/// Asks the proxy at the other end of `on` to connect it to `to` (HTTP CONNECT). After that `on` leads to `to`. A refusal is
/// of stage `connect` and names proxy and status; nothing of a request has been sent then. Under the bound of `on`.
boost::asio::awaitable<io_result<void>> open_tunnel(wire& on, http_proxy through, http_server_address to);

} // namespace paddock
