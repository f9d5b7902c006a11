#pragma once

#include "embedded/flows/node_context.hpp"
#include "embedded/flows/pod_worker.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace paddock::embedded {

/// The kubelet of one node: takes every pod that is bound to it, runs its containers as processes on a loopback address of
/// the pod's own, reports them, and ends them with the pod. The folder of the claim is the workspace; it goes after the server
/// has said that the claim has gone, and the last pod that used it has ended. It remembers nothing that the API server does not know. For
/// one lane with one thread, which starts the processes.
class kubelet {
public:
  kubelet(control_client& client, informer& pods, informer& claims, http_exchange& exchange, guest::host& guests,
          boost::asio::any_io_executor lane, kubelet_options options);
  /// Why limits of CPU and memory cannot be enforced; empty: they can.
  [[nodiscard]] const std::string& limits_fault() const noexcept {
    return node_.cgroups.fault();
  }
  /// Sweeps once the server has listed the claims. Ends by itself.
  boost::asio::awaitable<void> run();
  /// Ends every process (TERM, 2.5 s, KILL) and leaves the pods as they are; takes no new one. Calls `ended` once.
  void stop(std::function<void()> ended);

private:
  using worker_ptr = std::shared_ptr<pod_worker>;

  void pod_changed(const object_change& change);
  void claim_changed(const object_change& change);
  boost::asio::awaitable<void> remove_when_gone(nlohmann::json claim);
  boost::asio::awaitable<void> work(worker_ptr worker, std::string uid);
  boost::asio::awaitable<void> close_when_idle(std::function<void()> ended);
  void nudge_waiting();
  [[nodiscard]] bool held_by_ending(const std::string& disk, const pod_worker& asker) const;

  node_context node_;
  std::map<std::string, worker_ptr> workers_; // by pod uid
  bool stopping_ = false;
  wake_up one_left_; // a worker has ended
};

} // namespace paddock::embedded
