#include "base/utf8.hpp"

#include <cstdint>

namespace paddock {

namespace {

/// One step of the decoder at the start of `rest`: how many bytes belong together, and whether they are well formed.
struct step {
  std::size_t length;
  bool good;
};

step next(std::string_view rest) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(rest[i]); };
  const auto lead = byte(0);
  if (lead < 0x80)
    return {1, true};
  std::size_t more = 0;
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    more = 1;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    more = 2;
    low = lead == 0xe0 ? 0xa0 : 0x80;
    high = lead == 0xed ? 0x9f : 0xbf;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    more = 3;
    low = lead == 0xf0 ? 0x90 : 0x80;
    high = lead == 0xf4 ? 0x8f : 0xbf;
  } else {
    return {1, false};
  }
  for (std::size_t i = 1; i <= more; ++i) {
    if (i >= rest.size() || byte(i) < low || byte(i) > high)
      return {i, false};
    low = 0x80;
    high = 0xbf;
  }
  return {more + 1, true};
}

} // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto x = next(text);
    if (!x.good)
      return false;
    text.remove_prefix(x.length);
  }
  return true;
}

std::string to_utf8_with_replacement(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto x = next(text);
    if (x.good)
      out += text.substr(0, x.length);
    else
      out += "\xef\xbf\xbd";
    text.remove_prefix(x.length);
  }
  return out;
}

} // namespace paddock
