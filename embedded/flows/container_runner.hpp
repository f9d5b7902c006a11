#pragma once

#include "embedded/flows/node_context.hpp"
#include "embedded/flows/prober.hpp"
#include "embedded/flows/process.hpp"
#include "embedded/flows/work_queue.hpp"
#include "embedded/pod_request.hpp"
#include "embedded/pod_status.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace paddock::embedded {

/// Where one container runs.
struct container_place {
  nlohmann::json pod; // as it was when the pod began here
  std::string address;
  std::uint16_t port = 1024; // of the guest
  std::filesystem::path home;
  std::filesystem::path workspace;
  std::filesystem::path logs; // of the pod
};

/// One container: starts its process, asks its probes, and starts it again when it ends, as the pod's policy says, after 100 ms
/// doubling to 10 s. A container whose startup or liveness probe fails is ended like any other (TERM, grace, KILL) and started
/// again; so is a guest that does not answer within a minute.
class container_runner {
public:
  /// `changed` is called at each change of the state.
  container_runner(node_context& node, container_request what, container_place where, container_state found, std::function<void()> changed);
  /// Runs until the container has ended for good, or has been ended.
  boost::asio::awaitable<void> run();
  /// Ends it: pre-stop hook, TERM, KILL at `until`. May be said again with another instant.
  void end(time_source::clock::time_point until);
  [[nodiscard]] const container_state& state() const noexcept {
    return state_;
  }
  /// Whether it is an init container that runs on beside the others.
  [[nodiscard]] bool stays() const noexcept {
    return what_.stays;
  }
  /// Whether `run` has ended.
  [[nodiscard]] bool over() const noexcept {
    return over_;
  }

private:
  enum class verdict { unhealthy };
  boost::asio::awaitable<void> recover(std::string fault);
  boost::asio::awaitable<void> run_once();
  boost::asio::awaitable<bool> start();
  boost::asio::awaitable<process_end> live();
  boost::asio::awaitable<verdict> watch_health();
  boost::asio::awaitable<bool> become_started();
  boost::asio::awaitable<process_end> end_process(time_source::clock::time_point until);
  boost::asio::awaitable<void> grace_over(time_source::clock::time_point until);
  static boost::asio::awaitable<void> remove_cgroup(node_context& node, std::filesystem::path which);
  void say_fault(const std::string& fault);
  [[nodiscard]] std::string title() const;
  boost::asio::awaitable<void> rest(time_source::clock::duration how_long);
  void say_started();
  void ended(const process_end& end);
  [[nodiscard]] process_request request() const;
  [[nodiscard]] probe_target target() const;

  node_context& node_;
  container_request what_;
  container_place where_;
  container_state state_;
  std::function<void()> changed_;
  wake_up wake_;
  std::shared_ptr<process> runs_;
  std::optional<std::filesystem::path> cgroup_;
  std::optional<time_source::clock::time_point> end_at_; // it is to be ended
  back_off wait_;
  time_source::clock::time_point began_{};
  bool over_ = false;
};

} // namespace paddock::embedded
