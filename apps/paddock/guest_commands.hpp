#pragma once

#include "apps/paddock/arguments.hpp"
#include "client/node.hpp"

#include <CLI/CLI.hpp>

namespace paddock::cli {

/// The verbs that speak to a guest, as subcommands of the client (with an ID) or of `guest` (without).
struct guest_verbs {
  CLI::App* exec = nullptr;
  CLI::App* attach = nullptr;
  CLI::App* cancel = nullptr;
  CLI::App* shell = nullptr;
  CLI::App* sessions = nullptr;
  CLI::App* forward = nullptr;
  CLI::App* quiesce = nullptr;
  CLI::App* flush = nullptr;

  [[nodiscard]] bool parsed() const;
  /// Whether the verb that was parsed carries bytes.
  [[nodiscard]] bool streams() const;
};

/// Those that only `guest` has.
struct direct_verbs {
  guest_verbs of;
  CLI::App* health = nullptr;
  CLI::App* read = nullptr;
  CLI::App* write = nullptr;
  CLI::App* ls = nullptr;
  CLI::App* walk = nullptr;

  [[nodiscard]] bool streams() const;
};

[[nodiscard]] guest_verbs add_guest_verbs(CLI::App& on, arguments& args, bool with_id);
[[nodiscard]] direct_verbs add_direct_verbs(CLI::App& on, arguments& args);
void add_walk_options(CLI::App& on, arguments& args);
/// Where a command runs, and with which variables.
void add_environment(CLI::App* verb, arguments& args);

/// Whether its exit code is a command's, so that a misuse is 125.
[[nodiscard]] bool runs_a_command(const guest_verbs& a, const direct_verbs& b);
[[nodiscard]] bool has_terminal(const guest_verbs& a, const direct_verbs& b, const arguments& args);

/// Carries out the verb that was parsed, in workspace `args.id`. The exit code.
[[nodiscard]] int run_of_node(const guest_verbs& verbs, const client::remote_node& by, const arguments& args);
/// The same at the guest of `args.address`.
[[nodiscard]] int run_direct(const direct_verbs& verbs, const arguments& args, caf::timespan budget);

} // namespace paddock::cli
