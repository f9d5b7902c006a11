#include "embedded/quantity.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace paddock::embedded {

namespace {

constexpr std::array<std::pair<std::string_view, double>, 15> suffixes{{
  {"", 1},
  {"n", 1e-9},
  {"u", 1e-6},
  {"m", 1e-3},
  {"k", 1e3},
  {"M", 1e6},
  {"G", 1e9},
  {"T", 1e12},
  {"P", 1e15},
  {"E", 1e18},
  {"Ki", 1024.0},
  {"Mi", 1024.0 * 1024},
  {"Gi", 1024.0 * 1024 * 1024},
  {"Ti", 1024.0 * 1024 * 1024 * 1024},
  {"Pi", 1024.0 * 1024 * 1024 * 1024 * 1024},
}};

} // namespace

std::optional<double> read_quantity(std::string_view text) {
  auto number = 0.0;
  auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{})
    return std::nullopt;
  auto suffix = text.substr(static_cast<std::size_t>(rest - text.data()));
  for (const auto& [name, factor] : suffixes)
    if (suffix == name)
      return number * factor;
  return std::nullopt;
}

} // namespace paddock::embedded
