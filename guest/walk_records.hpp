#pragma once

#include "guest/walk_plan.hpp"

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::guest {

/// A regular file that a walk found. A name that is not UTF-8 has U+FFFD in its path, which then opens nothing.
struct walk_entry {
  std::string path;
  std::uint64_t size = 0;
  friend bool operator==(const walk_entry&, const walk_entry&) = default;
};

/// Why a walk failed. The entries delivered before it stand.
struct walk_failure {
  std::string text;
  std::optional<std::string> code; // as the guest gave it; `walk_limit_code`: the walk visited as many entries as it may
};

/// Reads the standard output of a walk as it arrives and holds it to [G] 22.2. What it keeps is bounded by one line.
class walk_reader {
public:
  /// A line is this long at most, in UTF-16 units.
  static constexpr std::size_t max_line = 65'536;

  explicit walk_reader(const walk_plan& plan) : root_(plan.root), left_(plan.max_entries) {
  }

  /// The entries that `bytes` complete, up to the first fault. After a fault there are none any more.
  [[nodiscard]] std::vector<walk_entry> push(std::string_view bytes);

  /// The fault of the stream, if it has one: the process is to be cancelled. It never goes away.
  [[nodiscard]] const std::optional<walk_failure>& fault() const noexcept {
    return fault_;
  }

  /// Judges the walk once its process has ended: good only with a whole stream whose last record is `done`, and exit code 0.
  /// A fault of the stream comes before what the guest reported, and that before how the process ended.
  [[nodiscard]] tl::expected<void, walk_failure> finish(int exit_code, bool truncated, bool timed_out) const;

private:
  enum class last_record : std::uint8_t { none, done, error };

  bool take(std::string_view bytes);
  void read_line(std::vector<walk_entry>& into);
  void fail(std::string text);

  std::string root_;
  std::uint64_t left_ = 0; // entries that may still come
  std::string line_;       // the unfinished one
  std::size_t units_ = 0;  // of it
  last_record last_ = last_record::none;
  walk_failure reported_;
  std::optional<walk_failure> fault_;
};

} // namespace paddock::guest
