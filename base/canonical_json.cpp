#include "base/canonical_json.hpp"

#include "base/utf8.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

namespace paddock {

namespace {

/// The number of a key that the reference runtime treats as an array index: canonical, and below 2^32 - 1.
std::optional<std::uint32_t> index_key(const std::string& key) {
  if (key.empty() || key.size() > 10 || (key.size() > 1 && key[0] == '0'))
    return std::nullopt;
  std::uint64_t value = 0;
  for (auto c : key) {
    if (c < '0' || c > '9')
      return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (value >= 0xffffffffu)
    return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

/// UTF-16 code units of `text`, which is well-formed UTF-8.
std::u16string utf16(const std::string& text) {
  std::u16string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<std::uint8_t>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    std::uint32_t code = length == 1 ? lead : lead & (0x7fu >> length);
    for (std::size_t k = 1; k < length && i + k < text.size(); ++k)
      code = code << 6 | (static_cast<std::uint8_t>(text[i + k]) & 0x3fu);
    if (code >= 0x10000) {
      out += static_cast<char16_t>(0xd800 + ((code - 0x10000) >> 10));
      out += static_cast<char16_t>(0xdc00 + ((code - 0x10000) & 0x3ff));
    } else {
      out += static_cast<char16_t>(code);
    }
    i += length;
  }
  return out;
}

bool key_before(const std::string& a, const std::string& b) {
  const auto ia = index_key(a);
  const auto ib = index_key(b);
  if (ia && ib)
    return *ia < *ib;
  if (ia || ib)
    return ia.has_value();
  return utf16(a) < utf16(b);
}

void write_string(std::string& out, const std::string& raw) {
  out += '"';
  for (auto c : to_utf8_with_replacement(raw)) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\t': out += "\\t"; break;
      case '\n': out += "\\n"; break;
      case '\f': out += "\\f"; break;
      case '\r': out += "\\r"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          std::array<char, 8> hex{};
          std::snprintf(hex.data(), hex.size(), "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
          out += hex.data();
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

/// ECMAScript's Number::toString of a finite double.
void write_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  if (value == 0) {
    out += '0';
    return;
  }
  if (value < 0) {
    out += '-';
    value = -value;
  }
  // Shortest digits and exponent: d.ddde[+-]xx
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific).ptr;
  std::string digits;
  const auto* at = text.data();
  for (; at != end && *at != 'e'; ++at)
    if (*at != '.')
      digits += *at;
  int exponent = 0;
  ++at;
  if (*at == '+')
    ++at;
  std::from_chars(at, end, exponent);
  const auto k = static_cast<int>(digits.size());
  const auto n = exponent + 1; // the decimal point stands after n digits
  if (k <= n && n <= 21) {
    out += digits + std::string(static_cast<std::size_t>(n - k), '0');
  } else if (0 < n && n <= 21) {
    out += digits.substr(0, static_cast<std::size_t>(n)) + '.' + digits.substr(static_cast<std::size_t>(n));
  } else if (-6 < n && n <= 0) {
    out += "0." + std::string(static_cast<std::size_t>(-n), '0') + digits;
  } else {
    const auto shown = n - 1;
    out += digits.substr(0, 1);
    if (k > 1)
      out += '.' + digits.substr(1);
    out += shown < 0 ? "e-" : "e+";
    out += std::to_string(shown < 0 ? -shown : shown);
  }
}

void write(std::string& out, const nlohmann::json& value) {
  using type = nlohmann::json::value_t;
  switch (value.type()) {
    case type::object: {
      std::vector<const std::string*> keys;
      for (const auto& item : value.items())
        keys.push_back(&item.key());
      std::sort(keys.begin(), keys.end(), [](const auto* a, const auto* b) { return key_before(*a, *b); });
      out += '{';
      auto first = true;
      for (const auto* key : keys) {
        if (!std::exchange(first, false))
          out += ',';
        write_string(out, *key);
        out += ':';
        write(out, value.at(*key));
      }
      out += '}';
      break;
    }
    case type::array: {
      out += '[';
      auto first = true;
      for (const auto& item : value) {
        if (!std::exchange(first, false))
          out += ',';
        write(out, item);
      }
      out += ']';
      break;
    }
    case type::string: write_string(out, value.get_ref<const std::string&>()); break;
    case type::boolean: out += value.get<bool>() ? "true" : "false"; break;
    case type::number_integer:
    case type::number_unsigned:
    case type::number_float: write_number(out, value.get<double>()); break;
    default: out += "null"; break;
  }
}

} // namespace

std::string canonical_json(const nlohmann::json& value) {
  std::string out;
  write(out, value);
  return out;
}

} // namespace paddock
