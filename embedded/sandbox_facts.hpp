#pragma once

#include "embedded/sandbox_controller.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::embedded::sandbox_facts {

// What the plan of a pass and its report both read of a Sandbox and its children.

/// `resource` in the Sandbox's namespace.
[[nodiscard]] std::string core_path(const nlohmann::json& sandbox, std::string_view resource);
/// The Sandbox itself.
[[nodiscard]] std::string sandbox_path(const nlohmann::json& sandbox);
/// Of its name.
[[nodiscard]] std::string hash_of(const nlohmann::json& sandbox);
[[nodiscard]] bool suspended(const nlohmann::json& sandbox);
/// The pods that it controls.
[[nodiscard]] std::vector<const nlohmann::json*> own_pods(const sandbox_view& seen);
/// The pod of that name, whoever controls it; null: none.
[[nodiscard]] const nlohmann::json* pod_named(const sandbox_view& seen, const std::string& name);
[[nodiscard]] bool service_off(const nlohmann::json& sandbox);
[[nodiscard]] bool service_on(const nlohmann::json& sandbox);
/// A Service is part of readiness when it is asked for, or stands and is ours.
[[nodiscard]] bool service_required(const sandbox_view& seen);
/// Whether its own Service stands, and is wanted or kept.
[[nodiscard]] bool service_there(const sandbox_view& seen);
[[nodiscard]] std::optional<time_source::wall_clock::time_point> shutdown_time(const nlohmann::json& sandbox);
/// Whether `shutdownTime` has come.
[[nodiscard]] bool expired(const nlohmann::json& sandbox, time_source::wall_clock::time_point now);
/// Whether its status says so.
[[nodiscard]] bool reported_expired(const nlohmann::json& sandbox);

} // namespace paddock::embedded::sandbox_facts
