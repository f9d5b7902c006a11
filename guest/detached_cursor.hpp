#pragma once

#include "guest/command.hpp"

#include <cstdint>
#include <optional>

namespace paddock::guest {

/// Where an observer stands in the log of an execution ([G] 19.1). It moves by what the guest says only: bytes are never
/// counted here.
class detached_cursor {
public:
  explicit detached_cursor(std::uint64_t from = 0) : offset_(from) {
  }

  struct gap {
    std::uint64_t from_offset = 0;
    std::uint64_t dropped_bytes = 0;
  };

  /// An attach begins at `from_offset`, which may be elsewhere than was asked. What was lost before it, if anything.
  [[nodiscard]] std::optional<gap> attached(std::uint64_t from_offset, std::uint64_t dropped_bytes);
  /// Output up to `next_offset` has been handed on.
  void taken(std::uint64_t next_offset) noexcept {
    offset_ = next_offset;
  }

  [[nodiscard]] std::uint64_t offset() const noexcept {
    return offset_;
  }
  /// In all gaps.
  [[nodiscard]] std::uint64_t dropped_bytes() const noexcept {
    return dropped_;
  }
  /// `end` as this observer may tell it: nobody knows which stream a gap was of, so it marks both.
  [[nodiscard]] command_end marked(command_end end) const;

private:
  std::uint64_t offset_;
  std::uint64_t dropped_ = 0;
};

} // namespace paddock::guest
