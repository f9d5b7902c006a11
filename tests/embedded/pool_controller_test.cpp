#define CAF_SUITE pool_controller

#include "embedded/agent_keys.hpp"
#include "embedded/pool_controller.hpp"
#include "embedded/sandbox_blueprint.hpp"
#include "tests/embedded/recorded_extensions.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::embedded;
using namespace paddock::embedded::test;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const json& part(const char* name) {
  return recorded().at("pool").at(name);
}

/// A member of the recorded pool as this controller makes it.
json member(const std::string& name, bool ready, int born = 10) {
  auto result = part(ready ? "ready_member" : "member");
  result["metadata"]["name"] = name;
  result["metadata"]["uid"] = "u-" + name;
  result["metadata"]["creationTimestamp"] = rfc3339_seconds(at(18, 4, born));
  result["metadata"]["labels"][agent_keys::template_content] = template_content_of(first_template());
  return result;
}

pool_view view(const char* pool, std::vector<json> members) {
  return {part(pool), first_template(), std::move(members)};
}

std::vector<std::string> removed(const pool_plan& plan) {
  std::vector<std::string> result;
  for (const auto& x : plan.writes)
    if (x.method == "DELETE")
      result.push_back(x.path.substr(x.path.rfind('/') + 1));
  return result;
}

std::size_t made(const pool_plan& plan) {
  return plan.writes.size() - removed(plan).size();
}

const auto now = at(18, 4, 12);

} // namespace

SCENARIO("a new pool makes its members as recorded, and reports what it saw before") {
  auto plan = plan_pool(view("created", {}), now);
  REQUIRE_EQ(plan.writes.size(), 2u);
  const auto& ours = plan.writes[0].body;
  const auto& theirs = part("member");
  CHECK_EQ(plan.writes[0].path, "/apis/agents.x-k8s.io/v1beta1/namespaces/rec/sandboxes");
  CHECK_EQ(text_in(ours, "/metadata/generateName"), "p1-");
  CHECK_EQ(ours["metadata"]["ownerReferences"].dump(), theirs["metadata"]["ownerReferences"].dump());
  // What a content hash is made of is the controller's own affair; that there are two is not.
  auto alike = [](json labels) {
    for (const auto* key : {agent_keys::pod_content, agent_keys::template_content})
      if (labels.contains(key))
        labels[key] = "some";
    return labels.dump();
  };
  CHECK_EQ(alike(ours["metadata"]["labels"]), alike(theirs["metadata"]["labels"]));
  CHECK_EQ(alike(ours["spec"]["podTemplate"]["metadata"]["labels"]), alike(theirs["spec"]["podTemplate"]["metadata"]["labels"]));
  CHECK_EQ(ours["spec"]["podTemplate"]["metadata"]["annotations"].dump(), theirs["spec"]["podTemplate"]["metadata"]["annotations"].dump());
  auto spec = ours["spec"];
  auto recorded_spec = theirs["spec"];
  for (auto* x : {&spec, &recorded_spec})
    (*x)["podTemplate"].erase("metadata");
  CHECK_EQ(spec.dump(), recorded_spec.dump());
  REQUIRE(plan.report);
  CHECK_EQ(plan.report->body["status"].dump(), R"({"observedGeneration":1,"selector":"agents.x-k8s.io/warm-pool-sandbox=a04ed67a"})");
}

SCENARIO("the default name servers are not put into a template whose policy is not managed") {
  auto seen = view("created", {});
  (*seen.sandbox_template)["spec"]["networkPolicyManagement"] = "Unmanaged";
  auto spec = plan_pool(seen, now).writes.at(0).body["spec"];
  CHECK_EQ(spec["podTemplate"]["spec"].dump(), part("unmanaged_member")["spec"]["podTemplate"]["spec"].dump());
}

SCENARIO("the status follows the members as recorded") {
  auto report = [](const char* before, std::vector<json> members) { return plan_pool(view(before, std::move(members)), now).report; };
  CHECK(!report("waiting", {member("a", false), member("b", false)}));
  CHECK(!report("ready", {member("a", true), member("b", true)}));
  CHECK(!report("refilled", {member("a", true), member("b", false)}));
  auto taken = report("ready", {member("a", true)});
  REQUIRE(taken);
  CHECK_EQ(taken->body["status"].dump(), R"({"readyReplicas":1,"replicas":1})");
  // A number that has become nought goes.
  auto none = report("ready", {});
  REQUIRE(none);
  CHECK_EQ(none->body["status"].dump(), R"({"readyReplicas":null,"replicas":null})");
}

SCENARIO("no member is made while the active and the terminating ones are enough") {
  auto leaving = member("a", true);
  leaving["metadata"]["deletionTimestamp"] = "2026-11-29T18:04:11Z";
  CHECK(plan_pool(view("ready", {leaving, member("b", false)}), now).writes.empty());
  CHECK_EQ(made(plan_pool(view("ready", {member("b", false)}), now)), 1u);
}

SCENARIO("of too many members those not ready go first, then the newest") {
  auto plan = plan_pool(view("scaled_down", {member("old", true, 1), member("new", true, 9), member("late", false, 0)}), now);
  CHECK_EQ(removed(plan), (std::vector<std::string>{"late", "new"}));
  CHECK_EQ(made(plan), 0u);
}

SCENARIO("a pool that recreates replaces members of another pod spec, and no other pool does") {
  auto seen = view("ready", {member("a", true), member("b", true)});
  (*seen.sandbox_template)["spec"]["podTemplate"]["spec"]["containers"][0]["image"] = "example.org/box:2";
  CHECK(plan_pool(seen, now).writes.empty());
  seen.pool["spec"]["updateStrategy"]["type"] = "Recreate";
  CHECK_EQ(removed(plan_pool(seen, now)).size(), 2u);
  // Not for labels.
  *seen.sandbox_template = first_template();
  (*seen.sandbox_template)["spec"]["podTemplate"]["metadata"]["labels"]["more"] = "x";
  CHECK(plan_pool(seen, now).writes.empty());
}

SCENARIO("a member that is not ready for five minutes is replaced, unless no node takes it") {
  auto seen = view("waiting", {member("a", false), member("b", false)});
  auto early = plan_pool(seen, at(18, 9, 9));
  CHECK(early.writes.empty());
  REQUIRE(early.revisit);
  CHECK(*early.revisit == 1s);
  CHECK_EQ(removed(plan_pool(seen, at(18, 9, 10))).size(), 2u);
  for (auto& x : seen.members)
    for (auto& condition : x["status"]["conditions"])
      if (condition["type"] == "PodScheduled")
        condition["reason"] = "Unschedulable";
  auto kept = plan_pool(seen, at(18, 9, 10));
  CHECK(kept.writes.empty());
  REQUIRE(kept.revisit);
  CHECK(*kept.revisit == 60s);
}

SCENARIO("a pool without its template makes nothing, and a terminating one does nothing") {
  auto seen = view("created", {});
  seen.sandbox_template.reset();
  auto plan = plan_pool(seen, now);
  CHECK(plan.writes.empty());
  CHECK(plan.report);
  seen = view("created", {});
  seen.pool["metadata"]["deletionTimestamp"] = "2026-11-29T18:04:11Z";
  plan = plan_pool(seen, now);
  CHECK(plan.writes.empty());
  CHECK(!plan.report);
}

SCENARIO("a pass makes a hundred members at most, and the next makes more") {
  auto seen = view("created", {});
  seen.pool["spec"]["replicas"] = 100000;
  auto plan = plan_pool(seen, now);
  CHECK_EQ(plan.writes.size(), most_new_members);
  REQUIRE(plan.revisit);
  CHECK(*plan.revisit <= 1s);
  seen.pool["spec"]["replicas"] = 100;
  plan = plan_pool(seen, now);
  CHECK_EQ(plan.writes.size(), 100u);
  CHECK(!plan.revisit);
}

SCENARIO("of a template of another shape nothing is made, and it is said why") {
  auto damaged = [](const char* where, const json& what) {
    auto seen = view("created", {});
    (*seen.sandbox_template)["spec"][json::json_pointer{where}] = what;
    auto plan = plan_pool(seen, now);
    CHECK(plan.writes.empty());
    return plan.fault;
  };
  CHECK_EQ(damaged("/podTemplate", "x"), "the template's podTemplate is no map");
  CHECK_EQ(damaged("/podTemplate/spec", "x"), "the template's podTemplate/spec is no map");
  CHECK_EQ(damaged("/podTemplate/metadata", json::array()), "the template's podTemplate/metadata is no map");
  CHECK_EQ(damaged("/podTemplate/metadata/labels", "x"), "the template's podTemplate/metadata/labels is no map");
  CHECK_EQ(damaged("/podTemplate/spec/dnsConfig", 1), "the template's podTemplate/spec/dnsConfig is no map");
  CHECK_EQ(damaged("/podTemplate/spec/containers", "x"), "the template's podTemplate/spec/containers is no list");
  CHECK_EQ(damaged("/podTemplate/spec/containers/0", "x"), "the template's container is no map");
  CHECK_EQ(damaged("/podTemplate/spec/containers/0/env", "x"), "the template's container's env is no list");
}
