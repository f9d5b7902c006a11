// Blocks, one a line. One that is read is the block of its own first address, contains itself, and has with every other one
// nothing in common or all of one of them; the first one without the rest is within itself, and never contains a hole of it. Each one
// without the rest is within the first one exactly when the words of the specification say so.

#include "egress/cidr.hpp"
#include "tests/fuzz/require.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

using namespace paddock::egress;
using paddock::require;

namespace {

std::vector<cidr> those_within(const cidr& whole, const std::vector<cidr>& all) {
  auto got = std::vector<cidr>{};
  std::copy_if(all.begin(), all.end(), std::back_inserter(got), [&](const cidr& x) { return whole.contains(x) && x.bits > whole.bits; });
  return got;
}

/// [E] 3.9.1 as it is written there.
bool contains(const cidr& outer, const std::vector<cidr>& holes, const cidr& inner, const std::vector<cidr>& except) {
  return outer.contains(inner) && std::all_of(holes.begin(), holes.end(), [&](const cidr& hole) {
           return !hole.overlaps(inner) || std::any_of(except.begin(), except.end(), [&](const cidr& x) { return x.contains(hole); });
         });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 600)
    return 0;
  auto text = std::string_view{reinterpret_cast<const char*>(data), size};
  auto all = std::vector<cidr>{};
  for (auto end = std::size_t{0}; end != std::string_view::npos; text.remove_prefix(end == std::string_view::npos ? 0 : end + 1)) {
    end = text.find('\n');
    const auto got = read_cidr(text.substr(0, end));
    if (!got)
      continue;
    require(got->block.bits <= (got->block.of == cidr::family::v4 ? 32u : 128u));
    require(unambiguous_cidr(text.substr(0, end)).has_value() != got->mapped);
    all.push_back(got->block);
  }
  for (const auto& a : all)
    for (const auto& b : all) {
      require(a.contains(a));
      require(!(a.contains(b) && b.contains(a)) || a == b);
      require(!a.contains(b) || a <= b);
    }
  if (all.empty())
    return 0;
  const auto whole = all.front();
  const auto except = those_within(whole, all);
  const auto pierced = address_block::make(whole, except);
  require(pierced && pierced->contains(*pierced));
  require(address_block::make(whole, {})->contains(*pierced));
  require(except.empty() || !pierced->contains(*address_block::make(whole, {})));
  for (const auto& hole : except)
    require(!pierced->contains(*address_block::make(hole, {})));
  for (const auto& x : all) {
    const auto less = those_within(x, all);
    for (std::size_t n = 0; n <= less.size(); ++n) { // the first holes of it only
      const auto some_of_them = std::vector<cidr>(less.begin(), less.begin() + static_cast<std::ptrdiff_t>(n));
      require(pierced->contains(*address_block::make(x, some_of_them)) == contains(whole, except, x, some_of_them));
    }
  }
  const auto some = holes{all};
  for (const auto& x : all)
    require(some.swallow(x));
  for (std::size_t i = 0; i < some.all().size(); ++i)
    for (std::size_t k = i + 1; k < some.all().size(); ++k)
      require(!some.all()[i].overlaps(some.all()[k]));
  return 0;
}
