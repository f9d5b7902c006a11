#pragma once

#include "apps/paddock/arguments.hpp"

#include <CLI/CLI.hpp>

#include <chrono>

namespace paddock::cli {

/// The verbs that need no node and never write: on files, or on a cluster.
struct audit_verbs {
  CLI::App* render = nullptr;  // egress render
  CLI::App* judge = nullptr;   // egress judge
  CLI::App* fence = nullptr;   // fence check
  CLI::App* ingress = nullptr; // ingress check

  [[nodiscard]] bool parsed() const;
};

[[nodiscard]] audit_verbs add_audit_verbs(CLI::App& on, arguments& args);

/// Carries out the verb that was parsed. The exit code: 3 when the answer is no.
[[nodiscard]] int run_audit(const audit_verbs& verbs, const arguments& args, std::chrono::nanoseconds budget);

} // namespace paddock::cli
