#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

namespace paddock::guest {

/// One piece of what a stream has printed, and where the next one begins if the guest says so.
struct stream_output {
  std::string bytes;
  std::optional<std::uint64_t> next_offset{};
};

/// Output that has arrived and was not asked for yet, in order.
class waiting_output {
public:
  void push(stream_output x) {
    if (x.bytes.empty())
      return;
    bytes_ += x.bytes.size();
    pieces_.push_back(std::move(x));
  }
  /// @pre not `empty()`
  [[nodiscard]] stream_output pop() {
    auto x = std::move(pieces_.front());
    pieces_.pop_front();
    bytes_ -= x.bytes.size();
    return x;
  }
  /// Drops the oldest pieces while there are more than `most` bytes; the newest is kept whatever its size ([G] 17.4).
  void keep_newest(std::size_t most) {
    while (bytes_ > most && pieces_.size() > 1)
      static_cast<void>(pop());
  }
  [[nodiscard]] bool empty() const noexcept {
    return pieces_.empty();
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return bytes_;
  }

private:
  std::deque<stream_output> pieces_; // none is empty
  std::size_t bytes_ = 0;
};

} // namespace paddock::guest
