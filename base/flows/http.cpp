#include "base/flows/http.hpp"

#include <algorithm>

namespace paddock {

namespace {

char lower(char x) {
  return x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x;
}

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

} // namespace

std::optional<std::string_view> header(const http_headers& all, std::string_view name) {
  for (const auto& [key, value] : all)
    if (same_name(key, name))
      return value;
  return std::nullopt;
}

} // namespace paddock
