#pragma once

#include "base/flows/flow_group.hpp"
#include "embedded/flows/informer_set.hpp"
#include "embedded/flows/kubelet.hpp"
#include "embedded/flows/node_agent.hpp"

#include <functional>
#include <memory>

namespace paddock::embedded {

/// One node: its kubelet, its Node object, and the transport to its guests. For one lane with one thread.
class node {
public:
  /// Before `watched.start()`.
  node(control_client& client, informer_set& watched, http_exchange& exchange, flow_time& time, boost::asio::any_io_executor lane,
       kubelet_options options);
  void start();
  /// Ends every process and leaves the pods as they are, then calls `ended` once.
  void stop(std::function<void()> ended);

private:
  std::unique_ptr<guest::host> guests_;
  event_recorder events_;
  kubelet kubelet_;
  node_agent agent_;
  flow_group flows_;
};

} // namespace paddock::embedded
