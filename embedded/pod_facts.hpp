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
/// The whole number at a JSON pointer; one above what an int64 holds reads as its largest.
[[nodiscard]] std::optional<std::int64_t> number_in(const nlohmann::json& object, const std::string& pointer);
/// The value at a JSON pointer, or null; also for a text that is no pointer. A key that comes from an object is no part of a
/// pointer: `member_in` takes it as it is.
[[nodiscard]] const nlohmann::json& value_in(const nlohmann::json& object, const std::string& pointer);
/// The member of that key in the map at a JSON pointer, or null.
[[nodiscard]] const nlohmann::json& member_in(const nlohmann::json& object, const std::string& pointer, std::string_view key);
/// The array at a JSON pointer; an empty one where none stands.
[[nodiscard]] const nlohmann::json& array_in(const nlohmann::json& object, const std::string& pointer);

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
