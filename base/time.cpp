#include "base/time.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

namespace paddock {

namespace {

std::string calendar(time_source::wall_clock::time_point at, bool with_millis) {
  using namespace std::chrono;
  const auto since = floor<milliseconds>(at.time_since_epoch());
  const auto whole = floor<seconds>(since);
  const auto text = static_cast<std::time_t>(whole.count());
  std::tm parts{};
  ::gmtime_r(&text, &parts);
  std::array<char, 96> out{};
  if (with_millis)
    std::snprintf(out.data(), out.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                  parts.tm_hour, parts.tm_min, parts.tm_sec, static_cast<int>((since - whole).count()));
  else
    std::snprintf(out.data(), out.size(), "%04d-%02d-%02dT%02d:%02d:%02dZ", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                  parts.tm_hour, parts.tm_min, parts.tm_sec);
  return out.data();
}

/// A number of exactly `n` digits, taken from the front of `text`; nothing when it does not begin so.
std::optional<int> take_digits(std::string_view& text, std::size_t n) {
  if (text.size() < n)
    return std::nullopt;
  auto number = 0;
  for (const auto x : text.substr(0, n)) {
    if (x < '0' || x > '9')
      return std::nullopt;
    number = number * 10 + (x - '0');
  }
  text.remove_prefix(n);
  return number;
}

/// Takes `x` from the front of `text`.
bool take(std::string_view& text, char x) {
  if (!text.starts_with(x))
    return false;
  text.remove_prefix(1);
  return true;
}

/// A number of two digits, at most `most`, after `before`.
std::optional<int> take_part(std::string_view& text, char before, int most) {
  if (!take(text, before))
    return std::nullopt;
  const auto got = take_digits(text, 2);
  return got && *got <= most ? got : std::nullopt;
}

/// The whole of `text`, which is `Z` or `+hh:mm`: how far ahead of UTC.
std::optional<std::chrono::minutes> read_offset(std::string_view text) {
  if (text == "Z")
    return std::chrono::minutes{0};
  const auto behind = text.starts_with('-');
  const auto h = take_part(text, behind ? '-' : '+', 23);
  const auto m = h ? take_part(text, ':', 59) : std::nullopt;
  if (!m || !text.empty())
    return std::nullopt;
  const auto ahead = std::chrono::hours{*h} + std::chrono::minutes{*m};
  return behind ? -ahead : ahead;
}

/// Takes a fraction of a second, where there is one. False: a point without digits.
bool take_fraction(std::string_view& text) {
  if (!take(text, '.'))
    return true;
  const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(end);
  return end != 0;
}

} // namespace

std::string rfc3339_millis(time_source::wall_clock::time_point at) {
  return calendar(at, true);
}

std::string rfc3339_seconds(time_source::wall_clock::time_point at) {
  return calendar(at, false);
}

std::optional<time_source::wall_clock::time_point> read_instant(std::string_view text) {
  using namespace std::chrono;
  using clock = time_source::wall_clock;
  const auto y = take_digits(text, 4);
  const auto mo = y ? take_part(text, '-', 12) : std::nullopt;
  const auto d = mo ? take_part(text, '-', 31) : std::nullopt;
  const auto h = d ? take_part(text, 'T', 23) : std::nullopt;
  const auto mi = h ? take_part(text, ':', 59) : std::nullopt;
  const auto s = mi ? take_part(text, ':', 60) : std::nullopt;
  if (!s || !take_fraction(text))
    return std::nullopt;
  const auto ahead = read_offset(text);
  const auto date = year_month_day{year{*y}, month{static_cast<unsigned>(*mo)}, day{static_cast<unsigned>(*d)}};
  if (!ahead || !date.ok())
    return std::nullopt;
  const auto at = sys_days{date} + hours{*h} + minutes{*mi} + seconds{*s} - *ahead;
  return std::clamp<sys_seconds>(at, sys_seconds{}, floor<seconds>(clock::time_point::max()));
}

} // namespace paddock
