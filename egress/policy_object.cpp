#include "egress/policy_object.hpp"

#include "k8s/paths.hpp"

namespace paddock::egress {

std::string_view to_string(resource_kind x) {
  switch (x) {
    case resource_kind::network_policy: return "NetworkPolicy";
    case resource_kind::cilium_network_policy: return "CiliumNetworkPolicy";
    case resource_kind::cilium_clusterwide_network_policy: return "CiliumClusterwideNetworkPolicy";
  }
  return "";
}

std::string policy_object::path() const {
  return kind == resource_kind::network_policy ? k8s::network_policies_path(name_space, name) : k8s::cilium_policies_path(name_space, name);
}

} // namespace paddock::egress
