#define CAF_SUITE store

#include "embedded/store.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::embedded;

namespace {

constexpr auto start = store::instant{std::chrono::seconds{1'767'323'045}}; // 2026-01-02T03:04:05Z

const resource_kind& sandboxes = *find_kind("agents.x-k8s.io", "v1beta1", "sandboxes");
const resource_kind& templates = *find_kind("extensions.agents.x-k8s.io", "v1beta1", "sandboxtemplates");
const resource_kind& pods = *find_kind("", "v1", "pods");
const resource_kind& services = *find_kind("", "v1", "services");
const resource_kind& claims = *find_kind("", "v1", "persistentvolumeclaims");

json sandbox(const std::string& name) {
  return {{"apiVersion", "agents.x-k8s.io/v1beta1"},
          {"kind", "Sandbox"},
          {"metadata", {{"name", name}}},
          {"spec", {{"podTemplate", {{"spec", {{"containers", {{{"name", "main"}}}}}}}}}}};
}

json pod(const std::string& name) {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}}},
          {"spec", {{"containers", {{{"name", "main"}, {"image", "i:1"}}}}}}};
}

/// A journal that keeps what it is told, or refuses.
struct recording_journal final : journal_port {
  tl::expected<void, std::string> commit(std::uint64_t version, const std::string& key, const std::optional<std::string>& text) override {
    if (refuse)
      return tl::unexpected{std::string{"disk full"}};
    image.version = version;
    std::erase_if(image.objects, [&](const auto& x) { return x.first == key; });
    if (text)
      image.objects.emplace_back(key, *text);
    return {};
  }
  void begin_group() override {
    before_group = image;
  }
  tl::expected<void, std::string> end_group() override {
    if (!refuse_group)
      return {};
    image = before_group;
    return tl::unexpected{std::string{"disk full"}};
  }
  bool refuse = false;
  bool refuse_group = false;
  journal_image before_group;
  journal_image image;
};

struct fixture {
  recording_journal journal;
  store objects{&journal};

  fixture() {
    REQUIRE(objects.bootstrap({"default"}, start).has_value());
  }
  json make(const resource_kind& kind, json object) {
    auto got = objects.create(kind, "default", std::move(object), start);
    if (!got)
      CAF_FAIL(got.error().message);
    return got->object->value();
  }
  api_result<written> merge(const resource_kind& kind, const std::string& name, const json& patch, store::part which = store::part::main) {
    return objects.update(kind, "default", name, which, store::form::patch, [&](const json& x) -> api_result<json> {
      auto out = x;
      out.merge_patch(patch);
      return out;
    });
  }
  json read(const resource_kind& kind, const std::string& name) {
    auto got = objects.get(kind, "default", name);
    return got ? (*got)->value() : json{};
  }
  std::uint64_t version() const {
    return objects.version();
  }
};

std::string version_of(const json& x) {
  return text_at(x, {"metadata", "resourceVersion"});
}

} // namespace

SCENARIO("a new object gets what only the server says") {
  fixture f;
  auto sent = sandbox("a");
  sent["metadata"].merge_patch(
    {{"uid", "mine"}, {"creationTimestamp", "2000-01-01T00:00:00Z"}, {"generation", 7}, {"deletionTimestamp", "x"}});
  sent["status"] = {{"service", "a"}};
  const auto a = f.make(sandboxes, sent);
  const auto b = f.make(sandboxes, sandbox("b"));
  CHECK_NE(text_at(a, {"metadata", "uid"}), "mine");
  CHECK_NE(text_at(a, {"metadata", "uid"}), text_at(b, {"metadata", "uid"}));
  CHECK_EQ(text_at(a, {"metadata", "creationTimestamp"}), "2026-01-02T03:04:05Z");
  CHECK(a["metadata"]["generation"] == 1);
  CHECK_EQ(text_at(a, {"metadata", "namespace"}), "default");
  CHECK(!a["metadata"].contains("deletionTimestamp"));
  CHECK(!a.contains("status"));
  CHECK_EQ(version_of(b), std::to_string(std::stoull(version_of(a)) + 1));
}

SCENARIO("a name is made from its prefix, and another one when that is taken") {
  int asked = 0;
  store objects{nullptr, {}, {{}, [&](std::size_t n) { return std::string(n, asked++ < 2 ? 'x' : 'y'); }}};
  REQUIRE(objects.bootstrap({"default"}, start).has_value());
  auto sent = sandbox("");
  sent["metadata"] = {{"generateName", "pool-"}};
  auto first = objects.create(sandboxes, "default", sent, start);
  auto second = objects.create(sandboxes, "default", sent, start);
  REQUIRE((first && second));
  CHECK_EQ(text_at(first->object->value(), {"metadata", "name"}), "pool-xxxxx");
  CHECK_EQ(text_at(second->object->value(), {"metadata", "name"}), "pool-yyyyy");
}

SCENARIO("nothing is made in a namespace that is not there, or under another one than the path's") {
  fixture f;
  auto lost = f.objects.create(sandboxes, "nowhere", sandbox("a"), start);
  REQUIRE(!lost);
  CHECK_EQ(lost.error().code, 404u);
  CHECK_EQ(lost.error().message, "namespaces \"nowhere\" not found");
  auto sent = sandbox("a");
  sent["metadata"]["namespace"] = "other";
  auto elsewhere = f.objects.create(sandboxes, "default", sent, start);
  REQUIRE(!elsewhere);
  CHECK_EQ(elsewhere.error().code, 400u);
}

SCENARIO("generation follows the spec and nothing else") {
  fixture f;
  f.make(sandboxes, sandbox("a"));
  REQUIRE(f.merge(sandboxes, "a", {{"metadata", {{"labels", {{"k", "v"}}}}}}));
  CHECK(f.read(sandboxes, "a")["metadata"]["generation"] == 1);
  REQUIRE(f.merge(sandboxes, "a", {{"status", {{"service", "s"}}}}, store::part::status));
  CHECK(f.read(sandboxes, "a")["metadata"]["generation"] == 1);
  REQUIRE(f.merge(sandboxes, "a", {{"spec", {{"operatingMode", "Suspended"}}}}));
  CHECK(f.read(sandboxes, "a")["metadata"]["generation"] == 2);
  f.make(services, {{"apiVersion", "v1"}, {"kind", "Service"}, {"metadata", {{"name", "s"}}}, {"spec", {{"clusterIP", "None"}}}});
  CHECK(!f.read(services, "s")["metadata"].contains("generation"));
}

SCENARIO("each half of an object is written by its own path only") {
  fixture f;
  f.make(sandboxes, sandbox("a"));
  REQUIRE(f.merge(sandboxes, "a", {{"status", {{"service", "s"}}}}, store::part::status));
  const auto before = f.version();
  REQUIRE(f.merge(sandboxes, "a", {{"status", {{"service", "other"}}}}));
  CHECK(f.version() == before);
  REQUIRE(f.merge(sandboxes, "a",
                  {{"status", {{"nodeName", "n"}}}, {"spec", {{"operatingMode", "Suspended"}}}, {"metadata", {{"labels", {{"k", "v"}}}}}},
                  store::part::status));
  const auto now = f.read(sandboxes, "a");
  CHECK_EQ(text_at(now, {"spec", "operatingMode"}), "Running");
  CHECK_EQ(find(now, {"metadata", "labels"}), nullptr);
  CHECK_EQ(text_at(now, {"status", "service"}), "s");
  CHECK_EQ(text_at(now, {"status", "nodeName"}), "n");
}

SCENARIO("a write that changes nothing is answered and not written") {
  fixture f;
  const auto made = f.make(sandboxes, sandbox("a"));
  auto got = f.merge(sandboxes, "a", {{"spec", {{"operatingMode", "Running"}}}});
  REQUIRE(got);
  CHECK(got->object->value() == made);
  CHECK_EQ(std::to_string(f.version()), version_of(made));
}

SCENARIO("what the server says cannot be changed by a patch") {
  fixture f;
  const auto made = f.make(sandboxes, sandbox("a"));
  REQUIRE(f.merge(
    sandboxes, "a",
    {{"metadata",
      {{"generation", 9}, {"creationTimestamp", nullptr}, {"deletionTimestamp", "2026-01-02T03:04:05Z"}, {"labels", {{"k", "v"}}}}}}));
  auto now = f.read(sandboxes, "a");
  CHECK(now["metadata"]["generation"] == 1);
  CHECK(now["metadata"]["creationTimestamp"] == made["metadata"]["creationTimestamp"]);
  CHECK(!now["metadata"].contains("deletionTimestamp"));
}

SCENARIO("unknown fields are taken out and named, or refused when asked strictly") {
  fixture f;
  auto sent = sandbox("a");
  sent["spec"]["nope"] = 1;
  sent["spec"]["podTemplate"]["metadata"] = {{"name", "x"}, {"labels", {{"k", "v"}}}};
  sent["metadata"]["managedFields"] = json::array();
  auto got = f.objects.create(sandboxes, "default", sent, start);
  REQUIRE(got);
  CHECK_EQ(got->unknown_fields, (std::vector<std::string>{"spec.nope", "spec.podTemplate.metadata.name"}));
  CHECK_EQ(find(got->object->value(), {"spec", "nope"}), nullptr);
  CHECK_EQ(find(got->object->value(), {"metadata", "managedFields"}), nullptr);
  sent["metadata"]["name"] = "b";
  auto strict = f.objects.create(sandboxes, "default", sent, start, {.strict = true});
  REQUIRE(!strict);
  CHECK_EQ(strict.error().code, 400u);
  CHECK(!f.objects.get(sandboxes, "default", "b"));
}

SCENARIO("a dry run answers and keeps nothing") {
  fixture f;
  const auto before = f.version();
  CHECK(f.objects.create(sandboxes, "default", sandbox("a"), start, {.dry_run = true}).has_value());
  CHECK(f.version() == before);
  CHECK(!f.objects.get(sandboxes, "default", "a"));
  f.make(sandboxes, sandbox("a"));
  CHECK(f.objects.remove(sandboxes, "default", "a", {.dry_run = true}, start).has_value());
  CHECK(f.objects.get(sandboxes, "default", "a").has_value());
}

// -- deletion -----------------------------------------------------------------------------------------------------

SCENARIO("an object with a finalizer ends when the last one goes") {
  fixture f;
  auto sent = sandbox("a");
  sent["metadata"]["finalizers"] = {"x.test/hold", "x.test/more"};
  f.make(sandboxes, sent);
  auto got = f.objects.remove(sandboxes, "default", "a", {}, start);
  REQUIRE(got);
  CHECK(!got->gone);
  CHECK(got->object->value()["metadata"]["generation"] == 2);
  REQUIRE(f.merge(sandboxes, "a", {{"metadata", {{"finalizers", {"x.test/more"}}}}}));
  CHECK(f.objects.get(sandboxes, "default", "a").has_value());
  REQUIRE(f.merge(sandboxes, "a", {{"metadata", {{"finalizers", nullptr}}}}));
  CHECK(!f.objects.get(sandboxes, "default", "a"));
  const auto* event = f.objects.event_after(f.version() - 1);
  REQUIRE(event != nullptr);
  CHECK(event->deleted);
}

SCENARIO("a pod that runs has time to end, and one that does not goes at once") {
  fixture f;
  f.make(pods, pod("idle"));
  auto idle = f.objects.remove(pods, "default", "idle", {}, start);
  REQUIRE(idle);
  CHECK(idle->gone);
  GIVEN("a pod on a node") {
    f.make(pods, pod("p"));
    REQUIRE(f.objects.bind("default", "p", {{"target", {{"name", "n"}}}}, start));
    WHEN("it is deleted") {
      auto got = f.objects.remove(pods, "default", "p", {}, start);
      THEN("it is terminating for its grace period") {
        REQUIRE(got);
        CHECK(!got->gone);
        CHECK_EQ(text_at(got->object->value(), {"metadata", "deletionTimestamp"}), "2026-01-02T03:04:35Z");
        CHECK(got->object->value()["metadata"]["deletionGracePeriodSeconds"] == 30);
        CHECK(got->object->value()["metadata"]["generation"] == 2);
      }
      THEN("a status write does not end it") {
        REQUIRE(f.merge(pods, "p", {{"status", {{"phase", "Running"}}}}, store::part::status));
        CHECK(f.objects.get(pods, "default", "p").has_value());
      }
      THEN("a longer grace changes nothing and a shorter one is counted from the first request") {
        const auto before = f.version();
        REQUIRE(f.objects.remove(pods, "default", "p", {.grace_seconds = 60}, start));
        CHECK(f.version() == before);
        auto shorter = f.objects.remove(pods, "default", "p", {.grace_seconds = 5}, start + std::chrono::seconds{3});
        REQUIRE(shorter);
        CHECK_EQ(text_at(shorter->object->value(), {"metadata", "deletionTimestamp"}), "2026-01-02T03:04:10Z");
      }
      THEN("a grace of zero removes it") {
        auto last = f.objects.remove(pods, "default", "p", {.grace_seconds = 0}, start);
        REQUIRE(last);
        CHECK(last->gone);
      }
    }
  }
  GIVEN("a pod that has ended") {
    f.make(pods, pod("q"));
    REQUIRE(f.objects.bind("default", "q", {{"target", {{"name", "n"}}}}, start));
    REQUIRE(f.merge(pods, "q", {{"status", {{"phase", "Failed"}}}}, store::part::status));
    auto got = f.objects.remove(pods, "default", "q", {}, start);
    REQUIRE(got);
    CHECK(got->gone);
  }
}

SCENARIO("a pod is bound once, and not while it ends") {
  fixture f;
  f.make(pods, pod("p"));
  const json binding{
    {"apiVersion", "v1"}, {"kind", "Binding"}, {"metadata", {{"name", "p"}}}, {"target", {{"kind", "Node"}, {"name", "n"}}}};
  REQUIRE(f.objects.bind("default", "p", binding, start));
  const auto bound = f.read(pods, "p");
  CHECK_EQ(text_at(bound, {"spec", "nodeName"}), "n");
  CHECK(bound["metadata"]["generation"] == 1);
  CHECK_EQ(text_at(bound["status"]["conditions"][0], {"type"}), "PodScheduled");
  auto again = f.objects.bind("default", "p", binding, start);
  REQUIRE(!again);
  CHECK_EQ(again.error().code, 409u);
  CHECK(!f.objects.bind("default", "p", json::object(), start));
  CHECK(!f.objects.bind("default", "none", binding, start));
  // Another way onto a node there is not.
  f.make(pods, pod("q"));
  auto patched = f.merge(pods, "q", {{"spec", {{"nodeName", "n"}}}});
  REQUIRE(!patched);
  CHECK_EQ(patched.error().code, 422u);
}

// -- kinds --------------------------------------------------------------------------------------------------------

SCENARIO("defaults are filled in") {
  fixture f;
  const auto p = f.make(pods, pod("p"));
  CHECK(p["spec"]["terminationGracePeriodSeconds"] == 30);
  CHECK(p["spec"]["restartPolicy"] == "Always");
  CHECK(p["status"]["phase"] == "Pending");
  const auto t = f.make(
    templates, {{"apiVersion", "extensions.agents.x-k8s.io/v1beta1"},
                {"kind", "SandboxTemplate"},
                {"metadata", {{"name", "t"}}},
                {"spec", {{"podTemplate", {{"spec", {{"containers", {{{"name", "main"}, {"ports", {{{"containerPort", 1}}}}}}}}}}}}}});
  CHECK(t["spec"]["networkPolicyManagement"] == "Managed");
  CHECK(t["spec"]["envVarsInjectionPolicy"] == "Disallowed");
  CHECK(t["spec"]["volumeClaimTemplatesPolicy"] == "Disallowed");
  CHECK(t["spec"]["podTemplate"]["spec"]["containers"][0]["ports"][0]["protocol"] == "TCP");
  const auto c = f.make(claims, {{"apiVersion", "v1"},
                                 {"kind", "PersistentVolumeClaim"},
                                 {"metadata", {{"name", "c"}}},
                                 {"spec", {{"accessModes", {"ReadWriteOnce"}}, {"resources", {{"requests", {{"storage", "1Gi"}}}}}}}});
  CHECK(c["status"]["phase"] == "Pending");
}

SCENARIO("what cannot be is refused with the place where it is wrong") {
  fixture f;
  const auto refused = [&](const resource_kind& kind, json object, const json& patch, unsigned code, const std::string& place) {
    object.merge_patch(patch);
    auto got = f.objects.create(kind, "default", object, start);
    REQUIRE(!got);
    CHECK_EQ(got.error().code, code);
    CHECK_NE(got.error().message.find(place), std::string::npos);
  };
  const auto box = sandbox("a");
  refused(sandboxes, box, {{"spec", nullptr}}, 422, "spec: Required value");
  refused(sandboxes, box, {{"spec", "x"}}, 422, "spec: Invalid value: \"string\"");
  refused(sandboxes, box, {{"spec", {{"podTemplate", nullptr}}}}, 422, "spec.podTemplate: Required value");
  refused(sandboxes, box, {{"spec", {{"podTemplate", {{"spec", {{"containers", {{{"image", "i"}}}}}}}}}}}, 422,
          "spec.podTemplate.spec.containers[0].name: Required value");
  refused(sandboxes, box, {{"spec", {{"podTemplate", {{"spec", {{"containers", {1}}}}}}}}}, 422,
          "spec.podTemplate.spec.containers[0]: Invalid value: \"integer\"");
  refused(sandboxes, box, {{"spec", {{"shutdownPolicy", "Never"}}}}, 422, "spec.shutdownPolicy: Unsupported value");
  refused(sandboxes, box, {{"spec", {{"shutdownTime", "tomorrow"}}}}, 422, "must be of type date-time");
  refused(sandboxes, box, {{"spec", {{"service", "yes"}}}}, 422, "spec.service: Invalid value: \"string\"");
  refused(sandboxes, box, {{"spec", {{"volumeClaimTemplates", {{{"metadata", {{"name", "d"}}}}}}}}}, 422,
          "spec.volumeClaimTemplates[0].spec: Required value");
  refused(sandboxes, box, {{"metadata", {{"labels", {{"k", "not a value"}}}}}}, 422, "metadata.labels: Invalid value");
  refused(sandboxes, box, {{"metadata", {{"labels", {{"k", 1}}}}}}, 400, "metadata.labels");
  refused(sandboxes, box, {{"metadata", {{"name", 1}}}}, 400, "metadata.name");
  refused(pods, pod("p"), {{"spec", {{"containers", json::array()}}}}, 422, "spec.containers: Required value");
  refused(pods, pod("p"), {{"spec", {{"containers", {1}}}}}, 400, "containers");
  refused(pods, pod("p"), {{"spec", {{"restartPolicy", "Sometimes"}}}}, 422, "spec.restartPolicy: Unsupported value");
  refused(services, {{"apiVersion", "v1"}, {"kind", "Service"}, {"metadata", {{"name", "s.t"}}}, {"spec", {{"clusterIP", "None"}}}},
          json::object(), 422, "metadata.name: Invalid value");
  refused(services, {{"apiVersion", "v1"}, {"kind", "Service"}, {"metadata", {{"name", "s"}}}}, json::object(), 422, "spec.clusterIP");
  CHECK_EQ(f.objects.list(sandboxes, "", {}).size(), 0u);
}

// -- the journal --------------------------------------------------------------------------------------------------

SCENARIO("a write that the journal refuses has not happened") {
  fixture f;
  f.make(sandboxes, sandbox("a"));
  const auto before = f.read(sandboxes, "a");
  const auto version = f.version();
  f.journal.refuse = true;
  auto made = f.objects.create(sandboxes, "default", sandbox("b"), start);
  auto changed = f.merge(sandboxes, "a", {{"spec", {{"operatingMode", "Suspended"}}}});
  auto removed = f.objects.remove(sandboxes, "default", "a", {}, start);
  REQUIRE((!made && !changed && !removed));
  CHECK_EQ(made.error().code, 500u);
  CHECK_EQ(made.error().reason, "InternalError");
  CHECK_EQ(changed.error().message, "Internal error occurred: disk full");
  CHECK(f.read(sandboxes, "a") == before);
  CHECK(!f.objects.get(sandboxes, "default", "b"));
  CHECK_EQ(f.version(), version);
  CHECK_EQ(f.objects.event_after(version), nullptr);
  f.journal.refuse = false;
  CHECK(f.merge(sandboxes, "a", {{"spec", {{"operatingMode", "Suspended"}}}}).has_value());
}

SCENARIO("a group of writes that the journal does not keep has not happened, not even in part") {
  fixture f;
  f.make(sandboxes, sandbox("a"));
  f.make(sandboxes, sandbox("b"));
  const auto before = f.read(sandboxes, "a");
  const auto version = f.version();
  const auto image = f.journal.image;
  for (const auto spoiled : {false, true}) { // by its end; by one of its writes
    f.objects.begin_group();
    f.make(sandboxes, sandbox("c"));
    REQUIRE(f.merge(sandboxes, "a", {{"spec", {{"operatingMode", "Suspended"}}}}));
    REQUIRE(f.objects.remove(sandboxes, "default", "b", {}, start));
    REQUIRE(f.objects.remove(sandboxes, "default", "c", {}, start));
    f.journal.refuse = spoiled;
    CHECK_EQ(f.objects.create(sandboxes, "default", sandbox("d"), start).has_value(), !spoiled);
    f.journal.refuse = false;
    f.journal.refuse_group = true;
    const auto ended = f.objects.end_group();
    f.journal.refuse_group = false;
    REQUIRE(!ended);
    CHECK_EQ(ended.error(), "disk full");
    CHECK(f.read(sandboxes, "a") == before);
    CHECK_EQ(f.objects.list(sandboxes, "", {}).size(), 2u);
    CHECK_EQ(f.version(), version);
    CHECK_EQ(f.objects.event_after(version), nullptr);
    CHECK(f.journal.image.objects == image.objects);
  }
  // What comes now comes where it would have come.
  f.make(sandboxes, sandbox("e"));
  const auto* event = f.objects.event_after(version);
  REQUIRE(event);
  CHECK_EQ(event->version, version + 1);
  CHECK_EQ(event->now->value()["metadata"]["name"], "e");
  CHECK_EQ(f.objects.event_after(version + 1), nullptr);
}

SCENARIO("a group of writes that the journal keeps has happened one by one") {
  fixture f;
  const auto version = f.version();
  f.objects.begin_group();
  f.make(sandboxes, sandbox("a"));
  REQUIRE(f.merge(sandboxes, "a", {{"spec", {{"operatingMode", "Suspended"}}}}));
  CHECK(f.objects.end_group().has_value());
  CHECK_EQ(f.version(), version + 2);
  CHECK_EQ(f.journal.image.version, version + 2);
  REQUIRE(f.objects.event_after(version));
  CHECK(!f.objects.event_after(version)->before);
  REQUIRE(f.objects.event_after(version + 1));
  CHECK_EQ(f.objects.event_after(version + 1)->before->version, version + 1);
}

SCENARIO("a store takes over what another one's journal holds") {
  fixture f;
  f.make(sandboxes, sandbox("a"));
  f.make(sandboxes, sandbox("b"));
  REQUIRE(f.objects.remove(sandboxes, "default", "b", {}, start));
  store next;
  REQUIRE(next.restore(f.journal.image));
  CHECK_EQ(next.version(), f.version());
  auto a = next.get(sandboxes, "default", "a");
  REQUIRE(a);
  CHECK((*a)->value() == f.read(sandboxes, "a"));
  CHECK(!next.get(sandboxes, "default", "b"));
  CHECK_EQ(next.floor(), next.version());
  auto image = f.journal.image;
  image.objects.front().second = "{";
  store broken;
  CHECK(!broken.restore(image));
  image = f.journal.image;
  image.version = 2;
  CHECK(!broken.restore(image));
  CHECK_EQ(broken.list(sandboxes, "", {}).size(), 0u);
}

SCENARIO("a new pod bears bad nodes for a while, and is of the class that its resources make it") {
  fixture f;
  const auto made = [&](const char* name, const char* resources, json more = json::object()) {
    auto sent = pod(name);
    sent["spec"]["containers"][0]["resources"] = json::parse(resources);
    sent["spec"].merge_patch(more);
    return f.make(pods, sent);
  };
  const auto plain = made("plain", "{}");
  CHECK_EQ(plain["spec"]["priority"].dump(), "0");
  CHECK_EQ(text_at(plain, {"spec", "preemptionPolicy"}), "PreemptLowerPriority");
  REQUIRE_EQ(plain["spec"]["tolerations"].size(), 2u);
  CHECK_EQ(plain["spec"]["tolerations"][1].dump(),
           R"({"effect":"NoExecute","key":"node.kubernetes.io/unreachable","operator":"Exists","tolerationSeconds":300})");
  CHECK_EQ(text_at(plain, {"status", "qosClass"}), "BestEffort");
  // What it says itself stands.
  const auto own = made("own", "{}", {{"tolerations", {{{"key", "node.kubernetes.io/not-ready"}, {"operator", "Exists"}}}}});
  REQUIRE_EQ(own["spec"]["tolerations"].size(), 2u);
  CHECK(!own["spec"]["tolerations"][0].contains("tolerationSeconds"));
  CHECK_EQ(made("all", "{}", {{"tolerations", {{{"operator", "Exists"}}}}})["spec"]["tolerations"].size(), 1u);
  CHECK(!made("classed", "{}", {{"priorityClassName", "high"}})["spec"].contains("priority"));
  // The class.
  CHECK_EQ(text_at(made("asks", R"({"requests":{"cpu":"1"}})"), {"status", "qosClass"}), "Burstable");
  CHECK_EQ(text_at(made("nothing", R"({"requests":{"cpu":"0"}})"), {"status", "qosClass"}), "BestEffort");
  CHECK_EQ(text_at(made("half", R"({"limits":{"cpu":"1"}})"), {"status", "qosClass"}), "Burstable");
  const auto limited = made("limited", R"({"limits":{"cpu":"1000m","memory":"1Gi"},"requests":{"cpu":"1"}})");
  CHECK_EQ(text_at(limited, {"status", "qosClass"}), "Guaranteed");
  CHECK_EQ(limited["spec"]["containers"][0]["resources"]["requests"].dump(), R"({"cpu":"1","memory":"1Gi"})");
  // None of it is filled in later.
  auto stripped = plain;
  stripped["spec"].erase("tolerations");
  auto image = f.journal.image;
  for (auto& [key, text] : image.objects)
    if (key == "pods/default/plain")
      text = stripped.dump();
  store next;
  REQUIRE(next.restore(image));
  CHECK(next
          .update(pods, "default", "plain", store::part::main, store::form::patch,
                  [](json x) -> api_result<json> {
                    x["metadata"]["labels"]["a"] = "b";
                    return x;
                  })
          .has_value());
}

SCENARIO("what waits for a collector that does not look after it is ended, and nothing else is") {
  fixture f;
  const auto& secrets = *find_kind("", "v1", "secrets");
  const auto deleted_with = [&](const resource_kind& kind, json object, const std::string& finalizer) {
    object["metadata"]["finalizers"] = {finalizer};
    const auto name = text_at(object, {"metadata", "name"});
    f.make(kind, std::move(object));
    REQUIRE(f.objects.remove(kind, "default", name, {.children = propagation::foreground}, start));
  };
  const auto secret_named = [](const std::string& name) {
    return json{{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", name}}}};
  };
  deleted_with(secrets, secret_named("held"), "example.org/hold");
  deleted_with(secrets, secret_named("left"), "example.org/hold");
  deleted_with(sandboxes, sandbox("waits"), "example.org/hold");
  // As an older build left it.
  auto image = f.journal.image;
  for (auto& [key, text] : image.objects)
    if (key == "secrets/default/left") {
      auto object = json::parse(text);
      object["metadata"]["finalizers"] = {"foregroundDeletion"};
      text = object.dump();
    }
  store next;
  REQUIRE(next.restore(image));
  REQUIRE(next.finish_deletions(start));
  CHECK(!next.get(secrets, "default", "left"));
  CHECK(next.get(secrets, "default", "held").has_value());
  CHECK(next.get(sandboxes, "default", "waits").has_value());
}

SCENARIO("the objects together have a bound") {
  store objects{nullptr, {.bytes = 2000}};
  REQUIRE(objects.bootstrap({"default"}, start).has_value());
  auto refused = false;
  for (int i = 0; i < 20 && !refused; ++i) {
    auto got = objects.create(sandboxes, "default", sandbox("s" + std::to_string(i)), start);
    refused = !got && got.error().code == 500;
  }
  CHECK(refused);
  CHECK(objects.remove(sandboxes, "default", "s0", {}, start).has_value());
}
