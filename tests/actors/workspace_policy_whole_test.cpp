#define CAF_SUITE workspace_policy_whole

// What a WORKSPACE grants, over the real flows of egress and a scripted API server: the cases that speak of requests.

#include "tests/actors/egress_fixture.hpp"

using namespace paddock;
using namespace paddock::test;
using nlohmann::json;
using workspace::done;
using workspace::opened;
using workspace::origin;

namespace {

using texts = std::vector<std::string>;
constexpr caf::timespan minute = 1min;
const std::string own_policy = grant_cluster::policies + "/namzu-sbx-S1";

struct fixture : egress_fixture {
  using policy_answer = std::shared_ptr<answer_of<policy_view>>;

  fixture() {
    stand("S1");
    me = keep(sys.spawn<workspace_impl>(std::ref(on), *workspace::id::parse("desk")));
    ask<opened_view>(me, atom::open_v, open_spec{}, minute);
    beside.transitions.opens.at(0).to({running(), opened{origin::created}});
    sched.run();
  }
  /// This Sandbox stands under the name of the workspace, with the labels that its template gives to pods.
  void stand(const std::string& uid) {
    const auto name = host.workspace(uid).owner.name;
    sandbox()["spec"]["podTemplate"]["metadata"]["labels"] = {
      {"app", "namzu"}, {"sandbox.namzu.ai/template", "namzu-task"}, {"sandbox.namzu.ai/per-sandbox-egress", name}};
  }
  json& sandbox() {
    return host.objects.at("/apis/agents.x-k8s.io/v1beta1/namespaces/namzu-sandboxes/sandboxes/namzu-ws-desk");
  }
  policy_answer set(texts hosts) {
    return ask<policy_view>(me, atom::policy_v, policy_request{policy_spec{std::move(hosts)}}, minute);
  }
  policy_answer granted(texts hosts) {
    auto got = set(std::move(hosts));
    settle();
    return got;
  }
  void suspend() {
    ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
    beside.transitions.suspends.back().to({suspended(), done{}});
    settle();
  }
  void begin_resume() {
    ask<opened_view>(me, atom::resume_v, open_spec{}, minute);
  }
  void end_resume(bool proved) {
    auto after = running();
    after.pod = pod_uid{"P2"};
    after.fence_proved = proved;
    beside.transitions.resumes.back().to({after, opened{origin::resumed}});
    settle();
  }

  workspace_actor me;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(workspace_policy_whole_tests, fixture)

// [W 248]
// [E 254]
SCENARIO("a first grant reads the Sandbox and the fence, writes the policy, reads it back and judges the union") {
  auto got = granted({"Api.Example.com"});
  CHECK_EQ(outcome(got), "done");
  REQUIRE(!host.api.calls.empty());
  CHECK_EQ(host.api.calls[0].method, "GET");
  CHECK(host.api.calls[0].path.ends_with("/sandboxes/namzu-ws-desk"));
  // Then the fence, once: the policy and its binding.
  CHECK_EQ(host.fence_reads(), 2u);
  CHECK(host.api.calls.at(1).path.find("/validatingadmissionpolicies/") != std::string::npos);
  CHECK(host.api.calls.at(2).path.find("/validatingadmissionpolicybindings/") != std::string::npos);
  CHECK_EQ(host.sent(), (texts{"GET namzu-ws-desk", "POST ciliumnetworkpolicies", "GET namzu-ws-desk", "GET namzu-sbx-S1",
                               "GET networkpolicies?limit=500", "GET ciliumnetworkpolicies?limit=500"}));
  const auto posts = host.api.sent("POST");
  REQUIRE_EQ(posts.size(), 1u);
  const auto& body = posts[0].body;
  CHECK_EQ(body["metadata"]["name"], "namzu-sbx-S1");
  const auto selector = json{{"matchLabels", {{"sandbox.namzu.ai/per-sandbox-egress", "namzu-ws-desk"}}}};
  const auto owner = json{{"apiVersion", "agents.x-k8s.io/v1beta1"}, {"kind", "Sandbox"}, {"name", "namzu-ws-desk"}, {"uid", "S1"}};
  CHECK(body["spec"]["endpointSelector"] == selector);
  CHECK(body["metadata"]["ownerReferences"] == json::array({owner}));
  CHECK(body["spec"].dump().find("\"api.example.com\"") != std::string::npos);
  CHECK(body["spec"].dump().find("Api") == std::string::npos);
  REQUIRE(got->value);
  CHECK_EQ(got->value->allowed_hosts, texts{"api.example.com"});
}

// [W 249]
SCENARIO("a second grant replaces the first one in the same object, and reads it back") {
  granted({"a.example"});
  host.api.calls.clear();
  auto got = granted({"b.example"});
  CHECK_EQ(outcome(got), "done");
  CHECK_EQ(host.sent(), (texts{"GET namzu-ws-desk", "POST ciliumnetworkpolicies", "PATCH namzu-sbx-S1", "GET namzu-ws-desk",
                               "GET namzu-sbx-S1", "GET networkpolicies?limit=500", "GET ciliumnetworkpolicies?limit=500"}));
  const auto patches = host.api.sent("PATCH");
  REQUIRE_EQ(patches.size(), 1u);
  CHECK(patches[0].type == k8s::call::content::merge_patch);
  CHECK_EQ(patches[0].path, own_policy);
  CHECK(host.objects.at(own_policy)["spec"].dump().find("b.example") != std::string::npos);
  CHECK(host.objects.at(own_policy)["spec"].dump().find("a.example") == std::string::npos);
  CHECK_EQ(host.fence_reads(), 0u);
}

// [W 250]
SCENARIO("no hosts delete the policy, and one that is gone already is deleted too") {
  granted({"a.example"});
  for (const auto standing : {true, false}) {
    CHECK_EQ(host.objects.contains(own_policy), standing);
    host.api.calls.clear();
    auto got = granted({});
    REQUIRE(got->value);
    CHECK(!got->value->stands);
    CHECK_EQ(host.sent(), (texts{"GET namzu-ws-desk", "DELETE namzu-sbx-S1"}));
    CHECK(!host.objects.contains(own_policy));
  }
}

// [W 251]
SCENARIO("after a resume that proved the fence the first grant reads nothing of it") {
  suspend();
  begin_resume();
  end_resume(true);
  CHECK_EQ(outcome(granted({"a.example"})), "done");
  CHECK_EQ(host.fence_reads(), 0u);
}

// [W 252]
// [E 255] another Sandbox
// [E 256] a deleted one
SCENARIO("another Sandbox under the name is reported as replaced, and a deleted workspace as destroyed, and nothing is written") {
  stand("S2");
  auto replaced = granted({"a.example"});
  CHECK_EQ(outcome(replaced), "WorkspaceReplaced");
  REQUIRE(replaced->why);
  const auto details = json::parse(replaced->why->details);
  CHECK_EQ(details["expectedSandboxUid"], "S1");
  CHECK_EQ(details["actualSandboxUid"], "S2");
  CHECK_EQ(host.sent(), texts{"GET namzu-ws-desk"});
  CHECK_EQ(host.fence_reads(), 0u);
  ask<caf::unit_t>(me, atom::remove_v, remove_spec{}, minute);
  auto after = running();
  after.at = workspace::state::deleted;
  beside.transitions.removes.at(0).to({after, done{}});
  settle();
  host.api.calls.clear();
  auto destroyed = granted({"a.example"});
  CHECK_EQ(outcome(destroyed), "SandboxDestroyed");
  CHECK_EQ(json::parse(destroyed->why->details)["operation"], "setNetworkPolicy");
  CHECK(host.api.calls.empty());
}

SCENARIO("a Sandbox that is gone, and one without a uid, are refused by name, and nothing is written") {
  sandbox()["metadata"].erase("uid");
  auto without = granted({"a.example"});
  CHECK_EQ(outcome(without), "OwnerUidMissing");
  CHECK_EQ(json::parse(without->why->details)["objectName"], "namzu-ws-desk");
  host.objects.erase("/apis/agents.x-k8s.io/v1beta1/namespaces/namzu-sandboxes/sandboxes/namzu-ws-desk");
  auto gone = granted({"a.example"});
  CHECK_EQ(outcome(gone), "AlreadyGone");
  CHECK(gone->why->how == verdict::not_found);
  CHECK_EQ(host.sent(), (texts{"GET namzu-ws-desk", "GET namzu-ws-desk"}));
  CHECK_EQ(host.fence_reads(), 0u);
}

// [W 253]
// [E 258]
SCENARIO("a grant that comes during a resume waits for it, and goes by the fence of the new session") {
  granted({"a.example"});
  for (const auto proved : {true, false}) {
    suspend();
    begin_resume();
    host.api.calls.clear();
    auto got = set({"b.example"});
    settle();
    CHECK_EQ(outcome(got), "waits");
    CHECK(host.api.calls.empty());
    end_resume(proved);
    CHECK_EQ(outcome(got), "done");
    CHECK_EQ(host.fence_reads(), proved ? 0u : 2u);
    CHECK_EQ(host.api.sent("POST").size(), 1u);
  }
}

// [W 254]
SCENARIO("a third policy that allows more fails the grant after its write") {
  host.objects[core_policies + "/wide"] = json{
    {"metadata", {{"name", "wide"}}},
    {"spec",
     {{"podSelector", {{"matchLabels", {{"app", "namzu"}}}}}, {"policyTypes", {"Egress"}}, {"egress", json::array({json::object()})}}}};
  auto got = granted({"a.example"});
  CHECK_EQ(outcome(got), "EgressPolicyUnion");
  CHECK(got->why->how == verdict::failed);
  CHECK(got->why->message.find("NetworkPolicy/wide") != std::string::npos);
  CHECK(host.objects.contains(own_policy));
  CHECK_EQ(host.api.sent("DELETE").size(), 0u);
}

// [E 257]
SCENARIO("a suspended workspace is granted hosts, and keeps them when it is resumed") {
  suspend();
  CHECK_EQ(outcome(granted({"a.example"})), "done");
  const auto policy = host.objects.at(own_policy);
  host.api.calls.clear();
  begin_resume();
  end_resume(true);
  CHECK(host.objects.at(own_policy) == policy);
  CHECK_EQ(host.writes(), 0u);
  CHECK(beside.warnings.empty());
}

// [E 264]
SCENARIO("calls for one uid go through one queue, in their order") {
  auto first = set({"a.example"});
  auto second = set({});
  auto third = set({"c.example"});
  settle();
  for (const auto& x : {first, second, third})
    CHECK_EQ(outcome(x), "done");
  auto writes = texts{};
  for (const auto& x : host.api.calls)
    if (x.method != "GET")
      writes.push_back(x.method);
  CHECK_EQ(writes, (texts{"POST", "DELETE", "POST"}));
  CHECK(host.objects.at(own_policy)["spec"].dump().find("c.example") != std::string::npos);
  // One queue remembers: what is changed behind its back is put back once, at the next bind.
  host.objects[own_policy]["spec"]["egress"] = json::array();
  host.api.calls.clear();
  begin_resume();
  end_resume(true);
  CHECK(host.objects.at(own_policy)["spec"].dump().find("c.example") != std::string::npos);
  REQUIRE_EQ(beside.warnings.size(), 1u);
  CHECK(beside.warnings[0].starts_with("workspace desk: policy namzu-sbx-S1 put-back: "));
}

SCENARIO("a grant whose write arrives after it was cleared is taken away again, and a line says so") {
  auto late = std::optional<k8s::call>{};
  host.intercept = [&](const k8s::call& x) -> std::optional<grant_cluster::reply> {
    if (x.method != "POST" || late)
      return std::nullopt;
    late = x;
    return timed_out(x);
  };
  auto unknown = granted({"a.example"});
  CHECK_EQ(outcome(unknown), "OutcomeUnknown");
  CHECK(unknown->why->how == verdict::unknown);
  CHECK_EQ(outcome(granted({})), "done");
  REQUIRE(late);
  static_cast<void>(host.answer(*late));
  CHECK(host.objects.contains(own_policy));
  pass(1s);
  CHECK(!host.objects.contains(own_policy));
  REQUIRE_EQ(beside.warnings.size(), 1u);
  CHECK(beside.warnings[0].starts_with("workspace desk: policy namzu-sbx-S1 taken-away: "));
}

SCENARIO("what stands is shown as it stands, and reading it proves and writes nothing") {
  granted({"a.example", ".b.example"});
  host.objects[own_policy]["spec"]["egress"].push_back(
    {{"toFQDNs", {{{"matchName", "c.example"}}, {{"matchPattern", "*"}}}}, {"toPorts", json::array()}});
  host.api.calls.clear();
  auto got = ask<policy_view>(me, atom::policy_v, policy_request{}, minute);
  settle();
  REQUIRE(got->value);
  CHECK(got->value->stands);
  CHECK_EQ(got->value->policy, "namzu-sbx-S1");
  CHECK_EQ(got->value->sandbox_uid, "S1");
  CHECK_EQ(got->value->allowed_hosts, (texts{"a.example", ".b.example", "c.example", "*"}));
  CHECK(json::parse(got->value->spec) == host.objects.at(own_policy)["spec"]);
  CHECK_EQ(host.sent(), (texts{"GET namzu-ws-desk", "GET namzu-sbx-S1"}));
  CHECK_EQ(host.fence_reads(), 0u);
}

CAF_TEST_FIXTURE_SCOPE_END()
