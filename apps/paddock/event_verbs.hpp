#pragma once

#include "apps/paddock/arguments.hpp"
#include "client/node.hpp"

namespace paddock::cli {

/// Prints what the node has seen of the workspace lately, and with `--follow` what it sees from then on: until it is interrupted, the
/// given `--timeout` is over, which is no failure, or the node has nothing more to tell.
int show_events(const client::remote_node& by, const arguments& args, std::chrono::nanoseconds budget);

} // namespace paddock::cli
