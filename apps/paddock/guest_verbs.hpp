#pragma once

#include "apps/paddock/arguments.hpp"
#include "client/target.hpp"

namespace paddock::cli {

// The verbs that speak to a guest, wherever it is. Each prints and gives the exit code (DESIGN 9).

[[nodiscard]] int exec(const client::target& at, const arguments& args);
[[nodiscard]] int attach(const client::target& at, const arguments& args);
[[nodiscard]] int cancel_execution(const client::target& at, const arguments& args);
[[nodiscard]] int shell(const client::target& at, const arguments& args);
[[nodiscard]] int sessions(const client::target& at, const arguments& args);
[[nodiscard]] int quiesce(const client::target& at, const arguments& args);
[[nodiscard]] int flush(const client::target& at, const arguments& args);
[[nodiscard]] int forward(const client::target& at, const arguments& args);

/// Blocks the signals that streams take as "cancel" or "leave" in this and every later thread; of a terminal its changes of size too.
void block_signals(bool terminal);
/// SIGINT and SIGTERM end this process again.
void unblock_signals();

} // namespace paddock::cli
