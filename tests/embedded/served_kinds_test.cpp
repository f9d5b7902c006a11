#define CAF_SUITE served_kinds

#include "embedded/custom_definitions.hpp"
#include "embedded/event_expiry.hpp"
#include "tests/embedded/api_world.hpp"
#include "tests/embedded/gated_world.hpp"

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

constexpr auto merge = "application/merge-patch+json";
constexpr auto aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
using words = std::vector<std::string>;

json pool(int replicas) {
  return {{"apiVersion", "extensions.agents.x-k8s.io/v1beta1"},
          {"kind", "SandboxWarmPool"},
          {"metadata", {{"name", "p"}}},
          {"spec", {{"replicas", replicas}, {"sandboxTemplateRef", {{"name", "t"}}}}}};
}

} // namespace

// -- discovery ----------------------------------------------------------------------------------------------------

SCENARIO("a client may find out everything with two requests") {
  api_world w;
  const auto core = w.get("/api", aggregated);
  CHECK_EQ(core.type, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  CHECK_EQ(text_at(core.body["items"][0]["versions"][0], {"version"}), "v1");
  const auto all = w.get("/apis", aggregated).body;
  words names;
  for (const auto& x : all["items"])
    names.push_back(text_at(x, {"metadata", "name"}));
  CHECK_EQ(names, (words{"events.k8s.io", "authentication.k8s.io", "authorization.k8s.io", "networking.k8s.io", "rbac.authorization.k8s.io",
                         "admissionregistration.k8s.io", "apiextensions.k8s.io", "coordination.k8s.io", "agents.x-k8s.io",
                         "extensions.agents.x-k8s.io"}));
  const auto& pools = all["items"].back()["versions"][0]["resources"][2];
  CHECK_EQ(text_at(pools, {"resource"}), "sandboxwarmpools");
  CHECK_EQ(text_at(pools["subresources"][1], {"responseKind", "group"}), "autoscaling");
  // Who takes no such document gets the old one.
  CHECK_EQ(text_at(w.get("/apis").body, {"kind"}), "APIGroupList");
}

SCENARIO("the old documents tell the same, with what clients see of the form in which objects are kept") {
  api_world w;
  const auto kinds = w.get("/apis/extensions.agents.x-k8s.io/v1beta1").body["resources"];
  words names;
  for (const auto& x : kinds)
    names.push_back(text_at(x, {"name"}));
  CHECK_EQ(names, (words{"sandboxclaims", "sandboxclaims/status", "sandboxtemplates", "sandboxwarmpools", "sandboxwarmpools/status",
                         "sandboxwarmpools/scale"}));
  CHECK_EQ(text_at(kinds[0], {"storageVersionHash"}), "aLvkrUG8glw="); // as a real server has it
  CHECK(kinds[3]["shortNames"] == json::array({"swp"}));
}

SCENARIO("the oldest description of the kinds is there, and says nothing of them") {
  api_world w;
  const auto plain = w.get("/openapi/v2");
  CHECK_EQ(plain.status, 200u);
  CHECK_EQ(plain.text, R"({"swagger":"2.0","info":{"title":"Kubernetes","version":"v1.36.2+paddock"},"paths":{}})");
  const auto packed = w.get("/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf");
  CHECK_EQ(packed.type, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  CHECK_EQ(w.get("/openapi/v2", packed.type).text, packed.text);
  const auto info = "\x0a\x0aKubernetes\x12\x0f" + std::string{"v1.36.2+paddock"};
  const std::string paths{"\x42\0", 2};
  CHECK_EQ(packed.text, "\x0a\x03" + std::string{"2.0\x12"} + static_cast<char>(info.size()) + info + paths);
  CHECK_EQ(w.ask({"POST", "/openapi/v2", "{}"}).status, 405u);
}

SCENARIO("Cilium's policies are served where that is asked for") {
  api_world without;
  const std::string path = "/apis/cilium.io/v2/namespaces/default/ciliumnetworkpolicies";
  CHECK_EQ(without.get(path).status, 404u);
  CHECK_EQ(without.get("/apis/cilium.io/v2").status, 404u);
  api_world w;
  w.objects.serve_cilium();
  CHECK_EQ(w.get("/apis").body["groups"].size(), 11u);
  w.make(
    path,
    {{"apiVersion", "cilium.io/v2"}, {"kind", "CiliumNetworkPolicy"}, {"metadata", {{"name", "p"}}}, {"spec", {{"any", {{"thing", 1}}}}}});
  CHECK(w.get(path + "/p").body["spec"]["any"]["thing"] == 1);
}

// -- kinds --------------------------------------------------------------------------------------------------------

SCENARIO("the definitions of the custom kinds can be read, and not written") {
  api_world w;
  const auto version = w.objects.version();
  hold_definitions(w.objects, w.now);
  CHECK_EQ(w.objects.version(), version);
  const std::string crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  CHECK_EQ(names_in(w.get(crds).body).size(), 4u);
  const auto one = w.get(crds + "/sandboxes.agents.x-k8s.io").body;
  CHECK(one["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"].contains("spec"));
  CHECK(one["status"]["storedVersions"] == json::array({"v1beta1"}));
  for (const auto* method : {"PUT", "PATCH", "DELETE"})
    CHECK_EQ(w.ask({method, crds + "/sandboxes.agents.x-k8s.io", "{}", merge}).status, 405u);
  CHECK_EQ(w.ask({"POST", crds, "{}"}).status, 405u);
  CHECK_EQ(w.ask({"DELETE", crds}).status, 405u);
}

SCENARIO("a Secret keeps what came as text in base64, and says what is none") {
  api_world w;
  const std::string secrets = "/api/v1/namespaces/default/secrets";
  const auto made = w.make(secrets, {{"metadata", {{"name", "s"}}}, {"stringData", {{"a", "b"}}}});
  CHECK_EQ(made["data"].dump(), R"({"a":"Yg=="})");
  CHECK(!made.contains("stringData"));
  CHECK_EQ(text_at(made, {"type"}), "Opaque");
  CHECK_EQ(w.ask({"POST", secrets, R"({"metadata":{"name":"t"},"data":{"a":"!!"}})"}).status, 400u);
  CHECK_EQ(w.ask({"POST", secrets, R"({"metadata":{"name":"t"},"data":{"a b":""}})"}).status, 422u);
  CHECK_EQ(w.ask({"PATCH", secrets + "/s", R"({"immutable":true})", merge}).status, 200u);
  CHECK_EQ(w.ask({"PATCH", secrets + "/s", R"({"data":{"a":"Yw=="}})", merge}).status, 422u);
}

SCENARIO("a NetworkPolicy gets its types and protocols, and is held against the form of addresses") {
  api_world w;
  const std::string policies = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies";
  const auto made = w.make(
    policies, {{"metadata", {{"name", "p"}}}, {"spec", {{"podSelector", json::object()}, {"egress", {{{"ports", {{{"port", 53}}}}}}}}}});
  CHECK(made["spec"]["policyTypes"] == json::array({"Ingress", "Egress"}));
  CHECK_EQ(made["spec"]["egress"][0]["ports"].dump(), R"([{"port":53,"protocol":"TCP"}])");
  CHECK(made["metadata"]["generation"] == 1);
  const auto bad =
    w.ask({"POST", policies,
           R"({"metadata":{"name":"b"},"spec":{"podSelector":{},"policyTypes":["Foo"],"ingress":[{"from":[{"ipBlock":{"cidr":"x"}}]}]}})"});
  CHECK_EQ(
    bad.message(),
    R"(NetworkPolicy.networking.k8s.io "b" is invalid: [spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "x": must be a valid )"
    R"(CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64), spec.policyTypes[0]: Unsupported value: "Foo": supported values: "Ingress", "Egress"])");
}

SCENARIO("Events are about their own namespace, and go after an hour") {
  api_world w;
  const std::string events = "/api/v1/namespaces/default/events";
  const auto about = [](const char* name, const char* name_space) {
    return json{{"metadata", {{"name", name}}}, {"involvedObject", {{"kind", "Pod"}, {"name", "p"}, {"namespace", name_space}}}};
  };
  CHECK_EQ(w.ask({"POST", events, about("e", "other").dump()}).message(),
           R"(Event "e" is invalid: involvedObject.namespace: Invalid value: "other": does not match event.namespace)");
  w.make(events, about("old", "default"));
  w.now += 50min;
  w.make(events, about("new", "default"));
  w.now += 20min;
  CHECK(!expire_events(w.objects, w.now));
  CHECK_EQ(names_in(w.get(events).body), (words{"new"}));
}

SCENARIO("Events go in steps, and one that is to stay is passed by") {
  api_world w;
  const std::string events = "/api/v1/namespaces/default/events";
  const auto make = [&](const std::string& name, const json& extra) {
    json event{{"metadata", {{"name", name}}}, {"involvedObject", {{"kind", "Pod"}, {"name", "p"}, {"namespace", "default"}}}};
    event.merge_patch(extra);
    w.make(events, event);
  };
  // The year 9999 stands for never.
  make("never", {{"lastTimestamp", "9999-12-31T23:59:59Z"}});
  for (int i = 0; i < 110; ++i)
    make("held-" + std::to_string(i), {{"metadata", {{"finalizers", {"a.b/c"}}}}});
  for (int i = 0; i < 150; ++i)
    make("old-" + std::to_string(i), json::object());
  w.now += 2h;
  CHECK(expire_events(w.objects, w.now));
  CHECK_EQ(names_in(w.get(events).body).size(), 261u);
  CHECK(expire_events(w.objects, w.now));
  CHECK_EQ(names_in(w.get(events).body).size(), 171u);
  CHECK(!expire_events(w.objects, w.now));
  const auto left = names_in(w.get(events).body);
  CHECK_EQ(left.size(), 111u);
  CHECK_EQ(left.back(), "never");
  const auto version = w.objects.version();
  CHECK(!expire_events(w.objects, w.now));
  CHECK_EQ(w.objects.version(), version);
}

SCENARIO("Leases and Nodes are kept as they are sent") {
  api_world w;
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  w.make(leases, {{"metadata", {{"name", "l"}}}, {"spec", {{"holderIdentity", "me"}, {"renewTime", "2026-01-01T00:00:00.000000Z"}}}});
  CHECK_EQ(w.ask({"POST", leases, R"({"metadata":{"name":"b"},"spec":{"leaseDurationSeconds":-1}})"}).status, 422u);
  CHECK_EQ(w.ask({"POST", leases, R"({"metadata":{"name":"b"},"spec":{"renewTime":"abc"}})"}).status, 400u);
  w.make("/api/v1/nodes", {{"metadata", {{"name", "n"}}}});
  CHECK_EQ(w.ask({"PATCH", "/api/v1/nodes/n/status", R"({"status":{"nodeInfo":{"kubeletVersion":"v1"}}})",
                  "application/strategic-merge-patch+json"})
             .status,
           200u);
}

SCENARIO("a SandboxClaim is checked by its definition") {
  api_world w;
  const auto claims = std::string{w.extensions} + "/sandboxclaims";
  json claim{{"apiVersion", "extensions.agents.x-k8s.io/v1beta1"},
             {"kind", "SandboxClaim"},
             {"metadata", {{"name", "c"}}},
             {"spec", json::object()}};
  CHECK_NE(w.ask({"POST", claims, claim.dump()}).message().find("spec.warmPoolRef: Required value"), std::string::npos);
  claim["spec"] = {{"warmPoolRef", {{"name", "p"}}}, {"lifecycle", {{"ttlSecondsAfterFinished", 5}}}, {"what", 1}};
  const auto made = w.ask({"POST", claims, claim.dump()});
  REQUIRE_EQ(made.status, 201u);
  CHECK_EQ(text_at(made.body, {"spec", "lifecycle", "shutdownPolicy"}), "Retain");
  CHECK(!made.body["spec"].contains("what"));
}

// -- subresources -------------------------------------------------------------------------------------------------

SCENARIO("a pool is scaled by way of its Scale, in all forms of a write") {
  api_world w;
  const auto pools = std::string{w.extensions} + "/sandboxwarmpools";
  w.make(pools, pool(2));
  const auto scale = w.get(pools + "/p/scale").body;
  CHECK_EQ(text_at(scale, {"apiVersion"}), "autoscaling/v1");
  CHECK(scale["spec"]["replicas"] == 2);
  CHECK(scale["status"]["replicas"] == 0);
  auto wanted = scale;
  wanted["spec"]["replicas"] = 4;
  CHECK(w.ask({"PUT", pools + "/p/scale", wanted.dump()}).body["spec"]["replicas"] == 4);
  CHECK(w.ask({"PATCH", pools + "/p/scale", R"({"spec":{"replicas":5}})", merge}).body["spec"]["replicas"] == 5);
  CHECK(w.ask({"PATCH", pools + "/p/scale", R"([{"op":"replace","path":"/spec/replicas","value":6}])", "application/json-patch+json"})
          .body["spec"]["replicas"]
        == 6);
  CHECK(w.get(pools + "/p").body["spec"]["replicas"] == 6);
  CHECK(w.get(pools + "/p").body["metadata"]["generation"] == 4);
  CHECK_EQ(w.ask({"PUT", pools + "/p/scale", wanted.dump()}).status, 409u);
  CHECK_EQ(w.ask({"PATCH", pools + "/p/scale", R"({"spec":{"replicas":-1}})", merge}).status, 422u);
  CHECK_EQ(w.ask({"PATCH", pools + "/p/scale", R"({"spec":{"replicas":"x"}})", merge}).status, 400u);
}

SCENARIO("an account's token is good until the account has gone") {
  gated_world w;
  const std::string accounts = "/api/v1/namespaces/default/serviceaccounts";
  w.make(accounts, {{"metadata", {{"name", "robot"}}}});
  const auto asked = json{{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}, {"spec", json::object()}};
  const auto got = w.ask(w.root, "POST", accounts + "/robot/token", asked);
  REQUIRE_EQ(got.status, 201u);
  CHECK(got.body["spec"]["expirationSeconds"] == 3600);
  const auto header = "Bearer " + text_at(got.body, {"status", "token"});
  const auto user = w.gate.who().user_of({}, header, w.objects, w.now);
  REQUIRE(user);
  CHECK_EQ(user->name, "system:serviceaccount:default:robot");
  CHECK(!w.gate.who().user_of({}, header, w.objects, w.now + 2h));
  CHECK_EQ(w.ask(w.root, "DELETE", accounts + "/robot").status, 200u);
  CHECK(!w.gate.who().user_of({}, header, w.objects, w.now));
  // Refusals.
  CHECK_EQ(w.ask(w.root, "POST", accounts + "/robot/token", asked).status, 404u);
  w.make(accounts, {{"metadata", {{"name", "robot"}}}});
  CHECK_EQ(
    w.ask(w.root, "POST", accounts + "/robot/token", {{"spec", {{"expirationSeconds", 5}}}}).message(),
    R"(TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes)");
  CHECK_EQ(w.ask({"nobody"}, "POST", accounts + "/robot/token", asked).status, 403u);
}

SCENARIO("what is new is behind the same gate") {
  gated_world w;
  const std::string pools = "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/default/sandboxwarmpools";
  w.make(pools, pool(1));
  w.cluster_role("pools", {{{"apiGroups", {"extensions.agents.x-k8s.io"}}, {"resources", {"sandboxwarmpools"}}, {"verbs", {"*"}}}});
  w.bind_everywhere("pools", "ann");
  CHECK_EQ(w.ask({"ann"}, "GET", pools + "/p").status, 200u);
  CHECK_EQ(w.ask({"ann"}, "PATCH", pools + "/p/scale", {{"spec", {{"replicas", 2}}}}, merge).status, 403u);
  w.cluster_role("lists", {{{"apiGroups", {""}}, {"resources", {"configmaps"}}, {"verbs", {"list", "delete"}}}});
  w.bind_everywhere("lists", "bob");
  CHECK_EQ(w.ask({"bob"}, "DELETE", "/api/v1/namespaces/default/configmaps").status, 403u);
  CHECK_EQ(w.ask({"bob"}, "GET", "/api/v1/namespaces/default/pods/p/log").status, 403u);
  CHECK_EQ(w.ask({"bob"}, "PUT", "/api/v1/namespaces/other/finalize", json::object()).status, 403u);
}

SCENARIO("a policy is asked about each object of a collection, and about a Scale") {
  gated_world w;
  const std::string admission = "/apis/admissionregistration.k8s.io/v1/";
  const auto policy = [&](const char* name, const char* group, const char* resource, const char* operation, const char* expression) {
    w.make(
      admission + "validatingadmissionpolicies",
      {{"metadata", {{"name", name}}},
       {"spec",
        {{"matchConstraints",
          {{"resourceRules", {{{"apiGroups", {group}}, {"apiVersions", {"*"}}, {"operations", {operation}}, {"resources", {resource}}}}}}},
         {"validations", {{{"expression", expression}}}}}}});
    w.make(admission + "validatingadmissionpolicybindings",
           {{"metadata", {{"name", name}}}, {"spec", {{"policyName", name}, {"validationActions", {"Deny"}}}}});
  };
  policy("keep", "", "configmaps", "DELETE", "request.name != 'b'");
  policy("few", "extensions.agents.x-k8s.io", "sandboxwarmpools/scale", "UPDATE", "object.spec.replicas < 5");
  const std::string configs = "/api/v1/namespaces/default/configmaps";
  for (const auto* name : {"a", "b"})
    w.make(configs, {{"metadata", {{"name", name}}}});
  CHECK_EQ(w.ask(w.root, "DELETE", configs).status, 422u);
  CHECK_EQ(names_in(w.ask(w.root, "GET", configs).body), (words{"b"}));
  const std::string pools = "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/default/sandboxwarmpools";
  w.make(pools, pool(1));
  CHECK_EQ(w.ask(w.root, "PATCH", pools + "/p/scale", {{"spec", {{"replicas", 9}}}}, merge).status, 422u);
  CHECK_EQ(w.ask(w.root, "PATCH", pools + "/p/scale", {{"spec", {{"replicas", 4}}}}, merge).status, 200u);
}
