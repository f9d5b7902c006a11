#include "audit/words.hpp"

#include "egress/labels.hpp"

#include <algorithm>

namespace paddock::audit {

namespace {

bool is_letter_or_digit(char x) {
  return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (x >= '0' && x <= '9');
}

/// Whether each character is a letter, a digit or one of `more`.
bool is_made_of(std::string_view text, std::string_view more) {
  return std::ranges::all_of(text, [&](char x) { return is_letter_or_digit(x) || more.find(x) != std::string_view::npos; });
}

bool is_label_value(std::string_view x) {
  return x.size() <= 63 && is_made_of(x, "-_.") && (x.empty() || (is_letter_or_digit(x.front()) && is_letter_or_digit(x.back())));
}

} // namespace

tl::expected<egress::label_map, std::string> read_labels(std::string_view text) {
  auto got = egress::label_map{};
  for (auto from = std::size_t{0}; !text.empty() && from <= text.size();) {
    const auto end = std::min(text.find(',', from), text.size());
    const auto one = text.substr(from, end - from);
    from = end + 1;
    const auto equals = one.find('=');
    if (equals == std::string_view::npos || !egress::is_label_key(one.substr(0, equals)) || !is_label_value(one.substr(equals + 1)))
      return tl::unexpected{"\"" + std::string{one} + "\" is no label: a label is KEY=VALUE"};
    if (!got.emplace(one.substr(0, equals), one.substr(equals + 1)).second)
      return tl::unexpected{"the label " + std::string{one.substr(0, equals)} + " is given twice"};
  }
  return got;
}

std::string one_line(std::string text) {
  std::ranges::replace_if(
    text, [](unsigned char x) { return x < 0x20 || x == 0x7f; }, ' ');
  return text;
}

std::string shell_word(const std::string& text) {
  if (!text.empty() && is_made_of(text, "-_./:=,@+"))
    return text;
  auto got = std::string{"'"};
  for (const auto x : text)
    got += x == '\'' ? std::string{"'\\''"} : std::string{x};
  return got + "'";
}

} // namespace paddock::audit
