#pragma once

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace paddock::test {

/// The content of a file that the test cannot do without.
inline std::string text_of(const std::string& file) {
  auto from = std::ifstream{file, std::ios::binary};
  if (!from)
    throw std::runtime_error{"cannot read " + file};
  return {std::istreambuf_iterator<char>{from}, {}};
}

} // namespace paddock::test
