#include "messages/problem.hpp"

#include <array>
#include <utility>

namespace paddock {

namespace {

constexpr std::array<std::pair<verdict, std::string_view>, 7> names = {{{verdict::failed, "failed"},
                                                                        {verdict::usage, "usage"},
                                                                        {verdict::refused, "refused"},
                                                                        {verdict::unknown, "unknown"},
                                                                        {verdict::not_found, "not-found"},
                                                                        {verdict::overtaken, "overtaken"},
                                                                        {verdict::unreachable, "unreachable"}}};

} // namespace

std::string to_string(verdict x) {
  for (const auto& [value, name] : names)
    if (value == x)
      return std::string{name};
  return "none";
}

bool verdict_from(std::string_view text, verdict& x) {
  for (const auto& [value, name] : names)
    if (name == text) {
      x = value;
      return true;
    }
  return false;
}

bool from_integer(std::uint8_t value, verdict& x) {
  if (value < 1 || value > names.size())
    return false;
  x = static_cast<verdict>(value);
  return true;
}

} // namespace paddock
