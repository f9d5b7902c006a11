#define CAF_SUITE kubelet

#include "embedded/kubelet.hpp"
#include "embedded/node_status.hpp"
#include "embedded/pod_facts.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <set>

using namespace paddock;
using namespace paddock::embedded;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

json pod() {
  return json::parse(R"({
    "metadata": {"name": "w", "namespace": "n", "uid": "u-1"},
    "spec": {"terminationGracePeriodSeconds": 5}})");
}

time_source::wall_clock::time_point at(int second) {
  using namespace std::chrono;
  return sys_days{year{2026} / 11 / 29} + hours{12} + seconds{second};
}

} // namespace

SCENARIO("the grace is the deletion's, else the pod's") {
  auto x = pod();
  CHECK_EQ(grace_of(x).count(), 5);
  x["metadata"]["deletionGracePeriodSeconds"] = 2;
  CHECK_EQ(grace_of(x).count(), 2);
  CHECK_EQ(grace_of(json::object()).count(), 30);
}

SCENARIO("the wait before a start doubles up to its bound and begins anew") {
  auto wait = back_off{100ms, 10s};
  std::vector<std::int64_t> all;
  for (auto i = 0; i < 9; ++i)
    all.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(wait.next()).count());
  CHECK_EQ(all, (std::vector<std::int64_t>{100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000}));
  wait.reset();
  CHECK(wait.next() == 100ms);
}

SCENARIO("every pod address is one of 127.64.0.0/10") {
  std::set<std::string> seen;
  for (std::uint32_t n = 0; n < pod_addresses; n += 997)
    seen.insert(pod_address(n));
  CHECK_EQ(seen.size(), (pod_addresses + 996) / 997);
  CHECK_EQ(pod_address(0), "127.64.1.1");
  CHECK_EQ(pod_address(pod_addresses - 1), "127.127.254.254");
  CHECK_EQ(pod_address(pod_addresses), "127.64.1.1");
}

SCENARIO("a finished pod is removed without grace under its uid") {
  auto call = finish_pod(pod());
  CHECK_EQ(call.method, "DELETE");
  CHECK_EQ(number_in(call.body, "/gracePeriodSeconds").value_or(-1), 0);
  CHECK_EQ(text_in(call.body, "/preconditions/uid"), "u-1");
}

SCENARIO("a claim whose folder is there is bound, with the size that it asked for") {
  auto claim = json::parse(R"({"metadata": {"name": "c", "namespace": "n", "uid": "u-2"},
                               "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})");
  auto call = report_bound(claim);
  CHECK_EQ(call.path, "/api/v1/namespaces/n/persistentvolumeclaims/c/status");
  CHECK_EQ(text_in(call.body, "/metadata/uid"), "u-2");
  CHECK_EQ(call.body["status"].dump(), R"({"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"},"phase":"Bound"})");
}

SCENARIO("a node says what it has, that it is ready, and what it cannot enforce") {
  node_facts facts;
  facts.name = "node-1";
  facts.cpus = 2;
  facts.memory = 4096;
  facts.limits_fault = "no cgroup";
  auto node = make_node(facts).body;
  node.merge_patch(report_node(node, facts, at(1)).body);
  CHECK_EQ(text_in(condition_of(node, "Ready"), "/status"), "True");
  CHECK_EQ(text_in(condition_of(node, "ResourceLimitsEnforced"), "/status"), "False");
  CHECK_EQ(text_in(condition_of(node, "ResourceLimitsEnforced"), "/message"), "no cgroup");
  CHECK_EQ(text_in(condition_of(node, "NetworkPolicyEnforced"), "/status"), "False");
  CHECK_EQ(text_in(node, "/status/allocatable/cpu"), "2");
  CHECK_EQ(text_in(node, "/status/allocatable/memory"), "4Ki");
  // The instants of what did not change stay.
  facts.limits_fault.clear();
  node.merge_patch(report_node(node, facts, at(2)).body);
  CHECK_EQ(text_in(condition_of(node, "Ready"), "/lastTransitionTime"), "2026-11-29T12:00:01Z");
  CHECK_EQ(text_in(condition_of(node, "Ready"), "/lastHeartbeatTime"), "2026-11-29T12:00:02Z");
  CHECK_EQ(text_in(condition_of(node, "ResourceLimitsEnforced"), "/lastTransitionTime"), "2026-11-29T12:00:02Z");
}

SCENARIO("the heartbeat has the six digits of a MicroTime") {
  CHECK_EQ(text_in(renew_lease("node-1", at(1)).body, "/spec/renewTime"), "2026-11-29T12:00:01.000000Z");
  auto node = json{{"metadata", {{"name", "node-1"}, {"uid", "u-n"}}}};
  auto lease = make_lease(node, at(1)).body;
  CHECK_EQ(text_in(lease, "/metadata/ownerReferences/0/uid"), "u-n");
  CHECK_EQ(text_in(lease, "/spec/holderIdentity"), "node-1");
}

SCENARIO("conditions that others keep on a node stay") {
  node_facts facts;
  facts.name = "node-1";
  auto node = make_node(facts).body;
  node["status"]["conditions"] = json::parse(R"([{"type": "KernelDeadlock", "status": "False"}, {"type": "Ready", "status": "False"}])");
  node.merge_patch(report_node(node, facts, at(1)).body);
  CHECK_EQ(text_in(condition_of(node, "KernelDeadlock"), "/status"), "False");
  CHECK_EQ(text_in(condition_of(node, "Ready"), "/status"), "True");
  auto ready = 0;
  for (const auto& x : node["status"]["conditions"])
    ready += x["type"] == "Ready" ? 1 : 0;
  CHECK_EQ(ready, 1);
}

SCENARIO("only an address that a kubelet gives is a pod's") {
  CHECK(is_pod_address("127.64.1.1"));
  CHECK(is_pod_address(pod_address(12345)));
  for (const auto* text : {"", "0.0.0.0", "127.0.0.1", "127.63.1.1", "127.128.1.1", "127.64.0.1", "127.64.1.255", "127.64.1",
                           "127.64.1.1.1", "127.64.1.1x", " 127.64.1.1", "::1", "127.64.1.0001", "127.64.1.", "10.64.1.1", "127.64.1.-1"})
    CHECK(!is_pod_address(text));
}

SCENARIO("only a whole list of claims says which have gone") {
  auto list = json::parse(R"({"kind": "PersistentVolumeClaimList", "metadata": {}, "items": [{"metadata": {"uid": "u-1"}}]})");
  CHECK(listed_claims(list) == std::set<std::string>{"u-1"});
  list["metadata"]["continue"] = "more";
  CHECK(!listed_claims(list));
  CHECK(!listed_claims(json::parse(R"({"kind": "Status", "code": 404})")));
  CHECK(!listed_claims(json::parse(R"({"kind": "PersistentVolumeClaimList"})")));
  CHECK(!listed_claims(json{}));
  auto claim = json::parse(R"({"metadata": {"name": "c", "namespace": "n"}})");
  CHECK_EQ(list_claim(claim).path, "/api/v1/namespaces/n/persistentvolumeclaims?fieldSelector=metadata.name%3Dc");
}
