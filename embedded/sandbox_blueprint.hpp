#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace paddock::embedded {

// What pools and claims make of a SandboxTemplate ([C] 4.4, 4.8, 4.9).

/// The content of a template that makes an idle member outdated: pod spec, disks and `service`, as 8 hex digits. Only ever
/// compared with itself.
[[nodiscard]] std::string template_content_of(const nlohmann::json& sandbox_template);
[[nodiscard]] std::string pod_content_of(const nlohmann::json& sandbox_template);

/// Whether the template's NetworkPolicy is kept by the controller: unless it says `Unmanaged`.
[[nodiscard]] bool managed(const nlohmann::json& sandbox_template);

/// What of the template's pod template is not of the type that a pod template has, so that nothing can be made of it; or
/// nothing.
[[nodiscard]] std::optional<std::string> template_fault(const nlohmann::json& sandbox_template);

/// The spec of a Sandbox of that template, which has no fault: its pod template with `automountServiceAccountToken: false`, and public name
/// servers where the default NetworkPolicy would keep the pod from the cluster's; its disks; its `service`. Each container has `resources`,
/// if only empty ones.
[[nodiscard]] nlohmann::json sandbox_spec_of(const nlohmann::json& sandbox_template);

/// The owner reference of a controller.
[[nodiscard]] nlohmann::json controller_reference(const nlohmann::json& owner);

/// The collection of that kind in the object's namespace.
[[nodiscard]] std::string sandboxes_path(const nlohmann::json& of);
[[nodiscard]] std::string extension_path(const nlohmann::json& of, const std::string& resource);

/// Whether the Sandbox's Ready condition is True.
[[nodiscard]] bool sandbox_ready(const nlohmann::json& sandbox);

} // namespace paddock::embedded
