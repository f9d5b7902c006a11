#define CAF_SUITE managed_fields

#include "embedded/field_walk.hpp"
#include "embedded/managed_fields.hpp"
#include "embedded/store_managers.hpp"
#include "tests/embedded/api_world.hpp"

#include <random>

using namespace paddock::test;

namespace {

const resource_kind& configs() {
  return *find_kind("", "v1", "configmaps");
}

json config_map(const std::map<std::string, std::string>& data) {
  json out{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "c"}}}};
  if (!data.empty())
    out["data"] = data;
  return out;
}

} // namespace

SCENARIO("sets of fields are united, taken from each other and written as FieldsV1") {
  const auto a = *field_set::read(json::parse(R"({"f:x": {".": {}, "f:y": {}}, "f:z": {}})"));
  const auto b = *field_set::read(json::parse(R"({"f:x": {"f:y": {}}, "f:w": {}})"));
  CHECK_EQ(a.to_json(), json::parse(R"({"f:x": {".": {}, "f:y": {}}, "f:z": {}})"));
  CHECK_EQ(a.united(b).to_json(), json::parse(R"({"f:w": {}, "f:x": {".": {}, "f:y": {}}, "f:z": {}})"));
  CHECK_EQ(a.without(b).to_json(), json::parse(R"({"f:x": {}, "f:z": {}})"));
  CHECK_EQ(a.common(b).to_json(), json::parse(R"({"f:x": {"f:y": {}}})"));
  CHECK(!field_set::read(json::parse(R"({"x": {}})")));
  CHECK(!field_set::read(json::parse(R"({"f:x": 1})")));
}

SCENARIO("the managers of an object stand in its text and nowhere else, also after a restart") {
  api_world w;
  const auto made = w.ask({"POST", api_world::configs, config_map({{"a", "<1>"}}).dump()});
  REQUIRE_EQ(made.status, 201u);
  const auto stored = *w.objects.get(configs(), "default", "c");
  CHECK(!stored->value["metadata"].contains("managedFields"));
  const auto whole = json::parse(stored->text);
  CHECK_EQ(json::parse(stored->managed()), whole["metadata"]["managedFields"]);
  CHECK_EQ(encode_json(whole), stored->text);
  journal_image image;
  image.version = w.objects.version();
  image.objects.emplace_back("configmaps/default/c", stored->text);
  store other;
  REQUIRE(other.restore(image));
  const auto again = *other.get(configs(), "default", "c");
  CHECK_EQ(again->text, stored->text);
  CHECK_EQ(again->managed(), stored->managed());
  CHECK(again->value == stored->value);
}

SCENARIO("objects of which no managers are known get them when something is applied") {
  journal_image image;
  image.version = 7;
  auto old = config_map({{"a", "1"}, {"b", "1"}});
  old["metadata"].update({{"namespace", "default"}, {"uid", "u"}, {"resourceVersion", "7"}, {"creationTimestamp", "2026-11-29T12:00:00Z"}});
  image.objects.emplace_back("configmaps/default/c", encode_json(old));
  image.objects.emplace_back("namespaces//default",
                             R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default","resourceVersion":"1"}})");
  api_world w;
  REQUIRE(w.objects.restore(image));
  const auto target = std::string{api_world::configs} + "/c";
  CHECK(!w.ask({"PATCH", target, R"({"data":{"b":"2"}})", "application/merge-patch+json"}).body["metadata"].contains("managedFields"));
  const auto got = w.ask({"PATCH", target + "?fieldManager=one", config_map({{"a", "1"}}).dump(), "application/apply-patch+yaml"}).body;
  REQUIRE_EQ(got["metadata"]["managedFields"].size(), 2u);
  CHECK_EQ(got["metadata"]["managedFields"][0]["manager"], "one");
  CHECK_EQ(got["metadata"]["managedFields"][1]["manager"], "before-first-apply");
}

SCENARIO("whatever is written and applied, managers have what stands there, and an applied configuration holds") {
  const auto seed = std::random_device{}();
  CAF_MESSAGE("seed " << seed);
  std::mt19937 random{seed};
  const auto pick = [&](unsigned n) { return std::to_string(random() % n); };
  const auto& schema = field_schema(configs());
  json live = config_map({});
  managed_fields known;
  for (int i = 0; i < 2000; ++i) {
    std::map<std::string, std::string> data;
    for (auto n = random() % 4; n > 0; --n)
      data["k" + pick(5)] = pick(3);
    const field_author who{"m" + pick(3), "", "2026-11-29T12:00:00Z"};
    const auto config = config_map(data);
    if (random() % 2 == 0) {
      known = after_update(configs(), live, config, known, who);
      live = config;
    } else {
      const bool force = random() % 2 == 0;
      auto done = apply_fields(configs(), live, known, config, who, force);
      if (!done) {
        REQUIRE(!force);
        REQUIRE_EQ(done.error().code, 409u);
        continue;
      }
      live = done->object;
      drop_nulls(live);
      known = done->managers;
      // -- what was applied stands there --
      for (const auto& [key, value] : data)
        REQUIRE_EQ(text_at(live, {"data", key}), value);
    }
    // -- nobody has what is not there, and of updaters no two have the same --
    const auto there = fields_of(schema, live);
    field_set updated;
    for (const auto& x : known) {
      for (const auto* map : {"f:data"})
        if (const auto* mine = x.fields.find(map))
          for (const auto& [step, ignored] : mine->below())
            REQUIRE(there.find(map) != nullptr && there.find(map)->find(step) != nullptr);
      if (x.applies)
        continue;
      const auto shared = updated.common(x.fields);
      REQUIRE(shared.empty());
      updated = updated.united(x.fields);
    }
    REQUIRE(read_managed(managed_json(known)) && same_fields(*read_managed(managed_json(known)), known));
  }
}
