#pragma once

#include "guest/agent/core.hpp"
#include "guest/agent/process.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace paddock::guest {

/// The shell that runs the commands of the agent's own variables.
inline constexpr auto shell_program = "/bin/sh";

struct shell_end {
  std::optional<exit_status> status; // absent: not over at the bound and killed, or never started
  int not_started = 0;               // an errno value
  std::string errors;                // the end of its standard error
};

/// Runs `/bin/sh -c command` in a session of its own, with the environment of any child ([G] 15.3) and the agent's working
/// directory. Its output is dropped. At the bound its group is killed by SIGKILL. Calls `then` once, on the wire thread, at
/// the bound at the latest: also when the kernel is slow to end what was killed.
void run_shell(std::shared_ptr<agent_core> core, const std::string& command, std::chrono::milliseconds bound,
               std::function<void(shell_end)> then);

} // namespace paddock::guest
