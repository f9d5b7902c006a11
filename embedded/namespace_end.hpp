#pragma once

#include "k8s/call.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace paddock::embedded {

/// Whether the namespace waits for its content to go: it terminates and still has the finalizer `kubernetes` in its spec.
[[nodiscard]] bool waits_for_content(const nlohmann::json& name_space);

/// The paths `/api/v1` and `/apis/GROUP/VERSION` (each group's preferred version) that an APIGroupList names.
[[nodiscard]] std::vector<std::string> group_paths(const nlohmann::json& groups);

/// The plural names of an APIResourceList whose objects live in namespaces and can be listed and deleted; no subresources.
[[nodiscard]] std::vector<std::string> removable_resources(const nlohmann::json& resources);

/// The DELETE of an item of the collection at `path`, in the background and under the item's uid.
[[nodiscard]] k8s::call remove_content(const std::string& path, const nlohmann::json& item);

/// The PUT that lets an empty namespace go.
[[nodiscard]] k8s::call finalize_namespace(const nlohmann::json& name_space);

} // namespace paddock::embedded
