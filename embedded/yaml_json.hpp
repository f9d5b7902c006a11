#pragma once

#include "embedded/object.hpp"

#include <string>
#include <string_view>

namespace paddock::embedded {

/// Larger bodies are refused: the library takes many times the size and the time that JSON takes.
inline constexpr std::size_t max_yaml_bytes = 256 * 1024;

/// Reads one YAML document as the API server does: scalars without quotes may be null, booleans (also `yes` and `on`) and numbers;
/// of further documents nothing is read. Nesting and what aliases may unfold to are bounded. The failure is a text for people.
/// `twice` gets the keys that a map has twice; the last one counts. @pre no more than `max_yaml_bytes`.
[[nodiscard]] tl::expected<json, std::string> parse_yaml(std::string_view text, std::vector<std::string>& twice);

/// Block style, members by name.
[[nodiscard]] std::string to_yaml(const json& value);

} // namespace paddock::embedded
