#include "base/base64.hpp"

#include "base/base64_vector.hpp"

#include <algorithm>
#include <cstdint>

namespace paddock {

namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::uint8_t no_value = 0x80;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> out{};
  out.fill(no_value);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    out[static_cast<std::uint8_t>(alphabet[i])] = static_cast<std::uint8_t>(i);
  out[static_cast<std::uint8_t>('-')] = 62;
  out[static_cast<std::uint8_t>('_')] = 63;
  return out;
}

constexpr auto values = make_values();

std::uint32_t byte_at(const char* at) {
  return static_cast<std::uint8_t>(*at);
}

std::uint32_t value_at(const char* at) {
  return values[static_cast<std::uint8_t>(*at)];
}

/// Whole groups of three.
void encode_groups(char* to, const char* from, std::size_t n) {
  const auto done = encode_base64_vector(to, from, n);
  to += done.written;
  for (auto i = done.read; i < n; i += 3) {
    const auto group = byte_at(from + i) << 16 | byte_at(from + i + 1) << 8 | byte_at(from + i + 2);
    *to++ = alphabet[group >> 18];
    *to++ = alphabet[(group >> 12) & 63];
    *to++ = alphabet[(group >> 6) & 63];
    *to++ = alphabet[group & 63];
  }
}

void append_groups(std::string& to, std::string_view whole) {
  const auto at = to.size();
  to.resize(at + whole.size() / 3 * 4);
  encode_groups(to.data() + at, whole.data(), whole.size());
}

/// The last one or two bytes.
void append_rest(std::string& to, std::string_view rest) {
  if (rest.empty())
    return;
  const auto group = byte_at(rest.data()) << 16 | (rest.size() > 1 ? byte_at(rest.data() + 1) << 8 : 0u);
  to += alphabet[group >> 18];
  to += alphabet[(group >> 12) & 63];
  to += rest.size() > 1 ? alphabet[(group >> 6) & 63] : '=';
  to += '=';
}

} // namespace

std::string to_base64(std::string_view bytes) {
  std::string out;
  out.reserve(base64_size(bytes.size()));
  const auto whole = bytes.size() / 3 * 3;
  append_groups(out, bytes.substr(0, whole));
  append_rest(out, bytes.substr(whole));
  return out;
}

std::optional<std::size_t> decode_base64(char* to, std::string_view text) {
  for (auto pads = 0; pads < 2 && text.ends_with('='); ++pads)
    text.remove_suffix(1);
  if (text.size() % 4 == 1)
    return std::nullopt;
  auto* const begin = to;
  auto done = std::size_t{0};
  const auto whole = text.size() / 4 * 4;
  while (done < whole) {
    const auto fast = decode_base64_vector(to, text.data() + done, whole - done);
    done += fast.read;
    to += fast.written;
    // A few groups by hand, past a character that the vector step does not know; then it tries again.
    const auto until = std::min(whole, done + 64);
    for (; done < until; done += 4) {
      const auto* at = text.data() + done;
      const auto a = value_at(at);
      const auto b = value_at(at + 1);
      const auto c = value_at(at + 2);
      const auto d = value_at(at + 3);
      if (((a | b | c | d) & no_value) != 0)
        return std::nullopt;
      const auto group = a << 18 | b << 12 | c << 6 | d;
      *to++ = static_cast<char>(group >> 16);
      *to++ = static_cast<char>(group >> 8);
      *to++ = static_cast<char>(group);
    }
  }
  const auto rest = text.substr(whole);
  if (!rest.empty()) {
    const auto a = value_at(rest.data());
    const auto b = value_at(rest.data() + 1);
    const auto c = rest.size() > 2 ? value_at(rest.data() + 2) : 0u;
    if (((a | b | c) & no_value) != 0)
      return std::nullopt;
    *to++ = static_cast<char>(a << 2 | b >> 4);
    if (rest.size() > 2)
      *to++ = static_cast<char>(b << 4 | c >> 2);
  }
  return static_cast<std::size_t>(to - begin);
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string out;
  out.resize(text.size());
  const auto size = decode_base64(out.data(), text);
  if (!size)
    return std::nullopt;
  out.resize(*size);
  return out;
}

void base64_encoder::add(std::string& to, std::string_view bytes) {
  while (holds_ != 0 && holds_ < 3 && !bytes.empty()) {
    held_[holds_++] = bytes.front();
    bytes.remove_prefix(1);
  }
  if (holds_ == 3) {
    append_groups(to, std::string_view{held_.data(), 3});
    holds_ = 0;
  }
  const auto whole = bytes.size() / 3 * 3;
  append_groups(to, bytes.substr(0, whole));
  for (const auto c : bytes.substr(whole))
    held_[holds_++] = c;
}

void base64_encoder::finish(std::string& to) {
  append_rest(to, std::string_view{held_.data(), holds_});
  holds_ = 0;
}

} // namespace paddock
