#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

// How a host reads one field of what a guest says. A field of the wrong type is absent here; who must tell the two apart
// asks `contains` first.

namespace paddock::guest::fields {

/// What a guest can put into our messages is bounded.
inline constexpr std::size_t longest_text = 4096;

/// `text`, which is UTF-8, cut before the first character that does not fit.
[[nodiscard]] inline std::string bounded(std::string text) {
  if (text.size() <= longest_text)
    return text;
  auto end = longest_text;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  text.resize(end);
  return text;
}

[[nodiscard]] inline const nlohmann::json* field(const nlohmann::json& object, const char* name) {
  if (!object.is_object())
    return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

[[nodiscard]] inline const std::string* text(const nlohmann::json& object, const char* name) {
  const auto* x = field(object, name);
  return x != nullptr ? x->get_ptr<const std::string*>() : nullptr;
}

[[nodiscard]] inline std::optional<bool> flag(const nlohmann::json& object, const char* name) {
  const auto* x = field(object, name);
  return x != nullptr && x->is_boolean() ? std::optional{x->get<bool>()} : std::nullopt;
}

/// A finite number, whatever its notation.
[[nodiscard]] inline std::optional<double> number(const nlohmann::json& object, const char* name) {
  const auto* x = field(object, name);
  if (x == nullptr || !x->is_number())
    return std::nullopt;
  const auto value = x->get<double>();
  return std::isfinite(value) ? std::optional{value} : std::nullopt;
}

/// An integer from 0 to 2^53 - 1: offsets and sizes.
[[nodiscard]] inline std::optional<std::uint64_t> offset(const nlohmann::json& object, const char* name) {
  constexpr auto largest = 9007199254740991.0;
  const auto value = number(object, name);
  if (!value || *value < 0 || *value > largest || std::floor(*value) != *value)
    return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

/// An integer of either sign: instants, pids, exit codes.
[[nodiscard]] inline std::optional<std::int64_t> integer(const nlohmann::json& object, const char* name) {
  constexpr auto largest = 9007199254740991.0;
  const auto value = number(object, name);
  if (!value || std::abs(*value) > largest)
    return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

/// As `integer`, of the size of an exit code.
[[nodiscard]] inline std::optional<int> small_integer(const nlohmann::json& object, const char* name) {
  const auto value = integer(object, name);
  if (!value || *value < std::numeric_limits<int>::min() || *value > std::numeric_limits<int>::max())
    return std::nullopt;
  return static_cast<int>(*value);
}

} // namespace paddock::guest::fields
