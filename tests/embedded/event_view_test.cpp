#define CAF_SUITE event_view

#include "embedded/event_expiry.hpp"
#include "embedded/store_watch.hpp"
#include "tests/embedded/api_world.hpp"

using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

constexpr auto old_form = "/api/v1/namespaces/default/events";
const std::string young_form = "/apis/events.k8s.io/v1/namespaces/default/events";

json event(const std::string& name) {
  return {{"metadata", {{"name", name}}},
          {"involvedObject", {{"kind", "Pod"}, {"name", "p"}, {"namespace", "default"}}},
          {"reason", "Started"},
          {"message", "Container started"},
          {"count", 2}};
}

} // namespace

SCENARIO("an Event is one object in two forms, also in watches, tables and YAML") {
  api_world w;
  w.make(old_form, event("a"));
  const auto seen = w.get(young_form + "/a").body;
  CHECK(seen["apiVersion"] == "events.k8s.io/v1");
  CHECK(seen["note"] == "Container started");
  CHECK(seen["deprecatedCount"] == 2);
  CHECK(!seen.contains("message"));
  CHECK(w.get(young_form + "/a").body["metadata"] == w.get(std::string{old_form} + "/a").body["metadata"]);
  CHECK(w.get(young_form + "?fieldSelector=regarding.name%3Dp").body["items"][0]["note"] == "Container started");
  CHECK_EQ(w.get(young_form + "?fieldSelector=regarding.name%3Dq").body["items"].size(), 0u);
  CHECK(w.get(young_form + "/a", "application/yaml").text.find("note: Container started") != std::string::npos);
  const auto table = w.get(young_form, "application/json;as=Table;v=v1;g=meta.k8s.io").body;
  CHECK(table["rows"][0]["cells"][2] == "Started");
  // -- a watch of the younger form hears of what is written in the older --
  auto got = w.serve_one({"GET", young_form + "?watch=true&resourceVersion=" + std::to_string(w.objects.version()), "", "", ""});
  auto* start = std::get_if<watch_start>(&got);
  REQUIRE(start != nullptr);
  store_watch watch{w.objects, std::move(start->request)};
  w.make(old_form, event("b"));
  const auto told = json::parse(watch.next(1 << 20, w.now));
  CHECK(told["type"] == "ADDED");
  CHECK(told["object"]["apiVersion"] == "events.k8s.io/v1");
  CHECK(told["object"]["note"] == "Container started");
  // -- and the other way round --
  CHECK_EQ(w.ask({"DELETE", young_form + "/b"}).status, 200u);
  CHECK_EQ(w.get(std::string{old_form} + "/b").status, 404u);
}

SCENARIO("what is applied in the younger form is checked, kept and told in it") {
  api_world w;
  const auto apply = [&](const json& config, const std::string& more = {}) {
    return w.ask({"PATCH", std::string{young_form} + "/y?fieldManager=m" + more, config.dump(), "application/apply-patch+yaml"});
  };
  auto config = json::parse(R"({"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "y"}, "reportingController": "c",
    "reportingInstance": "c-1", "action": "Doing", "reason": "Done", "type": "Normal", "note": "well done",
    "regarding": {"kind": "Pod", "name": "q", "namespace": "default"}})");
  CHECK_EQ(apply(config).status, 422u); // without the time
  config["eventTime"] = "2026-01-02T03:04:05.000006Z";
  const auto made = apply(config);
  REQUIRE_EQ(made.status, 201u);
  CHECK(made.body["note"] == "well done");
  REQUIRE_EQ(made.body["metadata"]["managedFields"].size(), 1u);
  const auto& manager = made.body["metadata"]["managedFields"][0];
  CHECK(manager["apiVersion"] == "events.k8s.io/v1");
  CHECK(manager["fieldsV1"].contains("f:note"));
  CHECK(w.get(std::string{old_form} + "/y").body["message"] == "well done");
  CHECK_EQ(apply(config).body["metadata"]["resourceVersion"], made.body["metadata"]["resourceVersion"]);
  config["note"] = "not so well";
  CHECK_EQ(apply(config, "&force=true").status, 422u);
}

SCENARIO("of too many Events the oldest go first, whatever their names") {
  api_world w;
  w.make(old_form, event("z-first"));
  w.now += 1s;
  for (int i = 0; i < 10'000; ++i)
    w.make(old_form, event("e-" + std::to_string(i)));
  CHECK(!expire_events(w.objects, w.now));
  CHECK_EQ(w.get(std::string{old_form} + "/z-first").status, 404u);
  CHECK_EQ(w.get(std::string{old_form} + "/e-0").status, 200u);
  CHECK_EQ(names_in(w.get(old_form).body).size(), 10'000u);
}
