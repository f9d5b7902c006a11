#pragma once

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::embedded {

using json = nlohmann::json;

// -- looking into an object that anybody may have written ---------------------------------------------------------

/// The member of an object, or nullptr when `value` is no object or has no such member.
[[nodiscard]] const json* member(const json& value, std::string_view key);

/// Follows members from `value`; nullptr as soon as one is missing or of the wrong type.
[[nodiscard]] const json* find(const json& value, std::initializer_list<std::string_view> path);

/// The text at `path`, or an empty one when there is none.
[[nodiscard]] std::string text_at(const json& value, std::initializer_list<std::string_view> path);

/// The texts in the list under `key`; what is no text in it, and what is no list, is left out.
[[nodiscard]] std::vector<std::string> texts_of(const json& value, std::string_view key);

/// The list under `key`, or an empty one when there is none.
[[nodiscard]] const json& list_at(const json& value, std::string_view key);

/// The member as an object that can be written to; a missing or wrong one becomes an empty object.
json& object_at(json& value, std::string_view key);

/// Takes members that are null out of every object below `value`.
void drop_nulls(json& value);

// -- text ---------------------------------------------------------------------------------------------------------

/// Deeper nesting than this is refused: what reads, compares and writes a value recurses.
inline constexpr std::size_t max_nesting = 512;

/// Parses one JSON value. The failure is worded as the API server words it ("unexpected end of JSON input"). Of a member
/// given twice the last one counts.
[[nodiscard]] tl::expected<json, std::string> parse_json(std::string_view text);

/// How deep the arrays and objects of `value` are nested. Looks no deeper than `max_nesting + 1`.
[[nodiscard]] std::size_t nesting(const json& value);

/// `text` as JSON that the API server would send: `<`, `>` and `&` are written as escapes. No newline at the end.
[[nodiscard]] std::string encode_json(const json& value);
[[nodiscard]] std::string encode_json(const nlohmann::ordered_json& value);

/// How many characters a text in UTF-8 has.
[[nodiscard]] std::size_t characters(std::string_view text);

/// The first `most` characters of it.
[[nodiscard]] std::string_view first_characters(std::string_view text, std::size_t most);

/// A text in the quotes and escapes of JSON, as messages quote values.
[[nodiscard]] std::string in_quotes(std::string_view text);

} // namespace paddock::embedded
