#include "config/duration.hpp"

#include <array>
#include <charconv>
#include <cstdint>

namespace paddock::config {

namespace {

constexpr std::uint64_t largest = (std::uint64_t{1} << 53) - 1;

struct unit {
  std::string_view name;
  std::uint64_t millis;
};
constexpr auto units = std::array{unit{"ms", 1}, unit{"s", 1'000}, unit{"m", 60'000}, unit{"h", 3'600'000}};

} // namespace

std::optional<std::uint64_t> parse_whole(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text.front() == '0'))
    return std::nullopt;
  auto got = std::uint64_t{0};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), got);
  if (error != std::errc{} || end != text.data() + text.size() || got > largest)
    return std::nullopt;
  return got;
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto count = parse_whole(text.substr(0, digits));
  if (!count)
    return std::nullopt;
  const auto name = digits == text.size() ? std::string_view{"ms"} : text.substr(digits);
  for (const auto& x : units)
    if (x.name == name) {
      if (*count > largest / x.millis)
        return std::nullopt;
      return std::chrono::milliseconds{*count * x.millis};
    }
  return std::nullopt;
}

std::string write_duration(std::chrono::milliseconds x) {
  const auto count = static_cast<std::uint64_t>(x.count());
  if (count != 0)
    for (auto it = units.rbegin(); it != units.rend(); ++it)
      if (count % it->millis == 0)
        return std::to_string(count / it->millis) + std::string{it->name};
  return "0ms";
}

} // namespace paddock::config
