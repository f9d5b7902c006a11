#pragma once

#include "k8s/exec_credential.hpp"
#include "k8s/flows/credentials.hpp"

#include <chrono>

namespace paddock::k8s {

struct exec_limits {
  std::chrono::milliseconds run{30'000}; // of one run; then the plug-in is killed
  std::size_t output = 1024 * 1024;
  std::chrono::milliseconds between_failures{1000}; // a failure is the answer to whoever asks within
  std::chrono::milliseconds between_refusals{10'000};
};

/// The credential of a plug-in. It runs when a credential is wanted and none is held, once for all who wait; what it gave is
/// held until shortly before it expires, or until the server refuses it. A credential that a refusal led to, and that is
/// refused within `between_refusals`, is held all the same, so that a server that refuses everything does not have the
/// plug-in run for each request. A failure names the plug-in, how it ended and its install hint, and nothing that it printed.
/// For one lane.
[[nodiscard]] std::shared_ptr<credential_source> exec_credentials(exec_plugin how, exec_limits limits = {});

} // namespace paddock::k8s
