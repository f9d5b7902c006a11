#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace paddock::embedded::cel {

/// What evaluating may still cost. One for each step, and more for what works through long texts and lists.
class budget {
public:
  explicit budget(std::int64_t steps) : left_(steps) {
  }
  /// False: it is used up, and stays so.
  bool spend(std::size_t steps) {
    left_ -= static_cast<std::int64_t>(std::min<std::size_t>(steps, INT32_MAX));
    return left_ >= 0;
  }
  [[nodiscard]] bool used_up() const {
    return left_ < 0;
  }

private:
  std::int64_t left_;
};

/// What it costs to make a text of that length or to go through it.
[[nodiscard]] constexpr std::size_t text_cost(std::size_t bytes) {
  return 1 + bytes / 10;
}

} // namespace paddock::embedded::cel
