#define CAF_SUITE objects

#include "k8s/objects.hpp"
#include "k8s/paths.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::k8s;
using nlohmann::json;

namespace {

json condition(const char* type, const char* status) {
  return {{"type", type}, {"status", status}};
}

sandbox with_conditions(json all) {
  return read_sandbox({{"status", {{"conditions", std::move(all)}}}});
}

pod::life life_of(json object) {
  return read_pod(object).state;
}

} // namespace

SCENARIO("only a mode of exactly Suspended is suspended") {
  CHECK(read_sandbox({{"spec", {{"operatingMode", "Suspended"}}}}).mode == operating_mode::suspended);
  for (const auto& other : {json("Running"), json("suspended"), json(""), json(nullptr), json(3)})
    CHECK(read_sandbox({{"spec", {{"operatingMode", other}}}}).mode == operating_mode::running);
  CHECK(read_sandbox(json::object()).mode == operating_mode::running);
}

SCENARIO("only a Ready condition that is True is ready, and Suspended is not read") {
  CHECK(with_conditions({condition("Suspended", "True"), condition("Ready", "True")}).ready);
  CHECK(!with_conditions({condition("Ready", "False")}).ready);
  CHECK(!with_conditions({condition("Ready", "Unknown")}).ready);
  CHECK(!with_conditions({condition("Suspended", "True")}).ready);
  CHECK(!with_conditions(nullptr).ready);
}

SCENARIO("what is read of a Sandbox is typed, and the rest of it does not matter") {
  auto ready = condition("Ready", "False");
  ready["observedGeneration"] = 4;
  ready["message"] = "no pod yet";
  const auto it =
    read_sandbox({{"metadata",
                   {{"name", "n"},
                    {"uid", "u"},
                    {"resourceVersion", "7"},
                    {"generation", 5},
                    {"creationTimestamp", "2026-01-02T03:04:05Z"},
                    {"annotations", {{"a", "b"}, {"c", 1}, {template_hash_annotation, "sha256:x"}}}}},
                  {"spec", {{"podTemplate", {{"spec", 1}}}, {"volumeClaimTemplates", {{{"a", 1}}}}}},
                  {"status", {{"conditions", {ready}}, {"serviceFQDN", "f"}, {"selector", "a=b"}, {"podIPs", {"10.0.0.1", ""}}}}});
  CHECK_EQ(it.name.value_or(""), "n");
  CHECK_EQ(it.uid.value_or(sandbox_uid{}), sandbox_uid{"u"});
  CHECK_EQ(it.resource_version.value_or(""), "7");
  CHECK_EQ(it.generation.value_or(0), 5);
  CHECK_EQ(it.created.value_or(""), "2026-01-02T03:04:05Z");
  CHECK_EQ(it.annotations.size(), 2u);
  CHECK_EQ(it.template_hash.value_or(""), "sha256:x");
  CHECK_EQ(it.service_fqdn.value_or(""), "f");
  CHECK_EQ(it.selector.value_or(""), "a=b");
  CHECK_EQ(it.pod_ips, std::vector<std::string>{"10.0.0.1"});
  CHECK_EQ(it.ready_message.value_or(""), "no pod yet");
  CHECK(!it.seen_by_controller(it.generation));
  CHECK(it.seen_by_controller(4));
  CHECK(it.seen_by_controller(std::nullopt));
  // A controller that reports no generation cannot be waited for; one that has not looked at all can.
  CHECK(with_conditions({condition("Ready", "False")}).seen_by_controller(1));
  CHECK(!with_conditions(json::array()).seen_by_controller(1));
  CHECK(!with_conditions(nullptr).seen_by_controller(1));
  CHECK_EQ(it.pod_template.dump(), R"({"spec":1})");
  const auto odd = read_sandbox({{"metadata", {{"uid", ""}, {"annotations", "x"}}}, {"spec", 3}, {"status", nullptr}});
  CHECK(!odd.uid);
  CHECK(odd.annotations.empty());
  CHECK(odd.pod_template.is_null());
  CHECK(!read_sandbox("text").name);
}

SCENARIO("a pod is live, stopped or draining") {
  CHECK(life_of({{"metadata", json::object()}}) == pod::life::live);
  CHECK(life_of({{"metadata", {{"deletionTimestamp", nullptr}}}, {"status", {{"phase", "Pending"}}}}) == pod::life::live);
  CHECK(life_of({{"metadata", {{"deletionTimestamp", "2026-01-02T03:04:05Z"}}}, {"status", {{"phase", "Running"}}}})
        == pod::life::draining);
  CHECK(life_of({{"metadata", {{"deletionTimestamp", "2026-01-02T03:04:05Z"}}}, {"status", {{"phase", "Failed"}}}}) == pod::life::stopped);
  CHECK(life_of({{"metadata", json::object()}, {"status", {{"phase", "Succeeded"}}}}) == pod::life::stopped);
  CHECK(life_of(json::object()) == pod::life::nothing);
  CHECK(read_pod({{"metadata", json::object()}, {"status", {{"phase", "Succeeded"}}}}).retired());
  CHECK(!read_pod({{"metadata", {{"deletionTimestamp", "x"}}}}).retired());
}

SCENARIO("a pod's address is its podIP, else the first of its podIPs that is not empty") {
  CHECK_EQ(read_pod({{"status", {{"podIP", "10.0.0.1"}, {"podIPs", {{{"ip", "10.0.0.2"}}}}}}}).ip.value_or(""), "10.0.0.1");
  CHECK_EQ(read_pod({{"status", {{"podIP", ""}, {"podIPs", {{{"ip", ""}}, {{"ip", "10.0.0.2"}}}}}}}).ip.value_or(""), "10.0.0.2");
  CHECK(!read_pod({{"status", json::object()}}).ip);
}

SCENARIO("a pod may belong to a Sandbox unless its controller is another") {
  const auto owned = [](bool controller, const char* uid) {
    return read_pod({{"metadata", {{"ownerReferences", {{{"kind", "Sandbox"}, {"uid", uid}, {"controller", controller}}}}}}});
  };
  const auto mine = sandbox_uid{"S1"};
  CHECK(owned(true, "S1").may_belong_to(mine));
  CHECK(!owned(true, "S2").may_belong_to(mine));
  CHECK(owned(false, "S2").may_belong_to(mine));
  CHECK(read_pod({{"metadata", json::object()}}).may_belong_to(mine));
}

SCENARIO("a pod's uid is not printed") {
  const auto it = read_pod({{"metadata", {{"uid", "p1"}}}});
  REQUIRE(it.uid);
  CHECK_EQ(it.uid->reveal(), "p1");
  CHECK_EQ(to_string(*it.uid), "[secret]");
}

SCENARIO("paths are those of the API server") {
  CHECK_EQ(sandboxes_path("ns"), "/apis/agents.x-k8s.io/v1beta1/namespaces/ns/sandboxes");
  CHECK_EQ(sandboxes_path("ns", "a"), "/apis/agents.x-k8s.io/v1beta1/namespaces/ns/sandboxes/a");
  CHECK_EQ(claims_path("ns", "a"), "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/ns/sandboxclaims/a");
  CHECK_EQ(warm_pool_path("ns", "a"), "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/ns/sandboxwarmpools/a");
  CHECK_EQ(template_path("ns", "a"), "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/ns/sandboxtemplates/a");
  CHECK_EQ(pods_path("ns", "a"), "/api/v1/namespaces/ns/pods/a");
  CHECK_EQ(volume_claim_path("ns", "workspace", "namzu-ws-a"), "/api/v1/namespaces/ns/persistentvolumeclaims/workspace-namzu-ws-a");
  CHECK_EQ(config_map_path("ns", "a"), "/api/v1/namespaces/ns/configmaps/a");
  CHECK_EQ(network_policies_path("ns"), "/apis/networking.k8s.io/v1/namespaces/ns/networkpolicies");
  CHECK_EQ(cilium_policies_path("ns", "a"), "/apis/cilium.io/v2/namespaces/ns/ciliumnetworkpolicies/a");
  CHECK_EQ(admission_policy_path("a/b"), "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/a%2Fb");
  CHECK_EQ(admission_binding_path("a"), "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/a");
  CHECK_EQ(with_selector("/p", ""), "/p");
  CHECK_EQ(with_selector("/p", "a=b c"), "/p?labelSelector=a%3Db%20c");
}
