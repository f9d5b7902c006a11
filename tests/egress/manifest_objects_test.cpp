#define CAF_SUITE manifest_objects

#include "egress/manifest_objects.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <array>

using namespace paddock;
using namespace paddock::egress;
using nlohmann::json;

namespace {

constexpr auto kinds = std::to_array<object_kind>({{"g.io", "v1", "Spaced", true}, {"", "v1", "Wide", false}});

std::vector<manifest> documents(const char* text) {
  auto got = std::vector<manifest>{};
  for (auto& x : json::parse(text))
    got.push_back({{"f", got.size() + 1}, std::move(x)});
  return got;
}

/// `KIND NAMESPACE/NAME` of each, and the ignored ones in brackets; or the refusal.
std::string found(const char* text) {
  const auto all = documents(text);
  const auto got = find_objects(all, kinds, "ours");
  if (!got)
    return to_string(got.error().place) + ": " + got.error().problem;
  auto out = std::string{};
  for (const auto& x : got->all)
    out += std::string{x.kind} + " " + x.name_space + "/" + x.name + "; ";
  for (const auto& x : got->ignored)
    out += "[" + x.kind + " " + x.name + "]; ";
  return out;
}

} // namespace

SCENARIO("objects of the kinds that are looked for are found, in Lists too") {
  CHECK_EQ(found(R"([{"apiVersion":"g.io/v1","kind":"Spaced","metadata":{"name":"a"}}, null,
                     {"apiVersion":"v1","kind":"Wide","metadata":{"name":"b","namespace":"n"}},
                     {"apiVersion":"v1","kind":"List","items":[{"apiVersion":"g.io/v1","kind":"Spaced","metadata":{"name":"a","namespace":"n"}},
                                                               {"apiVersion":"x/v1","kind":"Spaced","metadata":{"name":"c"}}]},
                     {"apiVersion":"v1","kind":"WideList","items":[{"metadata":{"name":"d"}}]},
                     {"apiVersion":"v1","kind":"Other"}])"),
           "Spaced ours/a; Wide /b; Spaced n/a; Wide /d; [Spaced c]; [Other ]; ");
}

SCENARIO("what would be taken for something else is refused by its place") {
  CHECK_EQ(found(R"([7])"), "f:1: is not an object");
  CHECK_EQ(found(R"([{"kind":"Spaced"}])"), "f:1: says no apiVersion and kind");
  CHECK_EQ(found(R"([{"apiVersion":"v1"}])"), "f:1: says no apiVersion and kind");
  CHECK_EQ(found(R"([{"apiVersion":"g.io/v2","kind":"Spaced"}])"), "f:1: apiVersion g.io/v2 is not understood");
  CHECK_EQ(found(R"([{"apiVersion":"v1","kind":"List","items":7}])"), "f:1: items is not a list");
  CHECK_EQ(found(R"([{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"List","items":[]}]}])"),
           "f:1 items[0]: is a list in a list");
  CHECK_EQ(found(R"([{"apiVersion":"g.io/v1","kind":"Spaced","metadata":{"name":"a"}},
                     {"apiVersion":"g.io/v1","kind":"Spaced","metadata":{"name":"a","namespace":"ours"}}])"),
           "f:2: Spaced a is also in f:1");
}
