#pragma once

#include "apps/paddock/arguments.hpp"
#include "client/forward.hpp"

namespace paddock::cli {

/// Listens on loopback and carries each connection to the guest's port, at most 256 at once, until SIGINT or SIGTERM (blocked by the caller
/// in every thread). Prints `forwarding ADDRESS:PORT` once it listens. The exit code.
[[nodiscard]] int run_forward(const client::target& at, const arguments& args, const client::forwarded_ports& ports);

} // namespace paddock::cli
