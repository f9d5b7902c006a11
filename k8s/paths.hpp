#pragma once

#include <string>
#include <string_view>

namespace paddock::k8s {

// The paths of [C] 2.2. A namespace or name is percent-encoded as one segment; without a name it is the collection.
// Kept apart from the objects so that a test compares a path with the specification's line.

[[nodiscard]] std::string sandboxes_path(std::string_view name_space, std::string_view name = {});
[[nodiscard]] std::string claims_path(std::string_view name_space, std::string_view name = {});
[[nodiscard]] std::string warm_pool_path(std::string_view name_space, std::string_view name);
[[nodiscard]] std::string template_path(std::string_view name_space, std::string_view name);
[[nodiscard]] std::string pods_path(std::string_view name_space, std::string_view name = {});
/// The claim of one entry of a Sandbox's `volumeClaimTemplates`.
[[nodiscard]] std::string volume_claim_path(std::string_view name_space, std::string_view entry, std::string_view sandbox_name);
[[nodiscard]] std::string config_map_path(std::string_view name_space, std::string_view name);
[[nodiscard]] std::string network_policies_path(std::string_view name_space, std::string_view name = {});
[[nodiscard]] std::string cilium_policies_path(std::string_view name_space, std::string_view name = {});
[[nodiscard]] std::string admission_policy_path(std::string_view name);
[[nodiscard]] std::string admission_binding_path(std::string_view name);

/// A collection narrowed by a label selector; an empty selector leaves it whole.
[[nodiscard]] std::string with_selector(std::string collection, std::string_view selector);

} // namespace paddock::k8s
