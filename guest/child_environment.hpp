#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::guest {

/// What a command sees ([G] 15.3): the agent's own environment without the variables that configure the agent, overlaid
/// by `wanted`, which may name anything. Lines `NAME=value`. Names that cannot be variables (empty, with `=` or NUL) are
/// left out.
[[nodiscard]] std::vector<std::string> child_environment(const std::vector<std::string>& own,
                                                         const std::map<std::string, std::string>& wanted);

/// The paths at which `program` may be, in order: itself when it holds a slash, otherwise one for each entry of the PATH
/// of `environment` (an empty entry is the working directory). May be relative to the working directory.
[[nodiscard]] std::vector<std::string> program_candidates(std::string_view program, const std::vector<std::string>& environment);

} // namespace paddock::guest
