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
  CHECK_EQ(seen["apiVersion"], "events.k8s.io/v1");
  CHECK_EQ(seen["note"], "Container started");
  CHECK_EQ(seen["deprecatedCount"], 2);
  CHECK(!seen.contains("message"));
  CHECK_EQ(w.get(young_form + "/a").body["metadata"], w.get(std::string{old_form} + "/a").body["metadata"]);
  CHECK_EQ(w.get(young_form + "?fieldSelector=regarding.name%3Dp").body["items"][0]["note"], "Container started");
  CHECK_EQ(w.get(young_form + "?fieldSelector=regarding.name%3Dq").body["items"].size(), 0u);
  CHECK(w.get(young_form + "/a", "application/yaml").text.find("note: Container started") != std::string::npos);
  const auto table = w.get(young_form, "application/json;as=Table;v=v1;g=meta.k8s.io").body;
  CHECK_EQ(table["rows"][0]["cells"][2], "Started");
  // -- a watch of the younger form hears of what is written in the older --
  auto got = w.serve_one({"GET", young_form + "?watch=true&resourceVersion=" + std::to_string(w.objects.version()), "", "", ""});
  auto* start = std::get_if<watch_start>(&got);
  REQUIRE(start != nullptr);
  store_watch watch{w.objects, std::move(start->request)};
  w.make(old_form, event("b"));
  const auto told = json::parse(watch.next(1 << 20, w.now));
  CHECK_EQ(told["type"], "ADDED");
  CHECK_EQ(told["object"]["apiVersion"], "events.k8s.io/v1");
  CHECK_EQ(told["object"]["note"], "Container started");
  // -- and the other way round --
  CHECK_EQ(w.ask({"DELETE", young_form + "/b"}).status, 200u);
  CHECK_EQ(w.get(std::string{old_form} + "/b").status, 404u);
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
