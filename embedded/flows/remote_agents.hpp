#pragma once

#include "embedded/flows/controllers.hpp"
#include "k8s/flows/kubeconfig.hpp"

#include <tl/expected.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace paddock::embedded {

/// The controllers or a kubelet of a cluster that is somewhere else, on a thread of their own.
class remote_agent {
public:
  virtual ~remote_agent() = default;
  /// Ends it and calls `ended` once, on its own thread, so destroy it from another. A kubelet ends its processes (TERM, 2.5 s,
  /// KILL) and leaves the pods as they are. Destroying it stops it first.
  virtual void stop(std::function<void()> ended) = 0;
};

struct remote_kubelet_options {
  std::string node;                              // its name in the cluster
  std::optional<std::filesystem::path> data_dir; // absent: disks in a temporary folder
  std::filesystem::path guest_program;
  std::function<void(std::string)> log;
};

/// Starts it once the API server has answered. The failure is a text for people: the server cannot be reached, it does not
/// let this user list pods, the disks of `data_dir` are another cluster's, folder or guest program as for `start_cluster`.
[[nodiscard]] tl::expected<std::unique_ptr<remote_agent>, std::string> start_kubelet(k8s::cluster_access access,
                                                                                     remote_kubelet_options options);

/// As `start_kubelet`. `only_node` and `log` of the options are used, too.
[[nodiscard]] tl::expected<std::unique_ptr<remote_agent>, std::string> start_controllers(k8s::cluster_access access,
                                                                                         controllers_options options);

} // namespace paddock::embedded
