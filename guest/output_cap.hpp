#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace paddock::guest {

/// How much of one stream of a command is delivered ([G] 6.3): what is over the allowance is read and dropped, so that
/// the command never blocks on it.
class output_cap {
public:
  explicit output_cap(std::uint64_t allowance) : left_(allowance) {
  }

  /// The part of `chunk` to deliver; empty when none of it is.
  [[nodiscard]] std::string_view admit(std::string_view chunk) noexcept {
    auto kept = chunk.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left_, chunk.size())));
    if (kept.size() < chunk.size())
      truncated_ = true;
    left_ -= kept.size();
    return kept;
  }

  /// Whether a byte was dropped.
  [[nodiscard]] bool truncated() const noexcept {
    return truncated_;
  }

private:
  std::uint64_t left_;
  bool truncated_ = false;
};

} // namespace paddock::guest
