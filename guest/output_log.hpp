#pragma once

#include "guest/command.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::guest {

/// The output of an execution or a session that is kept for who attaches later ([G] 6.7): the last bytes of both streams in
/// the order in which they came, under one offset that only grows. What is over the budget is lost from the front, and how
/// much that is can always be told.
///
/// It holds `budget` bytes at most, four more for each change of the stream, and nothing before the first byte comes.
class output_log {
public:
  /// The bound of one piece of a reading.
  static constexpr std::size_t piece_size = 64 * 1024;

  struct piece {
    stream which = stream::out;
    std::uint64_t offset = 0; // of its first byte
    std::string bytes;        // never empty

    [[nodiscard]] std::uint64_t next_offset() const noexcept {
      return offset + bytes.size();
    }
  };

  struct reading {
    std::uint64_t from = 0;    // the first byte that is served
    std::uint64_t dropped = 0; // asked for, and lost
    std::uint64_t next = 0;    // the end of the log
    std::vector<piece> pieces; // all bytes of [from, next), or the first of them
  };

  explicit output_log(std::uint64_t budget) : budget_(budget) {
  }

  /// Takes `bytes`; of a text larger than the budget only its end is held. Gives the offset of its first byte.
  std::uint64_t append(stream which, std::string_view bytes);

  /// What is held from `from` on, of which about `most` bytes are given at least. Absent: `from` is beyond the end. A piece ends
  /// within a UTF-8 sequence only where the stream changes, or where the bytes are no UTF-8.
  [[nodiscard]] std::optional<reading> read(std::uint64_t from, std::size_t most = std::string::npos) const;

  /// Gives up what is held, which counts as lost. The offsets stay.
  void discard();

  [[nodiscard]] std::uint64_t start_offset() const noexcept {
    return end_ - held_;
  }
  [[nodiscard]] std::uint64_t end_offset() const noexcept {
    return end_;
  }
  /// All that was ever lost.
  [[nodiscard]] std::uint64_t dropped_bytes() const noexcept {
    return start_offset();
  }

private:
  void evict(std::size_t n);
  void make_room(std::size_t n);
  void store(std::string_view bytes);
  [[nodiscard]] std::string copy(std::size_t at, std::size_t n) const;

  std::uint64_t budget_;
  std::vector<char> ring_;
  std::size_t first_ = 0; // in the ring
  std::size_t held_ = 0;
  std::uint64_t end_ = 0;
  std::deque<std::uint32_t> runs_; // of one stream each: the length, and the stream in the lowest bit
};

} // namespace paddock::guest
