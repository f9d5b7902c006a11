#pragma once

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace paddock::guest {

/// What of `offset` and `length` a read states ([G] 7.2, 7.3).
struct wanted_range {
  std::optional<std::uint64_t> offset;
  std::optional<std::uint64_t> length;

  /// Neither: a whole read.
  [[nodiscard]] bool whole() const noexcept {
    return !offset && !length;
  }
};

/// A range within a file.
struct clamped_range {
  std::uint64_t offset = 0; // as asked for, also beyond the end
  std::uint64_t length = 0;
};

/// A failure is the whole error for the wire: `read_file_invalid_offset: …`, `read_file_invalid_length: …`.
[[nodiscard]] tl::expected<wanted_range, std::string> read_range(const nlohmann::json& body);

/// `wanted` of a file of `size` bytes. It never goes past the end.
[[nodiscard]] clamped_range clamp(const wanted_range& wanted, std::uint64_t size);

/// The refusal of a ranged `read-file` that asks for more than `limit`: by the length it states, or by what is left of the
/// file. Absent: it is small enough.
[[nodiscard]] std::optional<std::string> range_refusal(const wanted_range& wanted, std::uint64_t size, std::uint64_t limit);

/// The member `name` of `body` when it is a string, otherwise empty.
[[nodiscard]] std::string text_member(const nlohmann::json& body, const char* name);

/// Exactly `"base64"`; anything else is text ([G] 7.2).
[[nodiscard]] bool wants_base64(const nlohmann::json& body);

} // namespace paddock::guest
