#pragma once

#include "guest/agent/session_scanner.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <memory>
#include <set>
#include <sys/types.h>

namespace paddock::guest {

/// What a signal to a session has reached.
struct session_signalling {
  std::size_t signalled = 0; // processes, each counted once
  std::size_t members = 0;   // of those, all but the leader
  bool all_over = false;     // the table was read, and holds nobody but the leader
};

/// Signals every process of the kernel session `leader` that one scan of the process table finds, then the process group of
/// its leader ([G] 9.6). The scan comes first: the end of the leader hangs up its terminal, and would race it. Never
/// reached: the processes 0 and 1, this one, its own kernel session. The number of the leader stays taken meanwhile: whoever
/// calls keeps it a zombie. In slices, so that the thread does other work.
[[nodiscard]] boost::asio::awaitable<session_signalling> signal_session(std::shared_ptr<session_scanner> table, pid_t leader, int number);

/// How many processes of the kernel session run, its leader not counted. A table that cannot be read counts as one.
[[nodiscard]] boost::asio::awaitable<std::size_t> count_members(std::shared_ptr<session_scanner> table, pid_t leader);

/// Kills all of these kernel sessions at once, and waits for the leaders, which are children that nobody has reaped. For
/// the end of the agent: it blocks for as long as that takes.
void kill_sessions_now(const std::set<pid_t>& leaders);

} // namespace paddock::guest
