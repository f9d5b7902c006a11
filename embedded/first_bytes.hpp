#pragma once

#include <string>
#include <string_view>

namespace paddock::embedded {

/// As much of the beginning of `text` as is not longer than `most` bytes and ends with a whole character.
[[nodiscard]] inline std::string first_bytes(std::string_view text, std::size_t most) {
  auto end = most < text.size() ? most : text.size();
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  return std::string{text.substr(0, end)};
}

} // namespace paddock::embedded
