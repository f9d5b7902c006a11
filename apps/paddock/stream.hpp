#pragma once

#include "apps/paddock/target.hpp"

#include <functional>
#include <variant>

namespace paddock::cli {

/// Where the bytes of a call go and come from: file descriptors. -1: there is no input, output is dropped.
struct stream_ends {
  int input = -1;
  int output = 1;
  int error = 2;
  bool signals = true; // SIGINT and SIGTERM cancel; one stream of a process at a time
};

/// How a call ended for a client.
struct stream_end {
  std::variant<call_end, problem> how;
  int signal = 0;             // the signal that made this client cancel the call; 0: none
  bool output_closed = false; // nobody reads our output any more, so the call was cancelled
};

/// Writes everything. False: nobody reads any more, or the device is full; `errno` says which.
[[nodiscard]] bool write_all(int fd, const bytes& content);

/// Starts `spec` at `at` and carries its bytes until it ends. Runs on the calling thread. SIGINT and SIGTERM, which the
/// caller has blocked in every thread, cancel the call, whose end is then awaited; a second one leaves the process at once with
/// 128 + n. Output that cannot be written any more cancels it too. `noted` hears what the call says in between. Never more than 256 KiB of
/// output is on its way.
[[nodiscard]] stream_end run_stream(target& at, call_spec spec, stream_ends ends, std::function<void(const call_note&)> noted = {});

} // namespace paddock::cli
