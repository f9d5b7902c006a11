#pragma once

#include <span>
#include <string_view>

namespace paddock::cli {

/// What a person can do about a named error. `codes` are the exit codes that come with it, as docs/errors.md has them.
struct advice {
  std::string_view reason;
  std::string_view codes;
  std::string_view what_to_do;
};

/// One for each reason that a node or this client gives, in the order of docs/errors.md; a test compares the two.
[[nodiscard]] std::span<const advice> all_advice();

/// Empty for a reason that is not in the list.
[[nodiscard]] std::string_view what_to_do(std::string_view reason);

} // namespace paddock::cli
