#define CAF_SUITE object_cache

#include "k8s/object_cache.hpp"
#include "k8s/objects.hpp"
#include "k8s/projection.hpp"
#include "tests/support/check_json.hpp"
#include "tests/support/text_file.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::k8s;
using kind = watch_event::kind;
using strings = std::vector<std::string>;

namespace {

kept object(const std::string& name, const std::string& uid, int version) {
  return std::make_shared<const kept_object>(
    nlohmann::json{{"metadata", {{"name", name}, {"namespace", "ns"}, {"uid", uid}, {"resourceVersion", std::to_string(version)}}}},
    kept_object::form::packed);
}

/// `added a 7`, `modified a 7 8`, `deleted a 8`.
strings told(const std::vector<kept_change>& all) {
  auto got = strings{};
  for (const auto& x : all) {
    if (x.before && x.after)
      got.push_back("modified " + x.after->uid() + " " + x.before->version() + " " + x.after->version());
    else if (x.after)
      got.push_back("added " + x.after->uid() + " " + x.after->version());
    else
      got.push_back("deleted " + x.before->uid() + " " + x.before->version());
  }
  return got;
}

struct fixture {
  object_cache it;
  fixture() {
    CHECK_EQ(told(it.replace({object("a", "A", 5), object("b", "B", 6)}, "7")), (strings{"added A 5", "added B 6"}));
  }
};

} // namespace

BEGIN_FIXTURE_SCOPE(fixture)

SCENARIO("a later list is told as the difference") {
  CHECK_EQ(told(it.replace({object("b", "B", 8), object("c", "C", 9)}, "9")), (strings{"deleted A 5", "modified B 6 8", "added C 9"}));
  CHECK_EQ(it.version(), "9");
  CHECK_EQ(it.size(), 2u);
  CHECK_EQ(told(it.replace({object("b", "B", 8), object("c", "C", 9)}, "9")), strings{});
}

SCENARIO("another uid under a known name is a removal and an arrival") {
  CHECK_EQ(told(it.replace({object("a", "A2", 9), object("b", "B", 6)}, "9")), (strings{"deleted A 5", "added A2 9"}));
  CHECK_EQ(told(it.apply(kind::modified, object("b", "B2", 10))), (strings{"deleted B 6", "added B2 10"}));
  THEN("the end of the one before is no news") {
    CHECK_EQ(told(it.apply(kind::deleted, object("b", "B", 11))), strings{});
    CHECK_EQ(it.find({"ns", "b"})->uid(), "B2");
  }
}

SCENARIO("an event is told once, and one from before changes nothing") {
  CHECK_EQ(told(it.apply(kind::modified, object("a", "A", 8))), strings{"modified A 5 8"});
  CHECK_EQ(told(it.apply(kind::modified, object("a", "A", 8))), strings{});
  CHECK_EQ(told(it.apply(kind::added, object("a", "A", 7))), strings{});
  CHECK_EQ(it.version(), "8");
  CHECK_EQ(told(it.apply(kind::deleted, object("a", "A", 9))), strings{"deleted A 8"});
  CHECK_EQ(told(it.apply(kind::deleted, object("a", "A", 9))), strings{});
  CHECK(!it.find({"ns", "a"}));
}

SCENARIO("the answer to a write is known before the watch tells it, and told once") {
  CHECK_EQ(told(it.took(object("a", "A", 9))), strings{"modified A 5 9"});
  CHECK_EQ(told(it.apply(kind::modified, object("a", "A", 8))), strings{});
  CHECK_EQ(told(it.apply(kind::modified, object("a", "A", 9))), strings{});
  THEN("one that the watch is past is ignored") {
    CHECK_EQ(told(it.took(object("b", "B", 9))), strings{});
    CHECK_EQ(told(it.took(object("x", "X", 8))), strings{});
  }
  THEN("a list from before the write does not undo it") {
    CHECK_EQ(told(it.took(object("n", "N", 12))), strings{"added N 12"});
    CHECK_EQ(told(it.replace({object("a", "A", 9), object("b", "B", 6)}, "11")), strings{});
    CHECK_EQ(told(it.replace({object("a", "A", 9), object("b", "B", 6)}, "12")), strings{"deleted N 12"});
  }
}

SCENARIO("where versions have begun again only the list counts") {
  CHECK_EQ(told(it.replace({object("b", "B", 2)}, "3", true)), (strings{"deleted A 5", "modified B 6 2"}));
  CHECK_EQ(it.version(), "3");
}

SCENARIO("a bookmark moves the version and nothing else") {
  it.advance("20");
  CHECK_EQ(it.version(), "20");
  it.advance("19");
  CHECK_EQ(it.version(), "20");
  CHECK_EQ(it.size(), 2u);
}

END_FIXTURE_SCOPE()

SCENARIO("a packed object is what a whole one is") {
  const auto text = nlohmann::json::parse(R"({"metadata":{"name":"a","uid":"u","resourceVersion":"1"},"spec":{"x":[1,"é",null]}})");
  const auto whole = kept_object{text, kept_object::form::whole};
  const auto packed = kept_object{text, kept_object::form::packed};
  CHECK_JSON(*whole.open(), text);
  CHECK_JSON(*packed.open(), text);
  CHECK(whole.open() == whole.open());
  CHECK_EQ(packed.key().name_space, "");
  CHECK_EQ(packed.key().name, "a");
  CHECK_EQ(packed.uid(), "u");
  CHECK_EQ(packed.version(), "1");
}

SCENARIO("only what is read is kept, and reads as it did") {
  auto lines = test::text_of(PADDOCK_TEST_RECORDINGS "/watch-initial-events-bookmark.ndjson");
  auto sandbox = nlohmann::json::parse(lines.substr(0, lines.find('\n'))).at("object");
  sandbox["status"]["conditions"][0]["observedGeneration"] = 2;
  sandbox["status"]["selector"] = "s";
  sandbox["spec"]["volumeClaimTemplates"] = nlohmann::json::parse(R"([{"metadata":{"name":"w","x":1},"spec":{}}])");
  sandbox["metadata"]["annotations"][std::string{epoch_annotation}] = "7";
  sandbox["metadata"]["annotations"][std::string{template_hash_annotation}] = "h";
  sandbox["metadata"]["annotations"][std::string{mode_changed_annotation}] = "t";
  auto with_more = sandbox;
  with_more["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = "{}";
  const auto trimmed = sandbox_projection().of(with_more);
  CHECK(!trimmed.contains(nlohmann::json::json_pointer{"/metadata/managedFields"}));
  CHECK(!trimmed.contains(nlohmann::json::json_pointer{"/metadata/labels"}));
  CHECK(!trimmed.contains(nlohmann::json::json_pointer{"/spec/podTemplate"}));
  CHECK_JSON(trimmed.at("spec").at("volumeClaimTemplates"), nlohmann::json::parse(R"([{"metadata":{"name":"w"}}])"));
  const auto before = read_sandbox(sandbox);
  const auto after = read_sandbox(trimmed);
  CHECK(after.name == before.name);
  CHECK(after.uid == before.uid);
  CHECK(after.resource_version == before.resource_version);
  CHECK(after.generation == before.generation);
  CHECK(after.annotations == before.annotations);
  CHECK(after.mode == before.mode);
  CHECK(after.ready == before.ready);
  CHECK(after.observed_generation == before.observed_generation);
  CHECK(after.service_fqdn == before.service_fqdn);
  CHECK(after.pod_ips == before.pod_ips);
  CHECK(after.selector == before.selector);
  CHECK(before.ready);
  CHECK_EQ(before.pod_ips.size(), 1u);
  THEN("a shape that is not expected is kept as it is") {
    const auto odd = projection{"/a/b/c"};
    CHECK_JSON(odd.of(nlohmann::json::parse(R"({"a":7,"x":1})")), nlohmann::json::parse(R"({"a":7})"));
    CHECK_JSON(odd.of(nlohmann::json::parse(R"({"a":[{"b":{"c":1,"d":2}},3]})")), nlohmann::json::parse(R"({"a":[{"b":{"c":1}},3]})"));
  }
}

SCENARIO("a list is read as its items are trimmed") {
  using nlohmann::json;
  const auto item = [](const char* name) {
    return json{{"kind", "Sandbox"},
                {"metadata",
                 {{"name", name},
                  {"uid", "u"},
                  {"resourceVersion", "7"},
                  {"managedFields", {{{"manager", "x"}, {"fieldsV1", {{"f:a", json::object()}}}}}}}},
                {"spec", {{"operatingMode", "Running"}, {"podTemplate", {{"spec", {{"containers", {{{"name", "agent"}}, 1, nullptr}}}}}}}},
                {"status", {{"conditions", {{{"type", "Ready"}, {"status", "True"}, {"other", {1, {2}}}}}}, {"podIPs", {"10.0.0.1"}}}}};
  };
  auto list = json{{"kind", "SandboxList"}, {"metadata", {{"resourceVersion", "9"}, {"continue", "more"}}}, {"items", json::array()}};
  for (const auto* name : {"a", "b"})
    list["items"].push_back(item(name));
  list["items"].push_back("no object");
  list["items"].push_back(nullptr);
  list["items"].push_back({{"status", "no object"}, {"metadata", 1.5}});
  auto trimmed = list;
  for (auto& x : trimmed["items"])
    x = sandbox_projection().of(x);
  const auto got = sandbox_projection().read_list(list.dump(2));
  REQUIRE(got.has_value());
  CHECK_EQ(got->dump(), trimmed.dump());
  CHECK(!sandbox_projection().read_list(R"({"items":[{"metadata":{"name":"a"}})"));
  CHECK(!sandbox_projection().read_list(""));
  for (const auto* text : {"null", "7", "[]", R"({"items":7})", R"({"items":{"spec":{"x":1,"operatingMode":"Running"}}})"})
    CHECK(sandbox_projection().read_list(text).has_value());
}
