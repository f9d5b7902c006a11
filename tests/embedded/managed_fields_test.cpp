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
  CHECK(a.to_json() == json::parse(R"({"f:x": {".": {}, "f:y": {}}, "f:z": {}})"));
  CHECK(a.united(b).to_json() == json::parse(R"({"f:w": {}, "f:x": {".": {}, "f:y": {}}, "f:z": {}})"));
  CHECK(a.without(b).to_json() == json::parse(R"({"f:x": {}, "f:z": {}})"));
  CHECK(a.common(b).to_json() == json::parse(R"({"f:x": {"f:y": {}}})"));
  CHECK(!field_set::read(json::parse(R"({"x": {}})")));
  CHECK(!field_set::read(json::parse(R"({"f:x": 1})")));
}

SCENARIO("the managers of an object stand in its text and nowhere else, also after a restart") {
  api_world w;
  const auto made = w.ask({"POST", api_world::configs, config_map({{"a", "<1>"}}).dump()});
  REQUIRE_EQ(made.status, 201u);
  const auto stored = *w.objects.get(configs(), "default", "c");
  CHECK(!stored->value()["metadata"].contains("managedFields"));
  const auto whole = json::parse(stored->text);
  CHECK(json::parse(stored->managed()) == whole["metadata"]["managedFields"]);
  CHECK_EQ(encode_json(whole), stored->text);
  journal_image image;
  image.version = w.objects.version();
  image.objects.emplace_back("configmaps/default/c", stored->text);
  store other;
  REQUIRE(other.restore(image));
  const auto again = *other.get(configs(), "default", "c");
  CHECK_EQ(again->text, stored->text);
  CHECK_EQ(again->managed(), stored->managed());
  CHECK(again->value() == stored->value());
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
  REQUIRE(got["metadata"]["managedFields"].size() == 2u);
  CHECK(got["metadata"]["managedFields"][0]["manager"] == "one");
  CHECK(got["metadata"]["managedFields"][1]["manager"] == "before-first-apply");
}

SCENARIO("a client without a name of its own is called as its program says, in whole characters") {
  CHECK_EQ(manager_of("kubectl/1.36 (linux)"), "kubectl");
  CHECK_EQ(manager_of(""), "unknown");
  CHECK_EQ(manager_of("a\tb\x7f/1"), "ab");
  CHECK_EQ(manager_of("a\xff"
                      "b/1"),
           "a\xef\xbf\xbd"
           "b");
  CHECK_EQ(manager_of(std::string(126, 'x') + "\xc3\xbc/1"), std::string(126, 'x') + "\xc3\xbc");
  CHECK_EQ(manager_of(std::string(127, 'x') + "\xc3\xbc/1"), std::string(127, 'x'));
  CHECK_EQ(manager_of(std::string(200, 'x')), std::string(128, 'x'));
}

SCENARIO("of thousands of managers that a client sends along none is lost who applied, and of the others ten are kept") {
  api_world w;
  auto object = config_map({{"a", "1"}});
  auto& all = object["metadata"]["managedFields"] = json::array();
  for (int i = 0; i < 4000; ++i) {
    const auto number = std::to_string(i);
    for (const bool applies : {false, true})
      all.push_back({{"manager", "m" + number},
                     {"operation", applies ? "Apply" : "Update"},
                     {"apiVersion", "v" + number},
                     {"fieldsType", "FieldsV1"},
                     {"fieldsV1", {{"f:data", {{"f:k" + number, json::object()}}}}}});
  }
  const auto got = w.make(api_world::configs, object)["metadata"]["managedFields"];
  REQUIRE_EQ(got.size(), 4010u);
  CHECK(got[3999]["operation"] == "Apply");
  CHECK(got[4000]["manager"] == "ancient-changes");
  CHECK_EQ(got[4000]["fieldsV1"]["f:data"].size(), 3992u);
  const auto again = w.ask({"PATCH", std::string{api_world::configs} + "/c", R"({"data":{"b":"2"}})", "application/merge-patch+json"});
  CHECK_EQ(again.body["metadata"]["managedFields"].size(), 4010u);
}

SCENARIO("what a client says that it applied last may be as deep as an annotation has room for") {
  api_world w;
  std::string deep;
  for (int i = 0; i < 40'000; ++i)
    deep += R"({"a":)";
  deep += "1" + std::string(40'000, '}');
  auto object = config_map({{"a", "1"}});
  object["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = R"({"apiVersion":"v1","x":)" + deep + "}";
  w.make(api_world::configs, object);
  const auto target = std::string{api_world::configs} + "/c?fieldManager=kubectl";
  const auto got = w.ask({"PATCH", target, config_map({{"a", "2"}}).dump(), "application/apply-patch+yaml"});
  CHECK_EQ(got.status, 409u);
  CHECK_EQ(w.ask({"PATCH", target + "&force=true", config_map({{"a", "2"}}).dump(), "application/apply-patch+yaml"}).status, 200u);
}

// As kube-apiserver 1.36 answers it.
SCENARIO("a key that an applied configuration has twice is told of or refused, whether it is JSON or YAML") {
  api_world w;
  const auto target = std::string{api_world::configs} + "/c?fieldManager=m";
  const std::string in_json = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1","a":"\ud83d\ude00"}})";
  const std::string in_yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: '1'\n  a: '2'\n  a: '3'\n";
  const std::string form = "application/apply-patch+yaml";
  const std::string refused = "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  ";
  const auto plain_json = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1","a":"2"}})";
  const auto strict = w.ask({"PATCH", target + "&fieldValidation=Strict", plain_json, form});
  CHECK_EQ(strict.status, 400u);
  CHECK_EQ(strict.message(), refused + R"(line 1: key "a" already set in map)");
  CHECK_EQ(w.ask({"PATCH", target + "&fieldValidation=Strict", in_json, form}).status, 400u);
  CHECK_EQ(w.ask({"PATCH", target + "&fieldValidation=Strict", in_yaml, form}).message(),
           refused + "line 6: key \"a\" already set in map\n  line 7: key \"a\" already set in map");
  const auto warned = w.ask({"PATCH", target, in_json, form});
  CHECK_EQ(warned.status, 201u);
  CHECK_EQ(text_at(warned.body, {"data", "a"}), "\xf0\x9f\x98\x80");
  CHECK_EQ(warned.warnings.size(), 1u);
  CHECK_EQ(w.ask({"PATCH", target, in_yaml, form}).warnings.size(), 2u);
  const auto ignored = w.ask({"PATCH", target + "&fieldValidation=Ignore", plain_json, form});
  CHECK_EQ(ignored.status, 200u);
  CHECK(ignored.warnings.empty());
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
