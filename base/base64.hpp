#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace paddock {

/// The standard alphabet with `=` padding and no line breaks ([G] 0).
[[nodiscard]] std::string to_base64(std::string_view bytes);

/// Tolerates missing padding and the URL-safe alphabet ([G] 0); anything else that is not base64 is refused.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

/// As `from_base64`, into `to`, which has room for `text.size()` bytes and may be `text` itself or lie before it in the same
/// buffer. Gives how many bytes there are; what was at `to` is gone even when the text is refused.
[[nodiscard]] std::optional<std::size_t> decode_base64(char* to, std::string_view text);

/// The length of the base64 of `n` bytes.
[[nodiscard]] constexpr std::size_t base64_size(std::size_t n) noexcept {
  return (n + 2) / 3 * 4;
}

/// Encodes bytes that come in pieces of any length.
class base64_encoder {
public:
  /// Appends the text of the whole groups so far.
  void add(std::string& to, std::string_view bytes);
  /// Appends the last group with its padding.
  void finish(std::string& to);

private:
  std::array<char, 3> held_{};
  std::size_t holds_ = 0; // fewer than 3
};

} // namespace paddock
