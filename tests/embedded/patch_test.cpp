#define CAF_SUITE patch

#include "embedded/patch.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock::embedded;

namespace {

const json base = json::parse(R"({"metadata":{"uid":"u","labels":{"a":"1"}},"spec":{"list":[1,2,3],"n":1}})");

api_result<json> apply(const char* text) {
  auto patch = parse_json_patch(text);
  if (!patch)
    return tl::unexpected{patch.error()};
  return apply_json_patch(base, *patch);
}

} // namespace

SCENARIO("operations are applied one after another") {
  auto got = apply(R"([{"op":"test","path":"/metadata/uid","value":"u"},
                       {"op":"add","path":"/metadata/labels/b","value":"2"},
                       {"op":"test","path":"/metadata/labels/b","value":"2"},
                       {"op":"remove","path":"/metadata/labels/a"},
                       {"op":"replace","path":"/spec/n","value":2},
                       {"op":"copy","from":"/spec/n","path":"/spec/m"},
                       {"op":"move","from":"/spec/list/0","path":"/spec/list/-"}])");
  REQUIRE(got.has_value());
  CHECK(*got == json::parse(R"({"metadata":{"uid":"u","labels":{"b":"2"}},"spec":{"list":[2,3,1],"n":2,"m":2}})"));
}

SCENARIO("an add to a member that is there replaces it") {
  auto got = apply(R"([{"op":"add","path":"/metadata/labels/a","value":"9"}])");
  REQUIRE(got.has_value());
  CHECK((*got)["metadata"]["labels"]["a"] == "9");
}

SCENARIO("a replace of a member that is not there adds it") {
  auto got = apply(R"([{"op":"replace","path":"/metadata/labels/z","value":"9"}])");
  REQUIRE(got.has_value());
  CHECK((*got)["metadata"]["labels"]["z"] == "9");
}

SCENARIO("a test compares values and not texts") {
  CHECK(apply(R"([{"op":"test","path":"/spec/n","value":1.0}])").has_value());
  CHECK(apply(R"([{"op":"test","path":"/spec/list","value":[1,2,3]}])").has_value());
  CHECK(apply(R"([{"op":"test","path":"/metadata","value":{"labels":{"a":"1"},"uid":"u"}}])").has_value());
  CHECK(apply(R"([{"op":"test","path":"/metadata/nothing","value":null}])").has_value());
  CHECK(!apply(R"([{"op":"test","path":"/spec/n","value":"1"}])").has_value());
  CHECK(!apply(R"([{"op":"test","path":"/spec/list","value":[3,2,1]}])").has_value());
}

SCENARIO("every failed operation is refused with one and the same body") {
  for (const auto* text :
       {R"([{"op":"test","path":"/metadata/uid","value":"other"}])", R"([{"op":"test","path":"/metadata/labels/z","value":"1"}])",
        R"([{"op":"test","path":"/no/where","value":null}])", R"([{"op":"add","path":"/no/where","value":1}])",
        R"([{"op":"add","path":"/spec/list/9","value":1}])", R"([{"op":"add","path":"/spec/list/01","value":1}])",
        R"([{"op":"remove","path":"/spec/none"}])", R"([{"op":"remove","path":""}])", R"([{"op":"frobnicate","path":"/spec"}])",
        R"([{"op":"add","path":"spec","value":1}])", R"([{"op":"add","path":"/spec/~2","value":1}])", R"([{"op":"add","path":"/spec/x"}])",
        R"([{"path":"/spec/x","value":1}])", R"([7])", R"([{"op":"move","from":"/spec","path":"/spec/list/0"}])",
        R"([{"op":"copy","from":"/none","path":"/spec/x"}])"}) {
    auto got = apply(text);
    REQUIRE(!got.has_value());
    CHECK(to_json(got.error()) == to_json(failed_patch()));
  }
}

SCENARIO("more operations than the bound are refused unread") {
  auto many = json::array();
  for (std::size_t i = 0; i < max_patch_operations; ++i)
    many.push_back({{"op", "test"}, {"path", "/metadata/uid"}, {"value", "u"}});
  CHECK(apply(many.dump().c_str()).has_value());
  many.push_back({{"op", "test"}, {"path", "/metadata/uid"}, {"value", "u"}});
  auto got = apply(many.dump().c_str());
  REQUIRE(!got.has_value());
  CHECK_EQ(got.error().code, 413u);
}

SCENARIO("copies cannot grow an object without bound") {
  // Each copy doubles the object; forty of them would fill any memory.
  auto doubling = json::array();
  for (int i = 0; i < 40; ++i)
    doubling.push_back({{"op", "copy"}, {"from", ""}, {"path", "/x" + std::to_string(i)}});
  CHECK(!apply(doubling.dump().c_str()).has_value());
  // Each copy nests it once more.
  auto nesting_more = json::array();
  for (int i = 0; i < 3000; ++i)
    nesting_more.push_back({{"op", "move"}, {"from", "/spec"}, {"path", "/t"}}),
      nesting_more.push_back({{"op", "add"}, {"path", "/spec"}, {"value", json::object()}}),
      nesting_more.push_back({{"op", "move"}, {"from", "/t"}, {"path", "/spec/t"}});
  CHECK(!apply(nesting_more.dump().c_str()).has_value());
}

SCENARIO("what moves have nested is not copied before its depth is known") {
  constexpr int levels = 500;
  auto deep = json::array();
  std::string bottom = "/n";
  for (int i = 1; i < levels; ++i) {
    deep = json::array({std::move(deep)});
    bottom += "/0";
  }
  auto patch = json::array({{{"op", "add"}, {"path", "/m"}, {"value", 1}}});
  for (int i = 0; i < 1000; ++i) {
    patch.push_back({{"op", "add"}, {"path", "/n"}, {"value", deep}});
    patch.push_back({{"op", "move"}, {"from", "/m"}, {"path", bottom + "/-"}});
    patch.push_back({{"op", "move"}, {"from", "/n"}, {"path", "/m"}});
  }
  patch.push_back({{"op", "copy"}, {"from", "/m"}, {"path", "/x"}});
  CHECK(!apply_json_patch(json::object(), patch).has_value());
}

SCENARIO("a merge patch merges objects, replaces the rest and removes what is null") {
  auto patch = parse_merge_patch(R"({"metadata":{"labels":{"a":null,"b":"2"}},"spec":{"list":[9],"deep":{"x":null,"y":1}}})");
  REQUIRE(patch.has_value());
  CHECK(apply_merge_patch(base, *patch)
        == json::parse(R"({"metadata":{"uid":"u","labels":{"b":"2"}},"spec":{"list":[9],"n":1,"deep":{"y":1}}})"));
  for (const auto* text : {"[]", "7", "{", ""}) {
    auto wrong = parse_merge_patch(text);
    REQUIRE(!wrong.has_value());
    CHECK_EQ(wrong.error().code, 400u);
  }
}
