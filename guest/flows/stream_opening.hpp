#pragma once

#include "guest/flows/stream_connection.hpp"
#include "guest/flows/stream_host.hpp"
#include "guest/flows/transport.hpp"

#include <string>

namespace paddock::guest {

/// Opens one stream: dials, sends `frame`, and reads until `ready`, all by `until` and with no silence longer than
/// `read_idle` ([G] 17.4). Whatever comes instead of `ready` is the failure. Cancelling it leaves no connection behind.
boost::asio::awaitable<result<stream_holder>> open_stream(flow_time& time, transport_options transport, stream_options streams,
                                                          endpoint where, std::string frame, asked_stream asked, deadline until);

} // namespace paddock::guest
