#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace paddock::embedded::sandbox_children {

// What the children of a Sandbox look like ([C] 4.4-4.6).

/// Name, namespace, the label with the hash, and the Sandbox as the controller.
[[nodiscard]] nlohmann::json child_metadata(const nlohmann::json& sandbox, const std::string& name);
/// Why `child` may not be taken over, or nothing: it is ours already, or unowned and marked as free to take.
[[nodiscard]] std::optional<std::string> taken(const nlohmann::json& sandbox, const nlohmann::json& child, const std::string& kind);
/// The merge patch that makes an unowned child ours.
[[nodiscard]] nlohmann::json adoption(const nlohmann::json& sandbox, const nlohmann::json& child);
/// The claim of an entry of `volumeClaimTemplates`.
[[nodiscard]] std::string claim_name(const nlohmann::json& sandbox, const nlohmann::json& entry);
[[nodiscard]] nlohmann::json new_pod(const nlohmann::json& sandbox);
/// The merge patch that makes a running pod's labels and annotations follow the template; null when they do.
[[nodiscard]] nlohmann::json pod_metadata_patch(const nlohmann::json& sandbox, const nlohmann::json& pod);
/// The ports that the containers declare: one a (port, protocol), sorted by both.
[[nodiscard]] nlohmann::json service_ports(const nlohmann::json& sandbox);

} // namespace paddock::embedded::sandbox_children
