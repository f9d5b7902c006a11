#pragma once

#include "config/options.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace paddock::config {

/// Sets the options that the text of `file` names and leaves the others as they are. Answers everything that is wrong, in
/// the order of the file: unknown names (with the likely one), names given twice, values that are not what their option
/// expects. A refused value changes nothing; the good ones of the same file are set all the same, so a caller that gets a
/// complaint starts over or stops.
[[nodiscard]] std::vector<complaint> load(const option_list& all, std::string_view text, const std::string& file);

/// Sets one option from elsewhere: `from` is what a complaint names, such as `--shards` or `PADDOCK_SHARDS`.
[[nodiscard]] std::vector<complaint> load_one(const option_list& all, std::string_view name, std::string_view text,
                                              const std::string& from);

} // namespace paddock::config
