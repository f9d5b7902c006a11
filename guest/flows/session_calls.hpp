#pragma once

#include "guest/flows/transport.hpp"
#include "guest/flows/work_host.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace paddock::guest {

/// Reads what the log of a session holds ([G] 19.4): the request is `frame`, `bytes` says whether it asks for base64.
boost::asio::awaitable<result<session_chunk>> run_session_read(flow_time& time, transport_options with, endpoint where, std::string session,
                                                               std::string frame, bool bytes, deadline until);

} // namespace paddock::guest
