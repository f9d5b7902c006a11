// The host's reader of a walk: any bytes, in pieces of any size, give the same entries and the same end, and every entry is
// one that the plan allows.

#include "guest/file_listing.hpp"
#include "guest/paths.hpp"
#include "guest/walk_records.hpp"
#include "tests/fuzz/require.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace paddock::guest;
using paddock::require;

namespace {

constexpr std::uint64_t max_safe = 9'007'199'254'740'991;

struct outcome {
  std::vector<walk_entry> entries;
  std::string fault;
  std::string failure;
  friend bool operator==(const outcome&, const outcome&) = default;
};

outcome read(const walk_plan& plan, std::string_view bytes, std::size_t piece) {
  auto reader = walk_reader{plan};
  auto seen = outcome{};
  while (!bytes.empty()) {
    auto more = reader.push(bytes.substr(0, piece));
    seen.entries.insert(seen.entries.end(), more.begin(), more.end());
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  if (reader.fault())
    seen.fault = reader.fault()->text;
  if (auto good = reader.finish(0, false, false); !good)
    seen.failure = good.error().text;
  require(!reader.finish(1, false, false));
  return seen;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  const auto bytes = std::string_view{reinterpret_cast<const char*>(data), size}.substr(1);
  auto plan = walk_plan{"/r", {"**"}, false, std::nullopt, 3, 1};
  const auto whole = read(plan, bytes, bytes.size() + 1);
  require(read(plan, bytes, data[0] % 32 + std::size_t{1}) == whole);
  require(whole.entries.size() <= plan.max_entries);
  require(whole.fault.empty() || whole.fault == whole.failure);
  for (const auto& entry : whole.entries)
    require(within(plan.root, normalised(entry.path)) && entry.size <= max_safe);
  for (const auto& file : listed_files(0, bytes))
    require(!file.path.empty() && file.size <= max_safe && bytes.find(file.path + "\t") != std::string_view::npos);
  return 0;
}
