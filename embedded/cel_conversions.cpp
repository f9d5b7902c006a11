#include "base/utf8.hpp"
#include "embedded/cel_function.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace paddock::embedded::cel {

namespace {

tl::unexpected<std::string> no_conversion(const value& from, const char* to) {
  return tl::unexpected{"type conversion error from '" + from.type_name() + "' to '" + to + "'"};
}

template <class T>
std::optional<T> whole(const std::string& text) {
  T out = 0;
  const auto digits = std::string_view{text}.substr(text.starts_with('+') && text.size() > 1 && text[1] != '-' ? 1 : 0);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size())
    return std::nullopt;
  return out;
}

evaluated to_int(arguments all) {
  const auto& x = all[0];
  if (const auto* n = x.as<std::uint64_t>()) {
    if (*n > static_cast<std::uint64_t>(INT64_MAX))
      return tl::unexpected{std::string{"integer overflow"}};
    return give(static_cast<std::int64_t>(*n));
  }
  if (const auto* n = x.as<double>()) {
    if (!(*n > -9223372036854775808.0 && *n < 9223372036854775808.0))
      return tl::unexpected{std::string{"integer overflow"}};
    return give(static_cast<std::int64_t>(*n));
  }
  if (const auto* text = x.as<std::string>()) {
    if (const auto n = whole<std::int64_t>(*text))
      return give(*n);
    return no_conversion(x, "int");
  }
  return x;
}

evaluated to_uint(arguments all) {
  const auto& x = all[0];
  if (const auto* n = x.as<std::int64_t>()) {
    if (*n < 0)
      return tl::unexpected{std::string{"unsigned integer overflow"}};
    return give(static_cast<std::uint64_t>(*n));
  }
  if (const auto* n = x.as<double>()) {
    if (!(*n >= 0 && *n < 18446744073709551616.0))
      return tl::unexpected{std::string{"unsigned integer overflow"}};
    return give(static_cast<std::uint64_t>(*n));
  }
  if (const auto* text = x.as<std::string>()) {
    if (const auto n = whole<std::uint64_t>(*text))
      return give(*n);
    return no_conversion(x, "uint");
  }
  return x;
}

evaluated to_double(arguments all) {
  const auto& x = all[0];
  if (const auto* n = x.as<std::int64_t>())
    return give(static_cast<double>(*n));
  if (const auto* n = x.as<std::uint64_t>())
    return give(static_cast<double>(*n));
  if (const auto* text = x.as<std::string>()) {
    char* end = nullptr;
    const auto n = std::strtod(text->c_str(), &end);
    const bool plain = !text->empty() && text->find_first_of(" \t\n\vxX") == std::string::npos;
    return plain && *end == '\0' ? give(n) : no_conversion(x, "double");
  }
  return x;
}

/// As Go writes the shortest text that reads back as the same number.
std::string shortest(double x) {
  if (std::isnan(x))
    return "NaN";
  if (std::isinf(x))
    return x > 0 ? "+Inf" : "-Inf";
  std::array<char, 64> room{};
  auto [end, error] = std::to_chars(room.data(), room.data() + room.size(), x, std::chars_format::scientific);
  const std::string scientific{room.data(), end};
  const auto exponent = std::atoi(scientific.c_str() + scientific.find('e') + 1);
  if (exponent < -4 || exponent >= 21)
    return scientific;
  end = std::to_chars(room.data(), room.data() + room.size(), x, std::chars_format::fixed).ptr;
  return {room.data(), end};
}

evaluated to_text(arguments all) {
  const auto& x = all[0];
  if (const auto* n = x.as<std::int64_t>())
    return give(std::to_string(*n));
  if (const auto* n = x.as<std::uint64_t>())
    return give(std::to_string(*n));
  if (const auto* n = x.as<double>())
    return give(shortest(*n));
  if (const auto* b = x.as<bool>())
    return give(std::string{*b ? "true" : "false"});
  if (const auto* raw = x.as<bytes>()) {
    if (!is_utf8(raw->data.get()))
      return tl::unexpected{std::string{"invalid UTF-8 in bytes, cannot convert to string"}};
    return give(raw->data.get());
  }
  return x;
}

evaluated to_bool(arguments all) {
  const auto* text = all[0].as<std::string>();
  if (text == nullptr)
    return all[0];
  for (const auto* yes : {"1", "t", "T", "true", "TRUE", "True"})
    if (*text == yes)
      return give(true);
  for (const auto* no : {"0", "f", "F", "false", "FALSE", "False"})
    if (*text == no)
      return give(false);
  return no_conversion(all[0], "bool");
}

evaluated to_bytes(arguments all) {
  const auto* text = all[0].as<std::string>();
  return text == nullptr ? all[0] : give(bytes{*text});
}

} // namespace

void add_conversions(std::vector<overload>& to, add_overload add) {
  for (const auto* from : {"int", "uint", "double", "string"}) {
    const auto takes = "(" + std::string{from} + ") ";
    add(to, "int" + takes + "int", &to_int);
    add(to, "uint" + takes + "uint", &to_uint);
    add(to, "double" + takes + "double", &to_double);
    add(to, "string" + takes + "string", &to_text);
  }
  add(to, "string(bool) string", &to_text);
  add(to, "string(bytes) string", &to_text);
  add(to, "bool(bool) bool", &to_bool);
  add(to, "bool(string) bool", &to_bool);
  add(to, "bytes(bytes) bytes", &to_bytes);
  add(to, "bytes(string) bytes", &to_bytes);
  add(to, "dyn(dyn) dyn", [](arguments all) -> evaluated { return all[0]; });
  add(to, "type(dyn) type", [](arguments all) -> evaluated { return give(type_value{all[0].type_name()}); });
}

} // namespace paddock::embedded::cel
