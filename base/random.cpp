#include "base/random.hpp"

#include "base/hash.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <sys/random.h>

namespace paddock {

namespace {

template <std::size_t N>
std::array<std::uint8_t, N> random_bytes() {
  std::array<std::uint8_t, N> out{};
  std::size_t have = 0;
  while (have < N) {
    const auto got = ::getrandom(out.data() + have, N - have, 0);
    if (got > 0)
      have += static_cast<std::size_t>(got);
    else if (errno != EINTR)
      std::abort(); // a machine without randomness can give nobody an identity
  }
  return out;
}

} // namespace

std::string new_uuid() {
  auto bytes = random_bytes<16>();
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3f) | 0x80);
  auto out = to_hex(bytes);
  for (auto at : {std::size_t{20}, std::size_t{16}, std::size_t{12}, std::size_t{8}})
    out.insert(at, 1, '-');
  return out;
}

std::string new_key() {
  return to_hex(random_bytes<32>());
}

std::string new_name_suffix(std::size_t n) {
  constexpr std::string_view alphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string out;
  while (out.size() < n)
    for (auto x : random_bytes<16>())
      // 243 = 9 * 27: larger bytes would favour the first letters
      if (x < 243 && out.size() < n)
        out += alphabet[x % alphabet.size()];
  return out;
}

} // namespace paddock
