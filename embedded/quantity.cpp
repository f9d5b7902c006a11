#include "embedded/quantity.hpp"

#include "embedded/pod_facts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace paddock::embedded {

namespace {

constexpr std::array<std::pair<std::string_view, double>, 16> suffixes{{
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
  {"Ei", 1024.0 * 1024 * 1024 * 1024 * 1024 * 1024},
}};

} // namespace

std::optional<double> read_quantity(std::string_view text) {
  auto number = 0.0;
  auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{})
    return std::nullopt;
  auto suffix = text.substr(static_cast<std::size_t>(rest - text.data()));
  // It also reads what no quantity says: `inf` and `nan`.
  for (const auto& [name, factor] : suffixes)
    if (suffix == name && std::isfinite(number * factor))
      return number * factor;
  return std::nullopt;
}

double quantity_in(const nlohmann::json& map, std::string_view name) {
  const auto& value = member_in(map, "", name);
  auto result = value.is_number()   ? value.get<double>()
                : value.is_string() ? read_quantity(value.get_ref<const std::string&>()).value_or(0)
                                    : 0;
  return std::max(result, 0.0);
}

} // namespace paddock::embedded
