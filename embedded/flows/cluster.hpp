#pragma once

#include "base/flows/http.hpp"
#include "base/secret.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace paddock::embedded {

struct cluster_options {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;                        // of the API server; 0: the kernel chooses
  std::optional<std::filesystem::path> data_dir; // absent: objects in memory, disks in a temporary folder
  std::filesystem::path guest_program;           // the paddock-guest to run for each pod
  std::string name_space = "default";            // where the default template is put
  bool cilium = false;                           // serve Cilium's policies, too; nobody enforces them
  bool server_only = false;                      // no controllers and no kubelet: they come as clients of their own
  std::function<void(std::string)> log;          // one line a call, for people
};

/// The embedded cluster: API server over TCP, object store, sandbox controller, garbage collector and kubelet, on a
/// thread of its own. It enforces no network policy.
class cluster {
public:
  virtual ~cluster() = default;
  [[nodiscard]] virtual http_server_address server() const = 0;
  /// The bearer token of the administrator; new at each start.
  [[nodiscard]] virtual secret token() const = 0;
  /// A kubeconfig for that server and token, as kubectl reads it.
  [[nodiscard]] virtual std::string kubeconfig() const = 0;
  /// Ends every pod (TERM, grace, KILL), then the server; calls `ended` once, on the cluster's own thread, so destroy the
  /// cluster from another. At most 4 s. The objects stay: with a data_dir they come back, each pod as a container that is
  /// started again. Destroying a cluster stops it first.
  virtual void stop(std::function<void()> ended) = 0;
};

/// Starts it and waits until it serves. The failure is a text for people that names what is wrong: port taken, folder not
/// writable, disk full, no guest program.
[[nodiscard]] tl::expected<std::unique_ptr<cluster>, std::string> start_cluster(cluster_options options);

} // namespace paddock::embedded
