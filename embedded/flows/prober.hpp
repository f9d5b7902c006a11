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

/// What is read of the body of a good answer to a probe; a longer one is as good.
inline constexpr auto probe_body_limit = std::size_t{10} * 1024;

/// Whether a server answers a GET with 200 to 399 by `until`. `address`: where the probe names no host.
boost::asio::awaitable<bool> ask_http(http_exchange& exchange, http_probe what, std::string address, deadline until);

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
