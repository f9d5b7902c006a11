#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <variant>

namespace paddock::guest {

/// The nine bytes before a payload: its length as eight lower-case hex digits and LF ([G] 1.3).
[[nodiscard]] std::string frame_header(std::uint32_t payload_bytes);

/// Header and payload. A payload longer than `ffffffff` bytes cannot be framed and stops the process: callers bound what
/// they send long before.
[[nodiscard]] std::string to_frame(std::string_view payload);

/// The frame of length zero: ends a terminated stream, never a request.
inline constexpr std::string_view terminator = "00000000\n";

inline constexpr std::size_t frame_header_size = 9;

/// Takes bytes as they arrive and gives the frames in them, for both sides of the wire ([G] 1.4, 1.5). Time and memory
/// are linear in the bytes received, however small the pieces; the memory is given back once the bytes are drained.
class frame_reader {
public:
  /// The bytes so far hold no whole frame.
  struct need_more {};
  /// A whole payload; empty for the terminator.
  struct frame {
    std::string payload;
  };
  /// A payload that was dropped, see `skip_payloads`.
  struct skipped {
    std::uint32_t size = 0;
  };
  /// The next header announces more than the ceiling. It is not consumed: `next` with a higher ceiling goes on from here.
  struct too_large {
    std::uint32_t announced = 0;
  };
  /// The nine bytes at the front are no header. Decided on the ninth byte; the reader cannot go on.
  struct malformed {
    enum class fault {
      early_newline, // an LF before index 8
      not_hex,       // one of the first eight is not a hex digit
      no_newline,    // the byte at index 8 is not LF
    };
    fault why = fault::not_hex;
  };
  using step = std::variant<need_more, frame, skipped, too_large, malformed>;

  void push(std::string_view bytes);

  /// Call it until it answers `need_more` (or until the reader cannot go on).
  [[nodiscard]] step next(std::uint64_t ceiling);

  /// From now on payloads are dropped as they arrive instead of kept; headers are still judged.
  void skip_payloads() noexcept {
    skip_ = true;
  }

  /// The next payload, which `next` has found too large, is dropped likewise.
  void skip_next() noexcept {
    skip_once_ = true;
  }

  /// Bytes held.
  [[nodiscard]] std::size_t buffered() const noexcept {
    return size_ + (begun_ ? frame_header_size + payload_.size() : 0);
  }

  /// Whether the stream may end here without cutting a frame.
  [[nodiscard]] bool at_boundary() const noexcept {
    return size_ == 0 && !begun_ && left_to_skip_ == 0;
  }

  void clear() noexcept;

private:
  void begin_payload(std::uint32_t length);
  step skip_payload(std::uint32_t length, std::size_t here);
  void take(std::string* to, std::size_t n);
  void drop(std::size_t n);

  std::deque<std::string> blocks_; // none is empty
  std::size_t front_ = 0;          // bytes of the first block already taken
  std::size_t size_ = 0;           // bytes in the blocks
  bool begun_ = false;             // a large payload whose header was read is gathered where it will be handed out,
  std::string payload_;            // in front of what the blocks hold
  std::uint32_t length_ = 0;       // its whole size
  std::uint32_t left_to_skip_ = 0; // of the payload that is being dropped
  std::uint32_t skipping_ = 0;     // its whole size
  bool skip_ = false;
  bool skip_once_ = false;
};

} // namespace paddock::guest
