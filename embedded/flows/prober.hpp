#pragma once

#include "embedded/flows/node_context.hpp"
#include "embedded/flows/process.hpp"
#include "embedded/probe.hpp"

#include <functional>
#include <string>

namespace paddock::embedded {

/// What the probes of one container are made with.
struct probe_target {
  std::string address;  // of the pod
  process_request exec; // the environment and folder of the container; program and arguments are the probe's
};

/// Asks once. Over within the probe's timeout.
boost::asio::awaitable<bool> ask(node_context& node, probe what, probe_target where);

/// Asks in the probe's period until it holds or fails for good; the answer says which.
boost::asio::awaitable<bool> until_decided(node_context& node, probe what, probe_target where);

/// Asks in the probe's period until it fails for good.
boost::asio::awaitable<void> until_failed(node_context& node, probe what, probe_target where);

/// Asks for ever and calls `changed` at each turn, beginning at `now`.
boost::asio::awaitable<void> follow(node_context& node, probe what, probe_target where, bool now, std::function<void(bool)> changed);

/// The guest's own readiness: asks until it answers (true) or `until` has come.
boost::asio::awaitable<bool> until_guest_answers(node_context& node, guest::endpoint where, deadline until);

/// Runs a command of a container with its environment and in its folder; nothing: it did not end by `until`, or could not be
/// started. What it writes goes nowhere.
boost::asio::awaitable<std::optional<process_end>> run_command(node_context& node, process_request what, std::vector<std::string> command,
                                                               deadline until);

} // namespace paddock::embedded
