#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::guest {

/// The `code` of the error that ends a walk which visits more entries than it may.
inline constexpr std::string_view walk_limit_code = "ERR_FILE_WALK_LIMIT";

/// What a caller asks of `walkFiles` ([G] 22.2). The numbers are positive safe integers.
struct walk_options {
  std::string pattern = "**/*";
  std::uint64_t max_entries = 0; // required
  std::uint64_t max_visited_entries = 20'000;
  std::optional<std::uint64_t> max_depth; // direct children have depth 1
  bool include_hidden = false;
};

/// A walk whose every part passed the checks of [G] 22.2.
struct walk_plan {
  std::string root;                  // absolute and normalised
  std::vector<std::string> branches; // the pattern without its braces
  bool include_hidden = false;
  std::optional<std::uint64_t> max_depth;
  std::uint64_t max_entries = 0;
  std::uint64_t max_visited_entries = 0;
};

/// Checks the request and expands the braces. A failure is a text for people, and nothing has been sent. Beyond [G] it
/// refuses what no guest could be given: texts that are not UTF-8 or hold a NUL, groups nested deeper than
/// `glob_segment::max_nesting`, and a plan longer than Linux takes as one argument.
[[nodiscard]] tl::expected<walk_plan, std::string> plan_walk(std::string_view root, const walk_options& options);

/// The arguments of `paddock-guest` that carry the plan: `walk` and its JSON.
[[nodiscard]] std::vector<std::string> walk_arguments(const walk_plan& plan);

/// Reads that JSON in the guest, with the same checks. `maxDepth` may be null or missing.
[[nodiscard]] tl::expected<walk_plan, std::string> read_walk_plan(std::string_view text);

} // namespace paddock::guest
