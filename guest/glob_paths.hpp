#pragma once

#include "guest/glob.hpp"

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::guest {

/// Where the branches of a pattern stand below one directory: which of their segments are next. Sorted; empty: nothing below
/// can match.
using glob_places = std::vector<std::uint32_t>;

/// The branches of a pattern as one automaton over the names of a path ([G] 22.2). `**` as a whole segment absorbs any
/// number of names (hidden ones with `include_hidden` only); at the end of a branch it absorbs at least one. A `.` segment
/// before the last is dropped and slashes in a row count as one; a branch that ends in a slash or in `.` matches nothing.
///
/// Each distinct segment is held against a name at most once. For one thread.
class glob_paths {
public:
  /// The checks of [G] 22.2 on each branch: it is not empty, does not begin with `/` or a drive, and no segment stands for
  /// `..`, however it is spelled. A failure is a text for people.
  [[nodiscard]] static tl::expected<glob_paths, std::string> compile(const std::vector<std::string>& branches, bool include_hidden);

  /// The literal segments that all branches begin with; the last segment of a branch never counts.
  [[nodiscard]] const std::vector<std::string>& leading() const noexcept {
    return leading_;
  }

  /// The number of segments of the longest branch; absent: unlimited, one has a `**`.
  [[nodiscard]] std::optional<std::uint64_t> longest() const noexcept {
    return longest_;
  }

  /// At the root.
  [[nodiscard]] glob_places start() const;

  /// The two questions below are about this name. Bytes that are not UTF-8 count as U+FFFD.
  void take(std::string_view name);

  /// Whether the path that ends in the name matches.
  [[nodiscard]] bool matches(const glob_places& at);

  /// The places within the directory of that name.
  [[nodiscard]] glob_places below(const glob_places& at);

private:
  struct place {
    std::uint32_t segment = 0;
    bool last = false;
  };

  void add(glob_places& to, std::uint32_t at) const;
  bool segment_matches(std::uint32_t segment);
  bool absorbed() const {
    return include_hidden_ || !hidden_;
  }

  bool include_hidden_ = false;
  std::vector<glob_segment> segments_; // distinct
  std::vector<place> places_;          // branch after branch
  std::vector<std::uint32_t> starts_;
  std::vector<std::string> leading_;
  std::optional<std::uint64_t> longest_;

  enum class verdict : std::uint8_t { open, yes, no };
  std::u32string name_;
  bool hidden_ = false;
  std::vector<verdict> verdicts_; // of each segment on the name
};

} // namespace paddock::guest
