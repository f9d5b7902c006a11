#pragma once

#include <string>
#include <string_view>

namespace paddock {

/// Whether `text` is well-formed UTF-8 (no overlong form, no surrogate, nothing above U+10FFFF).
[[nodiscard]] bool is_utf8(std::string_view text);

/// `text` with U+FFFD for every ill-formed subsequence (maximal-subpart substitution, as the WHATWG decoder does; [G] 0).
[[nodiscard]] std::string to_utf8_with_replacement(std::string_view text);

} // namespace paddock
