#define CAF_SUITE scheduler

#include "embedded/pod_facts.hpp"
#include "embedded/scheduler.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::embedded;
using nlohmann::json;

namespace {

json node(const std::string& name) {
  auto result = json::parse(R"({"status": {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "3"},
                                           "conditions": [{"type": "Ready", "status": "True"}]}})");
  result["metadata"]["name"] = name;
  return result;
}

json pod() {
  return json::parse(R"({"metadata": {"name": "w", "namespace": "n", "uid": "u-1"},
    "spec": {"containers": [{"name": "a", "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}},
                            {"name": "b", "resources": {"requests": {"cpu": "250m"}}}]}})");
}

std::string chosen(const json& x, const std::vector<json>& nodes, const std::map<std::string, node_amounts>& used = {}) {
  auto got = choose_node(x, nodes, used);
  const auto* name = std::get_if<std::string>(&got);
  return name == nullptr ? "! " + std::get<unschedulable>(got).message : *name;
}

time_source::wall_clock::time_point at(int second) {
  using namespace std::chrono;
  return sys_days{year{2026} / 11 / 29} + hours{12} + seconds{second};
}

} // namespace

SCENARIO("a pod asks for the sum of its containers, or for its largest init container") {
  auto x = pod();
  CHECK(requests_of(x).cpu == 0.75);
  CHECK(requests_of(x).memory == 1024.0 * 1024 * 1024);
  CHECK(requests_of(x).pods == 1);
  x["spec"]["initContainers"] = json::parse(R"([{"name": "i", "resources": {"requests": {"cpu": "2"}}}])");
  CHECK(requests_of(x).cpu == 2);
  x["spec"]["initContainers"][0] = json::parse(R"({"name": "i", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}})");
  CHECK(requests_of(x).cpu == 1.75);
}

SCENARIO("the node with the fewest pods is chosen") {
  CHECK_EQ(chosen(pod(), {node("a"), node("b")}), "a");
  CHECK_EQ(chosen(pod(), {node("a"), node("b")}, {{"a", {0, 0, 1}}}), "b");
}

SCENARIO("a pod for which no node has room stays, and says why") {
  CHECK_EQ(chosen(pod(), {}), "! no nodes available to schedule pods");
  CHECK_EQ(chosen(pod(), {node("a")}, {{"a", {1.3, 0, 1}}}), "! 0/1 nodes are available: 1 Insufficient cpu.");
  CHECK_EQ(chosen(pod(), {node("a")}, {{"a", {1.25, 0, 1}}}), "a");
  CHECK_EQ(chosen(pod(), {node("a"), node("b")}, {{"a", {0, 3.5 * 1024 * 1024 * 1024, 1}}, {"b", {0, 0, 3}}}),
           "! 0/2 nodes are available: 1 Insufficient memory, 1 Too many pods.");
  // A pod that asks for nothing finds room beside any load but the number.
  auto light = pod();
  light["spec"]["containers"] = json::array({json{{"name", "a"}}});
  CHECK_EQ(chosen(light, {node("a")}, {{"a", {9, 9e12, 1}}}), "a");
}

SCENARIO("a node that is not ready, cordoned, tainted or not the one that is meant takes no pod") {
  auto not_ready = node("a");
  not_ready["status"]["conditions"][0]["status"] = "Unknown";
  CHECK_EQ(chosen(pod(), {not_ready}), "! 0/1 nodes are available: 1 node(s) were not ready.");
  auto cordoned = node("a");
  cordoned["spec"]["unschedulable"] = true;
  CHECK_EQ(chosen(pod(), {cordoned, node("b")}), "b");
  auto tainted = node("a");
  tainted["spec"]["taints"] = json::parse(R"([{"key": "k", "value": "v", "effect": "NoSchedule"}])");
  auto x = pod();
  CHECK_EQ(chosen(x, {tainted}), "! 0/1 nodes are available: 1 node(s) had untolerated taint(s).");
  x["spec"]["tolerations"] = json::parse(R"([{"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}])");
  CHECK_EQ(chosen(x, {tainted}), "a");
  auto late = node("a");
  late["spec"]["taints"] = json::parse(R"([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}])");
  CHECK_EQ(chosen(pod(), {late}), "a");
  x["spec"]["nodeSelector"] = json{{"disk", "ssd"}};
  CHECK_EQ(chosen(x, {node("a")}), "! 0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.");
  auto labelled = node("a");
  labelled["metadata"]["labels"] = json{{"disk", "ssd"}};
  CHECK_EQ(chosen(x, {labelled}), "a");
}

SCENARIO("pods with a node, a gate or a scheduler of their own are not placed") {
  CHECK(wants_node(pod()));
  for (const auto* change :
       {R"({"spec": {"nodeName": "a"}})", R"({"spec": {"schedulingGates": [{"name": "g"}]}})", R"({"spec": {"schedulerName": "mine"}})",
        R"({"status": {"phase": "Failed"}})", R"({"metadata": {"deletionTimestamp": "2026-11-29T12:00:00Z"}})"}) {
    auto x = pod();
    x.merge_patch(json::parse(change));
    CHECK(!wants_node(x));
  }
}

SCENARIO("why a pod stays is said once, and its instant is that of the first time") {
  auto x = pod();
  auto report = report_unschedulable(x, {"one"}, at(1));
  REQUIRE(report);
  CHECK_EQ(text_in(report->body, "/metadata/uid"), "u-1");
  x.merge_patch(report->body);
  CHECK_EQ(text_in(condition_of(x, "PodScheduled"), "/reason"), "Unschedulable");
  CHECK(!report_unschedulable(x, {"one"}, at(2)));
  report = report_unschedulable(x, {"two"}, at(2));
  REQUIRE(report);
  x.merge_patch(report->body);
  CHECK_EQ(text_in(condition_of(x, "PodScheduled"), "/lastTransitionTime"), "2026-11-29T12:00:01Z");
  auto bind = bind_pod(x, "a");
  CHECK_EQ(bind.path, "/api/v1/namespaces/n/pods/w/binding");
  CHECK_EQ(text_in(bind.body, "/target/name"), "a");
  CHECK_EQ(text_in(bind.body, "/metadata/uid"), "u-1");
}

SCENARIO("a pod waits for a claim that is being deleted") {
  json pod;
  pod["spec"]["volumes"] = json::array({json{{"name", "w"}, {"persistentVolumeClaim", {{"claimName", "disk"}}}}});
  json claim{{"metadata", {{"name", "disk"}}}};
  CHECK(!waits_for_claim(pod, {claim}));
  claim["metadata"]["deletionTimestamp"] = "2026-11-29T12:00:00Z";
  const auto why = waits_for_claim(pod, {claim});
  REQUIRE(why);
  CHECK_EQ(why->message, "persistentvolumeclaim \"disk\" is being deleted");
  claim["metadata"]["name"] = "other";
  CHECK(!waits_for_claim(pod, {claim}));
}
