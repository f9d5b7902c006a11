#pragma once

#include "egress/egress_config.hpp"

#include <tl/expected.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace paddock::audit {

// What the words of the verbs mean, and how what is printed is written.

/// `k=v,k2=v2`; a value may be empty. The failure is a text for people.
[[nodiscard]] tl::expected<egress::label_map, std::string> read_labels(std::string_view text);

/// `text` as one line for people: what a terminal would act on is replaced.
[[nodiscard]] std::string one_line(std::string text);

/// A word for a POSIX shell, in quotes where it needs them.
[[nodiscard]] std::string shell_word(const std::string& text);

} // namespace paddock::audit
