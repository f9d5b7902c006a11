#pragma once

#include "base/flows/flow_group.hpp"
#include "embedded/flows/list_watch.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace paddock::embedded {

/// The collections that the controllers and the kubelet of one process watch, each once, whoever asks for it. For one lane.
class informer_set {
public:
  informer_set(control_client& client, boost::asio::any_io_executor lane, std::function<void(std::string)> log);
  /// The informer of the collection at `path`. Only before `start`.
  informer& of(const std::string& path);
  void start();
  /// Ends the watches, then calls `ended` once.
  void close(std::function<void()> ended);

private:
  control_client& client_;
  std::function<void(std::string)> log_;
  std::map<std::string, std::unique_ptr<informer>> all_;
  flow_group flows_;
};

/// The collections of all namespaces.
namespace collections {
inline constexpr auto pods = "/api/v1/pods";
inline constexpr auto claims = "/api/v1/persistentvolumeclaims";
inline constexpr auto services = "/api/v1/services";
inline constexpr auto config_maps = "/api/v1/configmaps";
inline constexpr auto namespaces = "/api/v1/namespaces";
inline constexpr auto service_accounts = "/api/v1/serviceaccounts";
inline constexpr auto nodes = "/api/v1/nodes";
inline constexpr auto network_policies = "/apis/networking.k8s.io/v1/networkpolicies";
inline constexpr auto sandboxes = "/apis/agents.x-k8s.io/v1beta1/sandboxes";
inline constexpr auto sandbox_claims = "/apis/extensions.agents.x-k8s.io/v1beta1/sandboxclaims";
inline constexpr auto sandbox_templates = "/apis/extensions.agents.x-k8s.io/v1beta1/sandboxtemplates";
inline constexpr auto warm_pools = "/apis/extensions.agents.x-k8s.io/v1beta1/sandboxwarmpools";
} // namespace collections

} // namespace paddock::embedded
