#pragma once

#include "guest/agent/unique_fd.hpp"

#include <tl/expected.hpp>

#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace paddock::guest {

/// The name of an errno value, `E<number>` for one that has none.
[[nodiscard]] std::string errno_name(int error);

/// `ENOENT: No such file or directory, open 'path'`
[[nodiscard]] std::string system_message(int error, const char* call, const std::string& what);

struct process_plan {
  std::string program;
  std::vector<std::string> arguments;
  std::vector<std::string> environment; // all of it
  std::string directory;                // absolute
  bool with_input = false;              // false: stdin is the null device
  std::string terminal{};               // the slave that is to be its standard descriptors and controlling terminal; none: pipes
};

/// A child that leads a session and a process group of its own; both have the number `pid`. Its descriptors are
/// non-blocking and close on exec.
struct process {
  pid_t pid = -1;
  unique_fd exit; // readable once the child has exited (a pidfd)
  unique_fd in;   // none without input
  unique_fd out;
  unique_fd err;
};

/// Starts a child with default signal dispositions, an empty signal mask and no descriptor but the three standard ones.
/// The program is found along the PATH of the child's environment, relative paths from its directory. A failure is an
/// errno value: nothing was started.
[[nodiscard]] tl::expected<process, int> start_process(const process_plan& plan);

struct exit_status {
  int exit_code = 0;                 // -1 with a signal
  std::optional<std::string> signal; // its name, as `SIGKILL`
};

/// How a child that has exited ended. It stays a zombie, so its number stays taken. Absent: it has not exited.
[[nodiscard]] std::optional<exit_status> peek_exit(pid_t child);

/// Gives the number of an exited child free.
void reap(pid_t child);

/// Reaps the members of process group `group` that have exited and that this process has inherited. The leader is not to
/// be a child any more.
void reap_members(pid_t group);

/// Orphans come to this process and not to the init, so that a group is seen to vanish whatever the init does.
void inherit_orphans();

/// Reaps every child that has exited, except those of which `keep` says yes.
void reap_orphans(const std::function<bool(pid_t)>& keep);

} // namespace paddock::guest
