#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::embedded {

// What the controllers and the kubelet read of an object. A member that is absent or of another type reads as empty.

/// The text at a JSON pointer.
[[nodiscard]] std::string text_in(const nlohmann::json& object, const std::string& pointer);
/// The number at a JSON pointer.
[[nodiscard]] std::optional<std::int64_t> number_in(const nlohmann::json& object, const std::string& pointer);
/// The value at a JSON pointer, or null.
[[nodiscard]] const nlohmann::json& value_in(const nlohmann::json& object, const std::string& pointer);

[[nodiscard]] std::string name_of(const nlohmann::json& object);
[[nodiscard]] std::string namespace_of(const nlohmann::json& object);
[[nodiscard]] std::string uid_of(const nlohmann::json& object);
[[nodiscard]] std::string annotation_of(const nlohmann::json& object, std::string_view key);
[[nodiscard]] std::string label_of(const nlohmann::json& object, std::string_view key);
[[nodiscard]] bool terminating(const nlohmann::json& object);

/// The owner reference with `controller: true`, or null.
[[nodiscard]] const nlohmann::json& controller_of(const nlohmann::json& object);

/// `status.phase`; an absent one is `Pending`.
[[nodiscard]] std::string phase_of(const nlohmann::json& pod);
/// Phase `Succeeded` or `Failed`.
[[nodiscard]] bool ended(const nlohmann::json& pod);
/// Phase Running and the condition Ready is True.
[[nodiscard]] bool pod_ready(const nlohmann::json& pod);
/// `status.podIPs[].ip` in order.
[[nodiscard]] std::vector<std::string> pod_ips(const nlohmann::json& pod);
/// The names of the claims that the pod mounts, in the order of its volumes.
[[nodiscard]] std::vector<std::string> claims_of(const nlohmann::json& pod);
/// The condition of that type, or null.
[[nodiscard]] const nlohmann::json& condition_of(const nlohmann::json& object, std::string_view type);

} // namespace paddock::embedded
