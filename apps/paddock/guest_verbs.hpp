#pragma once

#include "apps/paddock/arguments.hpp"
#include "apps/paddock/target.hpp"

namespace paddock::cli {

// The verbs that speak to a guest, wherever it is. Each prints and gives the exit code (DESIGN 9).

[[nodiscard]] int exec(target& at, const arguments& args);
[[nodiscard]] int attach(target& at, const arguments& args);
[[nodiscard]] int cancel_execution(target& at, const arguments& args);
[[nodiscard]] int shell(target& at, const arguments& args);
[[nodiscard]] int sessions(target& at, const arguments& args);
[[nodiscard]] int quiesce(target& at, const arguments& args);
[[nodiscard]] int flush(target& at, const arguments& args);
[[nodiscard]] int forward(target& at, const arguments& args);

/// Blocks the signals that streams take as "cancel" or "leave" in this and every later thread; of a terminal its changes of size too.
void block_signals(bool terminal);

} // namespace paddock::cli
