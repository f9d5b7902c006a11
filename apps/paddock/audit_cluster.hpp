#pragma once

#include "base/flows/http.hpp"
#include "base/flows/io_lane.hpp"
#include "base/flows/sleep.hpp"
#include "egress/flows/cluster.hpp"
#include "k8s/flows/api_client.hpp"
#include "k8s/flows/kubeconfig.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace paddock::cli {

/// A cluster that verbs ask without a node. Nothing is sent before the first question.
class audit_cluster {
public:
  audit_cluster(k8s::cluster_access access, std::chrono::nanoseconds budget);

  /// What the flow that `start(cluster, deadline)` makes answers.
  template <class Start>
  auto ask(Start start) {
    return boost::asio::co_spawn(lane_.context(), start(on_, until_), boost::asio::use_future).get();
  }

private:
  real_flow_time time_;
  io_lane lane_; // goes last of all that has connections on it
  std::unique_ptr<http_exchange> exchange_;
  std::unique_ptr<k8s::streaming_api> api_;
  egress::cluster on_;
  deadline until_;
};

/// How to reach the cluster of `kubeconfig`; where that is empty, of the files in KUBECONFIG.
[[nodiscard]] tl::expected<k8s::cluster_access, std::string> access_for_audit(const std::string& kubeconfig, const std::string& context);

} // namespace paddock::cli
