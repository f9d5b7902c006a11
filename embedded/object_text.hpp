#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace paddock::embedded {

// Looking into an object that is kept as text, without parsing it. The text is one JSON value as `encode_json` writes it: without blanks.
// Keys are compared as they are written, so only those are found in which JSON escapes nothing.

/// The value at `path` as it is written in `text`; empty: there is none. A part of `text`.
[[nodiscard]] std::string_view written_at(std::string_view text, std::initializer_list<std::string_view> path);

/// The text at `path`, or an empty one when there is none or it is no text.
[[nodiscard]] std::string text_in(std::string_view text, std::initializer_list<std::string_view> path);

/// The text that is written so; empty when it is no text.
[[nodiscard]] std::string read_text(std::string_view written);

} // namespace paddock::embedded
