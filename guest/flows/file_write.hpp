#pragma once

#include "guest/flows/feature_cache.hpp"
#include "guest/flows/file_host.hpp"
#include "guest/flows/host_connection.hpp"

namespace paddock::guest {

/// What a write has done so far, for whoever stops it and cleans up after it.
struct write_trace {
  std::shared_ptr<trace> seen = std::make_shared<trace>();
  std::string temporary; // of a write in parts, from its first part on
};

/// Writes all that `from` gives ([G] 17.1), one request at a time, each on a connection of its own. A request is put
/// together before its connection is opened, because a guest waits 10 s for a whole one; it is all that is held, 8 MiB. The
/// features of the guest are asked for only when the content does not fit one request. Leaves the temporary of a write
/// that failed to its caller. No bound of its own but those of dialing and of each reply.
boost::asio::awaitable<result<file_written>> send_file(flow_time& time, transport_options with, file_options files, feature_cache& cache,
                                                       endpoint where, std::string path, input_source& from,
                                                       std::optional<std::uint64_t> size, deadline until,
                                                       std::shared_ptr<write_trace> left);

/// Asks the guest once to remove `temporary`, within the bound of a clean-up, also for a caller that is cancelled. What the
/// guest answers does not matter. The running coroutine must have `throw_if_cancelled(false)`.
boost::asio::awaitable<void> discard(flow_time& time, transport_options with, file_options files, endpoint where, std::string temporary);

} // namespace paddock::guest
