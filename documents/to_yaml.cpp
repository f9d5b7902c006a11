#include "documents/documents.hpp"
#include "documents/scalar.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace paddock::documents {

namespace {

using nlohmann::json;

/// Whether every reader takes it for this text without quotes.
bool is_plain(const std::string& text) {
  const auto is_word = [](char x) { return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (x >= '0' && x <= '9') || x == '_'; };
  const auto is_inner = [&](char x) { return is_word(x) || x == '-' || x == '.' || x == '/' || x == ':'; };
  if (text.empty() || !std::ranges::all_of(text, is_inner) || text.back() == ':' || text.starts_with("..."))
    return false;
  const auto means = meaning_of(text);
  return (is_word(text.front()) || text.front() == '.' || text.front() == '/') && !means.in_doubt && means.value.is_string();
}

/// The code point at `at`, which moves behind it. @pre `text` is UTF-8
std::uint32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  if (first < 0x80)
    return first;
  const auto more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  auto got = static_cast<std::uint32_t>(first & (0x3f >> more));
  for (auto i = 0; i < more; ++i)
    got = (got << 6) | (static_cast<unsigned char>(text[at++]) & 0x3f);
  return got;
}

std::string in_hex(char kind, std::uint32_t x, unsigned digits) {
  auto got = std::string{'\\', kind};
  while (digits-- > 0)
    got += "0123456789abcdef"[(x >> (4 * digits)) & 15];
  return got;
}

/// Only printable ASCII stands there as it is: some of the rest ends a line to some readers.
std::string in_quotes(std::string_view text) {
  auto got = std::string{'"'};
  for (auto at = std::size_t{0}; at < text.size();) {
    const auto x = next_code_point(text, at);
    if (x == '"' || x == '\\')
      got += '\\';
    if (x >= ' ' && x < 0x7f)
      got += static_cast<char>(x);
    else if (x == '\n')
      got += "\\n";
    else
      got += x < 0x100 ? in_hex('x', x, 2) : x < 0x10000 ? in_hex('u', x, 4) : in_hex('U', x, 8);
  }
  return got + '"';
}

std::string text_of(const std::string& text) {
  return is_plain(text) ? text : in_quotes(text);
}

/// A number that every version reads as one: with an exponent it needs a dot.
std::string number_text(const json& number) {
  auto got = number.dump();
  if (const auto exponent = got.find('e'); exponent != std::string::npos && got.find('.') == std::string::npos)
    got.insert(exponent, ".0");
  return got;
}

bool is_block(const json& x) {
  return x.is_structured() && !x.empty();
}

/// What stands on one line. @pre `!is_block(x)`
std::string line_text(const json& x) {
  if (x.is_string())
    return text_of(x.get_ref<const std::string&>());
  return x.is_number() ? number_text(x) : x.dump();
}

/// A name with its colon. Readers look for the colon in the first 1024 characters, unless the name is marked as one.
std::string name_text(const std::string& name, std::size_t indent) {
  const auto text = text_of(name);
  return text.size() <= 1000 ? text + ":" : "? " + text + "\n" + std::string(indent, ' ') + ":";
}

/// Appends the lines of `value`, indented; of the first one the indentation is already there. @pre `is_block(value)`
void append(std::string& out, const json& value, std::size_t indent) {
  const auto is_map = value.is_object();
  auto first = true;
  for (const auto& [key, x] : value.items()) {
    if (!std::exchange(first, false))
      out.append(indent, ' ');
    out += is_map ? name_text(key, indent) : "-";
    if (is_block(x)) {
      out += is_map ? "\n" + std::string(indent + 2, ' ') : " ";
      append(out, x, indent + 2);
    } else {
      out += " " + line_text(x) + "\n";
    }
  }
}

} // namespace

std::string to_yaml(const json& value) {
  if (!is_block(value))
    return line_text(value) + "\n";
  auto out = std::string{};
  append(out, value, 0);
  return out;
}

} // namespace paddock::documents
