#pragma once

#include "client/stream.hpp"

namespace paddock::cli {

/// How a call ended for this process.
struct stream_end : client::stream_end {
  int signal = 0; // that made this client cancel the call; 0: none
};

/// `client::run_stream` with the signals of this process: SIGINT and SIGTERM, which the caller has blocked in every thread, cancel the
/// call, whose end is then awaited; a second one leaves the process at once with 128 + n. One at a time.
[[nodiscard]] stream_end run_interruptible(const client::target& at, client::job what, client::stream_ends ends);

} // namespace paddock::cli
