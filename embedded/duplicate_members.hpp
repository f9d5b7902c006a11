#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paddock::embedded {

/// The paths of the members that an object in the JSON text has twice (`spec.containers[0].name`), in their order: the first 100, and of
/// each path at most the first 256 bytes, in whole characters. @pre it is JSON.
[[nodiscard]] std::vector<std::string> duplicate_members(std::string_view text);

} // namespace paddock::embedded
