#define CAF_SUITE duplicate_members

#include "embedded/duplicate_members.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock::embedded;

namespace {

using paths = std::vector<std::string>;

/// An object below `key` with `n` members more than it has names.
std::string twice_below(const std::string& key, int n) {
  auto out = "{\"" + key + "\":{\"a\":0";
  for (int i = 0; i < n; ++i)
    out += ",\"a\":0";
  return out + "}}";
}

} // namespace

SCENARIO("members that an object has twice are told by their paths") {
  CHECK_EQ(duplicate_members(R"({"a":{"b":1,"b":2},"l":[{},{"c":1,"c":2}],"a":1})"), (paths{"a.b", "l[1].c", "a"}));
  CHECK_EQ(duplicate_members(R"([{"a":1},{"a":1}])"), paths{});
}

SCENARIO("no more than a hundred are told, and of each path the beginning") {
  CHECK_EQ(duplicate_members(twice_below("k", 99)).size(), 99u);
  CHECK_EQ(duplicate_members(twice_below("k", 101)).size(), 100u);
  CHECK_EQ(duplicate_members(twice_below(std::string(254, 'k'), 1)), (paths{std::string(254, 'k') + ".a"}));
  CHECK_EQ(duplicate_members(twice_below(std::string(255, 'k'), 1)), (paths{std::string(255, 'k') + "."}));
  CHECK_EQ(duplicate_members(twice_below(std::string(300, 'k'), 1)), (paths{std::string(256, 'k')}));
  // No character is cut in two.
  for (const auto* letter : {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x8c\x8d"})
    for (std::size_t before = 250; before < 257; ++before) {
      const auto key = std::string(before, 'k') + letter;
      const auto kept = key.size() <= 256 ? key + std::string(".a").substr(0, 256 - key.size()) : std::string(before, 'k');
      CHECK_EQ(duplicate_members(twice_below(key, 1)), paths{kept});
    }
}
