#define CAF_SUITE strategic_merge

#include "embedded/strategic_merge.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::embedded;

namespace {

json parsed(const char* text) {
  return json::parse(text);
}

/// A pod with two containers, changed.
json changed(const char* patch) {
  const auto pod = parsed(R"({"metadata":{"labels":{"a":"b","c":"d"},"finalizers":["x/y","z/w"]},"spec":{"containers":[
    {"name":"one","image":"i:1","ports":[{"containerPort":80,"protocol":"TCP"}],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]},
    {"name":"two","image":"i:2","command":["sh","-c"]}],"volumes":[{"name":"v","emptyDir":{}}]}})");
  auto got = apply_strategic_merge(*builtin_type("Pod"), pod, parsed(patch));
  if (!got)
    return json{{"refused", got.error().message}};
  return *got;
}

} // namespace

SCENARIO("items of a list with a merge key are changed, added and deleted by it") {
  const auto got = changed(R"({"spec":{"containers":[{"name":"two","image":"new"},{"name":"three","image":"i:3"},
    {"name":"one","env":[{"name":"B","value":"3"},{"name":"A","$patch":"delete"}]}]}})");
  const auto& all = got["spec"]["containers"];
  REQUIRE_EQ(all.size(), 3u);
  CHECK_EQ(text_at(all[0], {"image"}), "i:1");
  CHECK_EQ(all[0]["env"].dump(), R"([{"name":"B","value":"3"}])");
  CHECK_EQ(text_at(all[1], {"image"}), "new");
  CHECK_EQ(all[1]["command"].size(), 2u);
  CHECK_EQ(text_at(all[2], {"name"}), "three");
}

SCENARIO("a list without a strategy is replaced, and one of values is joined") {
  const auto got = changed(R"({"metadata":{"finalizers":["z/w","n/m"]},"spec":{"containers":[{"name":"two","command":["env"]}]}})");
  CHECK_EQ(got["metadata"]["finalizers"].dump(), R"(["x/y","z/w","n/m"])");
  CHECK_EQ(got["spec"]["containers"][1]["command"].dump(), R"(["env"])");
}

SCENARIO("directives replace, delete, retain and order") {
  CHECK_EQ(changed(R"({"metadata":{"labels":{"$patch":"replace","q":"1"}}})")["metadata"]["labels"].dump(), R"({"q":"1"})");
  CHECK(!changed(R"({"metadata":{"labels":{"$patch":"delete"}}})")["metadata"].contains("labels"));
  CHECK_EQ(changed(R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["x/y"]}})")["metadata"]["finalizers"].dump(), R"(["z/w"])");
  CHECK_EQ(changed(R"({"spec":{"containers":[{"$patch":"replace"},{"name":"only","image":"i"}]}})")["spec"]["containers"].size(), 1u);
  const auto moved =
    changed(R"({"spec":{"$setElementOrder/containers":[{"name":"two"},{"name":"one"}],"containers":[{"name":"one","image":"n"}]}})");
  CHECK_EQ(text_at(moved["spec"]["containers"][0], {"name"}), "two");
  CHECK_EQ(text_at(moved["spec"]["containers"][1], {"image"}), "n");
  CHECK(!moved["spec"].contains("$setElementOrder/containers"));
  const auto kept = changed(R"({"spec":{"volumes":[{"name":"v","$retainKeys":["name","configMap"],"configMap":{"name":"c"}}]}})");
  CHECK_EQ(kept["spec"]["volumes"].dump(), R"([{"configMap":{"name":"c"},"name":"v"}])");
}

SCENARIO("an order that names an item more than once puts it out once") {
  const auto values = changed(R"({"metadata":{"$setElementOrder/finalizers":["z/w","x/y","z/w","x/y","z/w"]}})");
  CHECK_EQ(values["metadata"]["finalizers"].dump(), R"(["z/w","x/y"])");
  const auto items = changed(R"({"spec":{"$setElementOrder/containers":[{"name":"one"},{"name":"one"},{"name":"two"},{"name":"one"}]}})");
  REQUIRE_EQ(items["spec"]["containers"].size(), 2u);
  CHECK_EQ(text_at(items["spec"]["containers"][0], {"name"}), "one");
}

SCENARIO("null takes a member away, and what is new comes without directives and nulls") {
  const auto got = changed(R"({"metadata":{"labels":{"a":null},"annotations":{"x":"y","z":null}}})");
  CHECK_EQ(got["metadata"]["labels"].dump(), R"({"c":"d"})");
  CHECK_EQ(got["metadata"]["annotations"].dump(), R"({"x":"y"})");
}

// The texts are those of a real kube-apiserver 1.36.
SCENARIO("an item without its key, and an unknown directive, are refused") {
  CHECK_EQ(text_at(changed(R"({"spec":{"containers":[{"image":"new:2"}]}})"), {"refused"}),
           "map: map[image:new:2] does not contain declared merge key: name");
  CHECK_EQ(text_at(changed(R"({"spec":{"containers":[{"name":"one","$patch":"foo"}]}})"), {"refused"}),
           "unknown patch type: foo in map: map[$patch:foo name:one]");
}

SCENARIO("lists that would take too long to merge are refused") {
  auto list = json::array();
  for (int i = 0; i < 3000; ++i)
    list.push_back("f/" + std::to_string(i));
  const json pod{{"metadata", {{"finalizers", list}}}};
  for (const auto* key : {"finalizers", "$setElementOrder/finalizers", "$deleteFromPrimitiveList/finalizers"}) {
    const auto got = apply_strategic_merge(*builtin_type("Pod"), pod, {{"metadata", {{key, list}}}});
    REQUIRE(!got);
    CHECK_NE(got.error().message.find("too long"), std::string::npos);
  }
}
