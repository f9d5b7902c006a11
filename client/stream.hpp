#pragma once

#include "client/target.hpp"
#include "client/watch.hpp"

#include <functional>
#include <variant>

namespace paddock::client {

/// Where the bytes of a call go and come from: file descriptors. -1: there is no input, output is dropped.
struct stream_ends {
  int input = -1;
  int output = 1;
  int error = 2;
};

/// How a call ended whose bytes were carried.
struct stream_end {
  std::variant<call_end, problem> how;
  bool output_closed = false; // nobody reads our output any more, so the call was cancelled
  bool cancelled = false;     // because the watch said so
};

/// Writes everything. False: nobody reads any more, or the device is full; `errno` says which.
[[nodiscard]] bool write_all(int fd, const bytes& content);

/// Starts `what` at `at` and carries its bytes until it ends. Runs on the calling thread. Output that cannot be written any more, and the
/// content of a file that cannot be read on, cancel the call, whose end is then awaited: `OutputFailed` and `LocalFile`, unless what the
/// call has done is not known. Of all else input that cannot be read has ended. SIGPIPE is ignored by the caller. `noted` hears what the
/// call says in between. Never more than `call::window` of output is on its way.
[[nodiscard]] stream_end run_stream(const target& at, job what, stream_ends ends, const stream_watch& watch = {},
                                    const std::function<void(const call_note&)>& noted = {});

} // namespace paddock::client
