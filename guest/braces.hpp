#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::guest {

/// The patterns that the braces of `pattern` stand for, in order: `a{b,c{d,e}}` is `ab`, `acd`, `ace`; `{1..3}`, `{09..11}`,
/// `{a..e..2}` count. Braces with neither a comma nor a count, and braces without a partner, are ordinary characters. A
/// backslash takes the meaning from the character after it, and stays. Absent: there are more than `most`. Time and memory
/// are bounded by `most` times the length.
[[nodiscard]] std::optional<std::vector<std::string>> expand_braces(std::string_view pattern, std::size_t most);

} // namespace paddock::guest
