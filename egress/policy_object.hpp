#pragma once

#include "egress/egress_config.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::egress {

/// The kinds of object that say what a pod may reach. The host writes and names the first two; the third one is met in files.
enum class resource_kind : std::uint8_t { network_policy, cilium_network_policy, cilium_clusterwide_network_policy };
[[nodiscard]] std::string_view to_string(resource_kind x); // `NetworkPolicy`, `CiliumNetworkPolicy`, …

/// Which policy object.
struct policy_name {
  resource_kind kind = resource_kind::network_policy;
  std::string name;
  friend bool operator==(const policy_name&, const policy_name&) = default;
};

/// What a configuration means as an object ([E] 2): the one that an operator applies, or one that this host writes.
struct policy_object {
  resource_kind kind = resource_kind::network_policy;
  egress::policy_kind policy_kind{}; // as configured
  std::string name_space;
  std::string name;
  nlohmann::json manifest;

  /// In the API, percent-encoded.
  [[nodiscard]] std::string path() const;
};

} // namespace paddock::egress
