#include "base/time.hpp"

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

} // namespace

std::string rfc3339_millis(time_source::wall_clock::time_point at) {
  return calendar(at, true);
}

std::string rfc3339_seconds(time_source::wall_clock::time_point at) {
  return calendar(at, false);
}

} // namespace paddock
