#pragma once

#include "guest/glob.hpp"

namespace paddock::guest {

/// Translates one segment into the steps that `glob_segment` runs. A failure is a text for people.
[[nodiscard]] tl::expected<glob_segment::code, std::string> compile_segment(std::u32string_view pattern);

} // namespace paddock::guest
