// Blocks, one a line. One that is read is the block of its own first address, contains itself, and has with every other one
// nothing in common or all of one of them; the first one without the rest is within itself, and never contains a hole of it.

#include "egress/cidr.hpp"
#include "tests/fuzz/require.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

using namespace paddock::egress;
using paddock::require;

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
  auto except = std::vector<cidr>{};
  for (const auto& x : all)
    if (whole.contains(x) && x.bits > whole.bits)
      except.push_back(x);
  const auto pierced = address_block::make(whole, except);
  require(pierced && pierced->contains(*pierced));
  require(address_block::make(whole, {})->contains(*pierced));
  require(except.empty() || !pierced->contains(*address_block::make(whole, {})));
  for (const auto& hole : except)
    require(!pierced->contains(*address_block::make(hole, {})));
  const auto some = holes{all};
  for (const auto& x : all)
    require(some.swallow(x));
  for (std::size_t i = 0; i < some.all().size(); ++i)
    for (std::size_t k = i + 1; k < some.all().size(); ++k)
      require(!some.all()[i].overlaps(some.all()[k]));
  return 0;
}
