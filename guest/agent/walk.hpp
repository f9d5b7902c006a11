#pragma once

#include <cstddef>
#include <string_view>

namespace paddock::guest {

/// How much a walk holds at once.
struct walk_limits {
  std::size_t open_directories = 32;     // at least 2; deeper ones are opened again when the walk comes back to them
  std::size_t listing_bytes = 16 * 1024; // the buffer of each open directory
  std::size_t output_bytes = 32 * 1024;
};

/// `paddock-guest walk JSON` ([G] 22.2): finds the regular files that the plan names and writes one JSON line for each to
/// `out`, then `done` or `error`. Answers the exit code, 0 after `done` only.
///
/// No symbolic link is followed, not even one that is put in place of a directory while the walk goes on. Neither the stack
/// nor the number of descriptors grows with the depth. A name that is not UTF-8 is matched and written with U+FFFD in place
/// of what is ill-formed: the record says that the file is there, and its path opens nothing. When nobody reads `out` any
/// more the walk ends with exit code 1; SIGPIPE must be ignored. It calls back nobody and needs no variable.
[[nodiscard]] int walk(std::string_view plan, int out, const walk_limits& limits = {});

} // namespace paddock::guest
