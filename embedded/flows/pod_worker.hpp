#pragma once

#include "embedded/flows/container_runner.hpp"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace paddock::embedded {

/// One pod of the node, from the moment that it is seen until it has ended and is removed, or the kubelet stops. What goes wrong
/// with it in a way that nobody foresaw stands in its status and in the log, and it is begun anew under a back-off. For one lane.
class pod_worker {
public:
  /// `disk_held` answers whether a pod that is to be ended still uses the disk of that claim uid.
  pod_worker(node_context& node, nlohmann::json pod, std::function<bool(const std::string&, const pod_worker&)> disk_held);
  /// Runs the pod. After it nothing of the pod is left on this machine but its disk and its logs.
  boost::asio::awaitable<void> run();
  /// The pod has changed; `gone`: it is no more.
  void saw(nlohmann::json pod, bool gone);
  /// Something that it may wait for has changed.
  void look_again();
  /// End the processes soon and leave the pod as it is.
  void stop();
  /// Whether it is to be ended, or has ended.
  [[nodiscard]] bool ending() const;
  /// The claim whose disk it uses, by uid; empty: none yet.
  [[nodiscard]] const std::string& disk() const noexcept {
    return disk_;
  }

private:
  using runner_ptr = std::unique_ptr<container_runner>;

  boost::asio::awaitable<void> serve_on();
  boost::asio::awaitable<void> serve();
  boost::asio::awaitable<bool> find_disk();
  boost::asio::awaitable<std::optional<pod_request>> read_request();
  boost::asio::awaitable<tl::expected<data_lookup, std::string>> fetch_data();
  boost::asio::awaitable<bool> run_init(const pod_request& asks);
  boost::asio::awaitable<void> end_containers();
  boost::asio::awaitable<void> end_all(std::vector<container_runner*> which);
  boost::asio::awaitable<void> remove_object();
  boost::asio::awaitable<void> report_all();
  boost::asio::awaitable<void> send_report(pod_state state);
  boost::asio::awaitable<void> rest(time_source::clock::duration how_long);
  static boost::asio::awaitable<void> say_bound(node_context& node, k8s::call report);
  container_runner& start(const container_request& what, container_state found, std::size_t index, bool init);
  void begin_state();
  void say_waiting(const std::string& reason, const std::string& message);
  void say();
  void release();
  [[nodiscard]] time_source::clock::time_point end_of_grace() const;
  [[nodiscard]] std::string title() const;

  node_context& node_;
  nlohmann::json pod_; // the latest
  std::function<bool(const std::string&, const pod_worker&)> disk_held_;
  bool gone_ = false;
  bool stopped_ = false;
  bool silent_ = false; // nothing is reported for now
  wake_up wake_;
  pod_state state_;
  std::string disk_;
  std::filesystem::path own_;  // goes with the pod
  std::filesystem::path logs_; // empty: none yet
  std::filesystem::path workspace_;
  std::uint16_t port_ = 1024;
  std::vector<runner_ptr> runners_; // in the order of their start
  time_source::clock::time_point ending_since_{};
  std::deque<pod_state> reports_; // to be sent, in order
  pod_state reported_;
  wake_up to_report_;
};

} // namespace paddock::embedded
