#pragma once

#include "embedded/object.hpp"
#include "embedded/status.hpp"

namespace paddock::embedded {

/// More operations than this are refused before the first is looked at.
inline constexpr std::size_t max_patch_operations = 10'000;
/// No object, and no sum of what the `copy` operations of one patch copy, gets larger than this.
inline constexpr std::size_t max_object_bytes = 3 * 1024 * 1024;

/// A JSON patch that was read once and may be applied several times. What is wrong with one of its operations shows when
/// it is applied.
[[nodiscard]] api_result<json> parse_json_patch(std::string_view body);

/// A merge patch: any object.
[[nodiscard]] api_result<json> parse_merge_patch(std::string_view body);

/// `patch` applied to `object`, all or nothing. As the server does it: `add` to an existing member replaces it and below a
/// missing parent fails; `replace` of an absent member adds it; `test` compares values, and an absent member equals null.
/// Every failure is the same one, which names neither path nor operation.
[[nodiscard]] api_result<json> apply_json_patch(json object, const json& patch);

/// RFC 7386.
[[nodiscard]] json apply_merge_patch(json object, const json& patch);

} // namespace paddock::embedded
