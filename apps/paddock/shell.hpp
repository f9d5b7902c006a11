#pragma once

#include "client/target.hpp"

namespace paddock::cli {

/// How a terminal ended for its client.
struct shell_end {
  std::variant<call_end, problem> how;
  bool left = false;             // by `~.`
  std::uint64_t next_offset = 0; // of a session that goes on: where to take it up
  int signal = 0;                // the signal that ended this client's part; 0: none
};

/// Joins this process's terminal with one in the guest: raw keys, its size and every change of it, `~.` and its kin (where
/// standard input is a terminal), and the output as it comes. Where standard input is none, its end is the end of the input there. The
/// terminal is as it was on every way out. SIGINT, SIGTERM, SIGHUP and SIGWINCH are blocked by the caller in every thread; the first
/// three leave.
[[nodiscard]] shell_end run_shell(const client::target& at, shell_spec what);

} // namespace paddock::cli
