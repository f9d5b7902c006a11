#pragma once

#include <cstddef>
#include <deque>
#include <string>

namespace paddock::guest {

/// Input that a descriptor has not taken yet, in the order in which it arrived. Who feeds it bounds it by `waiting`.
class input_queue {
public:
  enum class end {
    taken,   // nothing waits any more
    full,    // the descriptor takes no more now
    refused, // nobody reads: the rest will never go
  };
  struct outcome {
    end how;
    bool some; // has gone
  };

  void add(std::string bytes);
  void clear();
  /// Writes what a non-blocking descriptor takes at once.
  [[nodiscard]] outcome write_to(int descriptor);

  /// In bytes.
  [[nodiscard]] std::size_t waiting() const noexcept {
    return waiting_;
  }

private:
  std::deque<std::string> pieces_;
  std::size_t taken_ = 0; // of the first piece
  std::size_t waiting_ = 0;
};

} // namespace paddock::guest
