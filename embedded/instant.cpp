#include "embedded/instant.hpp"

#include <chrono>

namespace paddock::embedded {

std::optional<time_source::wall_clock::time_point> read_instant(std::string_view text) {
  if (text.size() < 20)
    return std::nullopt;
  auto digits = [&](std::size_t from, std::size_t n) {
    auto result = 0;
    for (auto i = from; i < from + n; ++i)
      result = text[i] >= '0' && text[i] <= '9' && result >= 0 ? result * 10 + (text[i] - '0') : -1;
    return result;
  };
  using namespace std::chrono;
  auto day =
    year_month_day{year{digits(0, 4)}, month{static_cast<unsigned>(digits(5, 2))}, std::chrono::day{static_cast<unsigned>(digits(8, 2))}};
  if (!day.ok() || digits(11, 2) < 0 || digits(14, 2) < 0 || digits(17, 2) < 0)
    return std::nullopt;
  auto at = sys_days{day} + hours{digits(11, 2)} + minutes{digits(14, 2)} + seconds{digits(17, 2)};
  // An offset other than Z: `+hh:mm` at the end.
  if (text.back() != 'Z' && text.size() >= 25) {
    auto zone = text.size() - 6;
    auto offset = hours{digits(zone + 1, 2)} + minutes{digits(zone + 4, 2)};
    if (digits(zone + 1, 2) < 0 || digits(zone + 4, 2) < 0)
      return std::nullopt;
    at -= text[zone] == '-' ? -offset : offset;
  }
  return time_point_cast<time_source::wall_clock::duration>(at);
}

} // namespace paddock::embedded
