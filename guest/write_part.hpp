#pragma once

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::guest {

// The rules of `write-file` in parts ([G] 7.5). A failure is the whole error for the wire.

inline constexpr std::string_view missing_path_or_content = "missing_path_or_content";
inline constexpr std::string_view part_in_flight = "write_part_in_flight";
inline constexpr std::string_view not_a_temp_file = "write_part_not_a_temp_file";

/// The `part` of the body of a `write-file`; null: it is a whole write. `null` counts as absent.
[[nodiscard]] tl::expected<const nlohmann::json*, std::string> part_of(const nlohmann::json& body);

[[nodiscard]] bool is_discard(const nlohmann::json& part);

struct data_part {
  std::uint64_t offset = 0;
  std::optional<std::string> rename_to; // of the final part only
};

/// What a part asks for, checked in the order content, offset, target of the rename. `path` was resolved, and the
/// directories above it were made, before this.
[[nodiscard]] tl::expected<data_part, std::string> read_data_part(const nlohmann::json& part, bool has_content);

/// Whether `name` is that of a temporary: `.namzu-write-`, one or more bytes of any kind (a newline too), `.part`. Nothing
/// else is ever discarded.
[[nodiscard]] bool is_temporary_name(std::string_view name);

/// The name of the temporary of a whole write. It fits a directory entry however long `target` is.
[[nodiscard]] std::string temporary_name(std::string_view target, std::string_view uuid);

/// `size`: of the temporary, absent when there is none.
[[nodiscard]] std::string offset_mismatch(std::optional<std::uint64_t> size, std::uint64_t offset);
[[nodiscard]] std::string short_write(std::uint64_t written, std::uint64_t wanted, std::uint64_t size);
[[nodiscard]] std::string short_part(std::uint64_t written, std::uint64_t wanted, std::uint64_t offset, std::uint64_t size);

} // namespace paddock::guest
