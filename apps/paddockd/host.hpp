#pragma once

#include "k8s/flows/kubeconfig.hpp"
#include "remoting/actor_config.hpp"
#include "workspace/task.hpp"

#include <tl/expected.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace paddock {

struct host_options {
  workspace::settings how;
  workspace::task_settings tasks;
  k8s::cluster_access access;
  std::chrono::milliseconds api_bound{30'000};
  std::string address = "127.0.0.1"; // where the node is published
  std::uint16_t port = 7330;         // 0: the kernel chooses
  remoting_tls tls;
  std::uint32_t shards = 64;
  std::chrono::milliseconds idle_after{0}; // a WORKSPACE that nobody uses is let go; 0: never
  bool embedded = false;
  std::string walker; // the guest's own program as a command in the guest finds it; empty: where the image has it
  std::string instance;
  std::function<void(const std::string&)> warn;
};

/// A node that runs: the API client, the guest transport, the ports over them, the actors, the published address. One a
/// process.
class host {
public:
  virtual ~host() = default;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  /// Refuses new work, withdraws what is under way and waits for it, at most `bound` and a fifth of a second. False: something has
  /// not ended, and the host must not be destroyed: the process leaves as it is.
  virtual bool stop(std::chrono::milliseconds bound) = 0;
};

/// The failure is a text for people, with its reason in front: `PortTaken: …`.
[[nodiscard]] tl::expected<std::unique_ptr<host>, std::string> start_host(host_options how);

} // namespace paddock
