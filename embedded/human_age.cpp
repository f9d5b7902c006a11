#include "embedded/human_age.hpp"

namespace paddock::embedded {

namespace {

constexpr std::int64_t minute = 60;
constexpr std::int64_t hour = 60 * minute;
constexpr std::int64_t day = 24 * hour;
constexpr std::int64_t year = 365 * day;

std::string whole(std::int64_t n, const char* unit) {
  return std::to_string(n) + unit;
}

/// The larger unit, and the rest in the smaller one unless it is nothing.
std::string mixed(std::int64_t seconds, std::int64_t large, const char* large_unit, std::int64_t small, const char* small_unit) {
  const auto rest = seconds % large / small;
  return whole(seconds / large, large_unit) + (rest == 0 ? std::string{} : whole(rest, small_unit));
}

} // namespace

std::string human_age(std::string_view instant, time_source::wall_clock::time_point now) {
  const auto then = read_instant(instant);
  if (!then)
    return "<unknown>";
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - *then).count();
  if (seconds < -1)
    return "<invalid>";
  if (seconds < 2 * minute)
    return whole(std::max<std::int64_t>(seconds, 0), "s");
  if (seconds < 10 * minute)
    return mixed(seconds, minute, "m", 1, "s");
  if (seconds < 3 * hour)
    return whole(seconds / minute, "m");
  if (seconds < 8 * hour)
    return mixed(seconds, hour, "h", minute, "m");
  if (seconds < 2 * day)
    return whole(seconds / hour, "h");
  if (seconds < 8 * day)
    return mixed(seconds, day, "d", hour, "h");
  if (seconds < 2 * year)
    return whole(seconds / day, "d");
  if (seconds < 8 * year)
    return mixed(seconds, year, "y", day, "d");
  return whole(seconds / year, "y");
}

} // namespace paddock::embedded
