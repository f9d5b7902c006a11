#pragma once

#include "guest/calls.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::guest {

/// The arguments of `find` with which `listFiles` asks ([G] 22.1).
[[nodiscard]] std::vector<std::string> listing_arguments(const std::string& root);

/// What `find` said. An exit code other than 0 gives an empty list: most often there is no such root. A line without a TAB,
/// a path before the first one, or a decimal safe integer after it is skipped; so a name with a TAB or a line break in it is
/// dropped, or a part of it is taken for a path of its own, and the rest of the list stands.
[[nodiscard]] std::vector<listed_file> listed_files(int exit_code, std::string_view output);

} // namespace paddock::guest
