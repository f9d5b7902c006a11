#pragma once

#include "guest/flows/file_host.hpp"
#include "guest/flows/transport.hpp"

namespace paddock::guest {

/// Streams a part of a file ([G] 17.3): one coroutine reads and decodes into a queue, another hands the queue out. While
/// `queued_bytes` wait the connection is not read, and its silence does not count. A failure, the caller's cancellation
/// and the end of the time drop the queue; a stream that is whole is handed out to its end. The running coroutine must have
/// `throw_if_cancelled(false)`.
boost::asio::awaitable<result<file_read>> stream_file(flow_time& time, transport_options with, file_options files, endpoint where,
                                                      std::string path, file_part part, byte_sink& to, deadline until);

/// Hands out what is in memory, in pieces.
boost::asio::awaitable<result<file_read>> hand_out(file_content all, byte_sink& to);

} // namespace paddock::guest
