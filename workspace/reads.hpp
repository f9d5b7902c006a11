#pragma once

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <optional>
#include <string>

namespace paddock::workspace {

// Defensive reads of an object that somebody else wrote: an unexpected shape reads as absent.

/// What stands at `path` below `from`, each step a member of an object; null when a step is missing.
[[nodiscard]] const nlohmann::json* find(const nlohmann::json& from, std::initializer_list<const char*> path);

/// The string at `path`; absent when there is none or it is empty.
[[nodiscard]] std::optional<std::string> text_at(const nlohmann::json& from, std::initializer_list<const char*> path);

} // namespace paddock::workspace
