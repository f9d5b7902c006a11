#pragma once

#include "messages/types.hpp"

#include <string_view>

namespace paddock::cli {

/// The exit code of every verb but `exec` (DESIGN 9).
[[nodiscard]] int exit_code(verdict x);

/// The exit code of `exec` for a command that was carried out: its own; 128 + n when signal n ended it.
[[nodiscard]] int exit_code(const call_end& x);

/// The exit code of `exec` for a command that was not: 127 no such program, 126 it cannot be run, 125 for the rest.
[[nodiscard]] int exec_exit_code(const problem& x);

/// The number of a signal by its name (`SIGTERM`); 0 for a name that this machine does not know.
[[nodiscard]] int signal_number(std::string_view name);

} // namespace paddock::cli
