#include "documents/scalar.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace paddock::documents {

namespace {

using nlohmann::json;

constexpr std::string_view digits = "0123456789";

/// Reads a text from its front.
class cursor {
public:
  explicit cursor(std::string_view text) : rest_(text) {
  }
  bool take(char x) {
    if (!rest_.starts_with(x))
      return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take(std::string_view x) {
    if (!rest_.starts_with(x))
      return false;
    rest_.remove_prefix(x.size());
    return true;
  }
  bool take_sign() {
    return take('-') || take('+');
  }
  std::string_view take_all(std::string_view among) {
    const auto got = rest_.substr(0, rest_.find_first_not_of(among));
    rest_.remove_prefix(got.size());
    return got;
  }
  [[nodiscard]] bool at_end() const {
    return rest_.empty();
  }

private:
  std::string_view rest_;
};

bool has_digit(std::string_view x) {
  return x.find_first_of(digits) != std::string_view::npos;
}

bool is_number_of_1_2(std::string_view text) {
  auto at = cursor{text};
  if (at.take("0o"))
    return !at.take_all("01234567").empty() && at.at_end();
  if (at.take("0x"))
    return !at.take_all("0123456789abcdefABCDEF").empty() && at.at_end();
  at.take_sign();
  const auto whole = at.take_all(digits);
  const auto part = at.take('.') ? at.take_all(digits) : std::string_view{};
  if (whole.empty() && part.empty())
    return false;
  if (at.take('e') || at.take('E')) {
    at.take_sign();
    if (at.take_all(digits).empty())
      return false;
  }
  return at.at_end();
}

/// The rest of `12:30:59.5`, from the first colon on.
bool is_sexagesimal(cursor at) {
  while (at.take(':')) {
    const auto two = at.take_all(digits);
    if (two.empty() || two.size() > 2 || (two.size() == 2 && two.front() > '5'))
      return false;
  }
  if (at.take('.'))
    at.take_all("0123456789_");
  return at.at_end();
}

bool is_number_of_1_1(std::string_view text) {
  auto at = cursor{text};
  at.take_sign();
  if (at.take("0b"))
    return !at.take_all("01_").empty() && at.at_end();
  if (at.take("0x"))
    return !at.take_all("0123456789abcdefABCDEF_").empty() && at.at_end();
  const auto whole = at.take_all("0123456789_");
  if (whole.starts_with('_'))
    return false;
  if (at.at_end())
    return !whole.empty() && (whole.size() == 1 || whole.front() != '0' || whole.find_first_of("89") == std::string_view::npos);
  if (!whole.empty() && is_sexagesimal(at))
    return true;
  if (!at.take('.'))
    return false;
  const auto part = at.take_all("0123456789_");
  if (!has_digit(whole) && !has_digit(part))
    return false;
  if ((at.take('e') || at.take('E')) && (!at.take_sign() || at.take_all(digits).empty()))
    return false;
  return at.at_end();
}

/// What both versions read alike; nothing where it is no number of JSON.
std::optional<json> number_of(std::string_view text) {
  auto at = cursor{text};
  if (at.take("0x")) {
    auto value = std::uint64_t{0};
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    return error == std::errc{} ? std::optional{json(value)} : std::nullopt;
  }
  auto plain = std::string{at.take('-') ? "-" : ""};
  at.take('+');
  const auto whole = at.take_all(digits);
  if (whole.size() > 1 && whole.front() == '0')
    return std::nullopt;
  plain += whole.empty() ? "0" : whole;
  if (at.take('.')) {
    const auto part = at.take_all(digits);
    plain += "." + std::string{part.empty() ? "0" : part};
  }
  plain += at.take_all("eE+-0123456789");
  auto got = json::parse(plain, nullptr, false);
  return got.is_number() ? std::optional{std::move(got)} : std::nullopt;
}

template <std::size_t N>
bool among(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr auto nothing = std::to_array<std::string_view>({"", "~", "null", "Null", "NULL"});
constexpr auto yes = std::to_array<std::string_view>({"true", "True", "TRUE"});
constexpr auto no = std::to_array<std::string_view>({"false", "False", "FALSE"});
constexpr auto of_1_1 =
  std::to_array<std::string_view>({"y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "n", "N", "no", "No", "NO", "off", "Off", "OFF"});
constexpr auto not_of_json =
  std::to_array<std::string_view>({".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF", ".nan", ".NaN", ".NAN"});

} // namespace

meaning meaning_of(const std::string& plain) {
  if (among(plain, nothing))
    return {nullptr};
  if (among(plain, yes) || among(plain, no))
    return {among(plain, yes)};
  if (among(plain, of_1_1) || among(plain, not_of_json))
    return {plain, true};
  const auto in_1_1 = is_number_of_1_1(plain);
  const auto in_1_2 = is_number_of_1_2(plain);
  if (!in_1_1 && !in_1_2)
    return {plain};
  auto number = in_1_1 && in_1_2 ? number_of(plain) : std::nullopt;
  return number ? meaning{std::move(*number)} : meaning{plain, true};
}

} // namespace paddock::documents
