#include "guest/file_listing.hpp"

#include <charconv>

namespace paddock::guest {

std::vector<std::string> listing_arguments(const std::string& root) {
  return {root, "-type", "f", "-printf", "%p\\t%s\\n"};
}

std::vector<listed_file> listed_files(int exit_code, std::string_view output) {
  constexpr std::uint64_t max_safe = 9'007'199'254'740'991;
  auto result = std::vector<listed_file>{};
  if (exit_code != 0)
    return result;
  while (!output.empty()) {
    auto end = output.find('\n');
    auto line = output.substr(0, end);
    output = end == std::string_view::npos ? std::string_view{} : output.substr(end + 1);
    auto tab = line.find('\t');
    if (tab == std::string_view::npos || tab == 0)
      continue;
    auto digits = line.substr(tab + 1);
    auto size = std::uint64_t{0};
    auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    if (error == std::errc{} && stop == digits.data() + digits.size() && size <= max_safe)
      result.push_back({std::string{line.substr(0, tab)}, size});
  }
  return result;
}

} // namespace paddock::guest
