#pragma once

#include "apps/paddock/arguments.hpp"
#include "client/node.hpp"

#include <CLI/CLI.hpp>

namespace paddock::cli {

/// Task sandboxes: each for one command.
struct task_verbs {
  CLI::App* run = nullptr;      // task run
  CLI::App* release = nullptr;  // task release
  CLI::App* capacity = nullptr; // task capacity

  [[nodiscard]] bool parsed() const;
};

[[nodiscard]] task_verbs add_task_verbs(CLI::App& on, arguments& args);

/// Carries out the verb that was parsed. The exit code; of `run` it is as `exec` gives it. What `run` was given it gives back: after the
/// command, however that ended, and when it is interrupted. Should this process end before, the node does.
[[nodiscard]] int run_task_verb(const task_verbs& verbs, const client::remote_node& by, const arguments& args);

} // namespace paddock::cli
