#pragma once

#include "apps/paddock/arguments.hpp"
#include "client/node.hpp"

#include <CLI/CLI.hpp>

namespace paddock::cli {

/// What one workspace may reach beside what is configured for all.
struct policy_verbs {
  CLI::App* set = nullptr;   // policy set
  CLI::App* clear = nullptr; // policy clear
  CLI::App* show = nullptr;  // policy show

  [[nodiscard]] bool parsed() const;
};

[[nodiscard]] policy_verbs add_policy_verbs(CLI::App& on, arguments& args);

/// Carries out the verb that was parsed, in workspace `args.id`. The exit code.
[[nodiscard]] int run_policy(const policy_verbs& verbs, const client::remote_node& by, const arguments& args);

} // namespace paddock::cli
