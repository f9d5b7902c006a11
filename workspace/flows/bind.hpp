#pragma once

#include "workspace/bind_judge.hpp"
#include "workspace/flows/verbs.hpp"

namespace paddock::workspace {

/// A Sandbox that was Ready, the pod chosen for it, and where its guest listens.
struct bound {
  ready_sandbox sandbox;
  pod_uid pod;
  guest::endpoint guest;
};

/// One look at the pods: that of the Sandbox's name, and the list under the selector where the first is not one to bind.
struct pods_seen {
  std::optional<pod_seen> by_name;
  std::vector<pod_seen> listed;
};
boost::asio::awaitable<k8s::result<pods_seen>> look_at_pods(world& on, std::string sandbox_name, ready_sandbox from,
                                                            std::optional<sandbox_uid> owner, deadline until);

/// Waits until `which` is Ready and has a pod that `policy` takes ([W] 3.2), at the latest until `until`. Reads only. Every
/// read of the Sandbox is held against `expected`; a uid seen first here is the one that the later reads must show.
boost::asio::awaitable<result<bound>> bind(world& on, id which, std::string operation, std::optional<sandbox_uid> expected,
                                           bind_policy policy, deadline until);

} // namespace paddock::workspace
