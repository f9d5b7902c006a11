#pragma once

#include "workspace/bind_judge.hpp"
#include "workspace/flows/verbs.hpp"

namespace paddock::workspace {

/// How a verb starts a session, and what becomes of the workspace when that fails.
struct start_policy {
  std::string operation;
  bind_policy bind;
  bool woke = false;  // this verb's own write made the workspace run
  bool leave = false; // `onStartFailure: leave`
  bool made = false;  // this verb's POST made the Sandbox: what a former one of its name was granted may still stand
};

/// Takes away what former Sandboxes of the name were granted, after the bind and for a new Sandbox before it too ([W] 3.15.4, P7),
/// under the fence that the verb has proved. Binds a pod, proves that its guest is unprivileged and reads the uids of the disks ([W] 3.3),
/// the bind within the ready timeout and all by `until`. On success the session runs. On failure it is `suspending`, and where this verb
/// woke the workspace, one suspend is tried for at most 1000 ms, also after the caller has withdrawn ([W] 3.3.3); it is not tried on an
/// object that reads as Suspended or replaced. Nothing is ever deleted. A failure after our own write is `start_failed`.
boost::asio::awaitable<transition<done>> start_session(world& on, id which, session now, start_policy how, deadline until);

} // namespace paddock::workspace
