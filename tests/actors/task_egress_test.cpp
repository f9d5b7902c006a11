#define CAF_SUITE task_egress

// Task sandboxes and what an operator applies, from the NODE to the requests: real ports, flows and actors over a scripted API server.

#include "tests/actors/task_fixture.hpp"
#include "tests/workspace/desk.hpp"

#include <set>

using namespace paddock;
using namespace paddock::test;
using texts = std::vector<std::string>;

namespace {

struct fixture : task_fixture {
  /// A policy of this name that lets every pod of the namespace reach every address.
  void apply_wide(const std::string& name = "wide") {
    host.objects[core_policies + "/" + name] = json{
      {"metadata", {{"name", name}}},
      {"spec",
       {{"podSelector", json::object()}, {"policyTypes", {"Egress"}}, {"egress", {{{"to", {{{"ipBlock", {{"cidr", "0.0.0.0/0"}}}}}}}}}}}};
  }
  /// One that lets nobody but pods of the namespace reach the pods of the template.
  static json covering() {
    return {{"metadata", {{"name", "cover"}}},
            {"spec",
             {{"podSelector", {{"matchLabels", {{"sandbox.namzu.ai/template", "namzu-task"}}}}},
              {"policyTypes", {"Ingress"}},
              {"ingress", {{{"from", {{{"podSelector", json::object()}}}}}}}}}};
  }
  void configure_suffix() {
    configure_egress([](egress::egress_config& x) {
      x.policy = egress::static_hosts{{".corp.test"}};
      x.engine = egress::policy_engine::cilium;
    });
    host.objects[core_policies + "/baseline"] =
      json{{"metadata", {{"name", "baseline"}}}, {"spec", {{"podSelector", json::object()}, {"policyTypes", {"Egress"}}}}};
  }
  void configure_profile(const std::string& profile = "none") {
    configure_egress([&](egress::egress_config& x) {
      x.profile = profile;
      x.profile_label_key = "example.com/profile";
    });
  }
  std::string named() {
    return "GET " + of->baseline.name;
  }
  /// What an acquire comes to where a second policy of the pod has these rules of ingress: `done`, or why it is refused.
  std::string opened_by(const json& rules) {
    auto& other = host.objects[core_policies + "/other"];
    other = covering();
    other["metadata"]["name"] = "other";
    other["spec"]["ingress"] = rules;
    latest = acquire();
    if (latest->why)
      CHECK_EQ(latest->why->reason, "IngressPolicy");
    return latest->why ? details(latest)["refusal"].get<std::string>() : "done";
  }
  /// What a refusal says of the policy of this name.
  static std::string verdict_of(const std::string& name, const acquired& refused) {
    const auto said = details(refused);
    for (const auto& x : said["examined"])
      if (x["name"] == name)
        return x["verdict"];
    return {};
  }
  egress::result<void> union_of(egress::label_map labels) {
    auto got = std::optional<egress::result<void>>{};
    const auto until = deadline{host.time, std::chrono::seconds{30}};
    gates->verify_union(on.next_ticket(), {std::move(labels), "a pod"}, until, [&](egress::result<void> x) { got = std::move(x); });
    settle();
    return got.value();
  }
  acquired latest;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(task_egress_tests, fixture)

// -- the named object ---------------------------------------------------------------

// [E 72]
SCENARIO("the named object is read for the first task of a node and not for the second") {
  configure_egress();
  held();
  held();
  CHECK_EQ(count("GET", "/namzu-task-egress"), 1u);
}

// [E 73]
// [C 130] a failed check is not remembered
SCENARIO("a named object that did not stand is read again for the next task") {
  configure_egress();
  const auto applied = host.objects.extract(of->baseline.path()).mapped();
  const auto first = acquire();
  REQUIRE_EQ(outcome(first), "EgressPolicyNotApplied");
  CHECK(first->why->details.find("/networkpolicies/namzu-task-egress") != std::string::npos);
  host.objects[of->baseline.path()] = applied;
  CHECK_EQ(outcome(acquire()), "done");
  CHECK_EQ(count("GET", "/namzu-task-egress"), 2u);
}

// [E 74]
SCENARIO("no claim is made where the named object does not stand or differs") {
  configure_egress();
  host.objects.erase(of->baseline.path());
  CHECK_EQ(outcome(acquire()), "EgressPolicyNotApplied");
  host.objects[of->baseline.path()] = of->baseline.manifest;
  host.objects[of->baseline.path()]["spec"]["egress"] = json::array();
  CHECK_EQ(outcome(acquire()), "EgressPolicyMismatch");
  CHECK_EQ(host.writes(), 0u);
}

// [C 131]
SCENARIO("rules in another order are a difference, which the failure names") {
  configure_egress([](egress::egress_config& x) { x.policy = egress::public_internet{}; });
  auto& rules = host.objects[of->baseline.path()]["spec"]["egress"];
  std::reverse(rules.begin(), rules.end());
  const auto got = acquire();
  REQUIRE_EQ(outcome(got), "EgressPolicyMismatch");
  CHECK(json::parse(got->why->details)["reason"].get<std::string>().find("spec.egress") != std::string::npos);
}

// [C 132]
SCENARIO("an object of no-network passes without its empty list") {
  configure_egress([](egress::egress_config& x) { x.policy = egress::no_network{}; });
  host.objects[of->baseline.path()]["spec"].erase("egress");
  CHECK_EQ(outcome(acquire()), "done");
}

// [E 143]
SCENARIO("specs beside the spec of the named object is a mismatch before anything is made, and wider than the configuration by itself") {
  configure_suffix();
  host.objects[of->baseline.path()]["specs"] =
    json::array({{{"endpointSelector", json::object()}, {"egress", {{{"toEntities", {"world"}}}}}}});
  const auto got = acquire();
  REQUIRE_EQ(outcome(got), "EgressPolicyMismatch");
  CHECK(json::parse(got->why->details)["reason"].get<std::string>().find("specs") != std::string::npos);
  CHECK_EQ(host.writes(), 0u);
  const auto alone = union_of({{"sandbox.namzu.ai/template", "namzu-task"}});
  REQUIRE(!alone);
  CHECK(egress::to_string(alone.error()).find("specs") != std::string::npos);
  CHECK(egress::to_string(alone.error()).find(of->baseline.name) != std::string::npos);
  CHECK(std::get<egress::union_refused>(alone.error()).refusal == egress::union_refused::cause::policy_widens_egress);
}

// -- the union ----------------------------------------------------------------------

// [E 133]
SCENARIO("a pooled task whose pod only the named object selects is handed out after one read and one list") {
  configure_egress();
  held();
  CHECK_EQ(count("GET", "/namzu-task-egress"), 1u);
  CHECK_EQ(lists(), 1u);
}

// [E 134]
// [C 139] the guest is not asked
SCENARIO("a second policy that is wider refuses a pooled task, whose claim is deleted") {
  configure_egress();
  apply_wide();
  const auto got = acquire();
  REQUIRE_EQ(outcome(got), "EgressPolicyUnion");
  const auto& said = got->why->message;
  CHECK(said.find("NetworkPolicy/wide") != std::string::npos);
  CHECK(said.find("sandbox.namzu.ai/template=namzu-task") != std::string::npos);
  CHECK(said.find("namzu-task-egress: within") != std::string::npos);
  CHECK_JSON(details(got)["podLabels"], host.pod("pool-x-1")["metadata"]["labels"]);
  CHECK_EQ(count("DELETE", "/sandboxclaims/namzu-task-"), 1u);
  CHECK_EQ(count("POST", "/sandboxes"), 0u);
  CHECK_EQ(probes(), 0u);
}

// [E 135]
SCENARIO("the same refuses a task of its own Sandbox before anything is made") {
  configure_egress();
  apply_wide();
  CHECK_EQ(outcome(acquire(direct())), "EgressPolicyUnion");
  CHECK_EQ(host.writes(), 0u);
}

// [E 138]
// [C 133] under named-object-only nothing is listed
SCENARIO("named-object-only lists nothing, and reads the named object once for two tasks") {
  configure_egress();
  apply_wide();
  const auto refused = acquire();
  REQUIRE_EQ(outcome(refused), "EgressPolicyUnion");
  CHECK_EQ(details(refused)["refusal"], "policy-widens-egress");
  auto other = std::make_unique<fixture>();
  other->configure_egress([](egress::egress_config& x) { x.verify = egress::verification::named_object_only; });
  other->apply_wide();
  other->held();
  other->held();
  CHECK_EQ(other->count("GET", "/namzu-task-egress"), 1u);
  CHECK_EQ(other->lists(), 0u);
}

// [E 141]
SCENARIO("a domain with a leading dot passes with the object that it means and a baseline") {
  configure_suffix();
  held();
  CHECK_EQ(count("GET", "/ciliumnetworkpolicies/"), 1u);
  CHECK_EQ(count("GET", "/ciliumnetworkpolicies?"), 1u);
}

// [E 142]
SCENARIO("a policy for every name of a top level domain is wider than one domain") {
  configure_suffix();
  host.objects[k8s::cilium_policies_path(task_space) + "/com"] =
    json{{"metadata", {{"name", "com"}}},
         {"spec", {{"endpointSelector", json::object()}, {"egress", {{{"toFQDNs", {{{"matchPattern", "*.com"}}}}}}}}}};
  const auto got = acquire();
  REQUIRE_EQ(outcome(got), "EgressPolicyUnion");
  CHECK(got->why->message.find("CiliumNetworkPolicy/namzu-task-egress: within") != std::string::npos);
  CHECK(got->why->message.find("CiliumNetworkPolicy/com: widens-egress") != std::string::npos);
  CHECK_EQ(count("DELETE", "/sandboxclaims/"), 1u);
}

// [C 134]
SCENARIO("allow-all passes without any policy that enforces") {
  configure_egress([](egress::egress_config& x) { x.policy = egress::allow_all{}; });
  CHECK_EQ(outcome(acquire()), "done");
  host.objects.erase(of->baseline.path());
  CHECK(union_of({{"sandbox.namzu.ai/template", "namzu-task"}}));
}

// [C 137]
SCENARIO("a union that passed stands for five minutes") {
  configure_egress();
  held();
  CHECK_EQ(lists(), 1u);
  pass(4min);
  held();
  CHECK_EQ(lists(), 1u);
  pass(2min);
  held();
  CHECK_EQ(lists(), 2u);
}

// [E 146]
// [C 140]
SCENARIO("twelve tasks at once that may each be granted something share one list, and each has a label of its own") {
  configure_egress(per_sandbox);
  auto all = std::vector<acquired>{};
  for (auto i = 0; i < 12; ++i)
    all.push_back(begin());
  settle();
  for (const auto& x : all)
    CHECK_EQ(outcome(x), "done");
  CHECK_EQ(lists(), 1u);
  auto values = std::set<json>{};
  for (const auto& x : host.api.sent("POST"))
    values.insert(x.body["spec"]["additionalPodMetadata"]["labels"][of->how.per_sandbox->label_key]);
  CHECK_EQ(values.size(), 12u);
}

// [E 147]
SCENARIO("the requests of a pooled task under deny-all, from its claim to its end") {
  configure_egress();
  const auto task = held();
  CHECK_EQ(outcome(destroy(task)), "done");
  CHECK_EQ(sent(), (texts{"GET namzu-task-egress", "POST sandboxclaims", "GET TASK", "GET pool-x-1", "GET networkpolicies?limit=500",
                          "DELETE TASK"}));
  CHECK(!posted()["spec"].contains("additionalPodMetadata"));
  CHECK(!posted()["metadata"].contains("labels"));
}

// -- profiles and labels ------------------------------------------------------------

// [E 148]
SCENARIO("the label of a profile rides in the claim's pod metadata, and those of the host on the claim alone") {
  configure_profile();
  makes.how.claim_labels = {{"sandbox.namzu.ai/host-instance", "h1"}};
  held();
  const auto body = posted();
  CHECK_JSON(body["spec"], (json{{"warmPoolRef", {{"name", "pool"}}},
                                 {"additionalPodMetadata", {{"labels", {{"example.com/profile", "none"}}}}},
                                 {"lifecycle", body["spec"]["lifecycle"]}}));
  CHECK_JSON(body["metadata"]["labels"], (json{{"sandbox.namzu.ai/host-instance", "h1"}}));
}

// [E 149]
SCENARIO("a Sandbox of its own carries the template's label and the profile's") {
  configure_profile();
  host.objects[k8s::template_path(task_space, "namzu-task")]["spec"]["podTemplate"]["metadata"].erase("labels");
  held(direct());
  CHECK_JSON(posted()["spec"]["podTemplate"]["metadata"]["labels"],
             (json{{"sandbox.namzu.ai/template", "namzu-task"}, {"example.com/profile", "none"}}));
}

// [E 150]
SCENARIO("the policy of a profile is read under the profile's name") {
  configure_profile();
  held();
  CHECK_EQ(sent().front(), "GET namzu-task-none-egress");
}

// [E 151]
SCENARIO("two profiles of one pool make claims with two labels and read two policies") {
  auto other = std::make_unique<fixture>();
  configure_profile("none");
  other->configure_profile("wide");
  held();
  other->held();
  CHECK_EQ(sent().front(), "GET namzu-task-none-egress");
  CHECK_EQ(other->sent().front(), "GET namzu-task-wide-egress");
  const auto label = [](const json& body) { return body["spec"]["additionalPodMetadata"]["labels"]["example.com/profile"]; };
  CHECK_EQ(label(posted()), "none");
  CHECK_EQ(label(other->posted()), "wide");
}

// [E 152]
SCENARIO("a refusal under a profile names both labels of the pod") {
  configure_profile();
  apply_wide();
  const auto got = acquire();
  REQUIRE_EQ(outcome(got), "EgressPolicyUnion");
  CHECK_JSON(details(got)["podLabels"], (json{{"sandbox.namzu.ai/template", "namzu-task"}, {"example.com/profile", "none"}}));
}

// [E 153]
SCENARIO("a pod that carries its labels on the third read is waited for, and nothing is dialled before") {
  configure_profile();
  host.labels_pods = false;
  auto reads = 0;
  host.intercept = [&](const k8s::call& x) -> std::optional<task_cluster::reply> {
    if (x.path != k8s::pods_path(task_space, "pool-x-1"))
      return std::nullopt;
    CHECK(guest.calls.empty());
    if (++reads == 3)
      host.pod("pool-x-1")["metadata"]["labels"]["example.com/profile"] = "none";
    return std::nullopt;
  };
  CHECK_EQ(outcome(acquire()), "done");
  CHECK_EQ(reads, 3);
  CHECK_EQ(probes(), 1u);
}

// [E 154]
// [C 107]
SCENARIO("a label that never appears refuses the task, whose claim is deleted") {
  configure_profile();
  acts_on.how.ready_timeout = std::chrono::milliseconds{300};
  host.labels_pods = false;
  const auto got = acquire();
  REQUIRE_EQ(outcome(got), "PodLabelNotObserved");
  CHECK_JSON(details(got)["missingLabel"], (json{{"key", "example.com/profile"}, {"value", "none"}}));
  CHECK_JSON(details(got)["observedLabels"], (json{{"sandbox.namzu.ai/template", "namzu-task"}}));
  CHECK(guest.calls.empty());
  CHECK_EQ(count("DELETE", "/sandboxclaims/"), 1u);
  CHECK(host.time.elapsed() < std::chrono::milliseconds{1'300});
}

// [C 108]
SCENARIO("a label with another value is one that is missing") {
  configure_profile();
  acts_on.how.ready_timeout = std::chrono::milliseconds{300};
  host.bind_claim = [this](json& claim) {
    host.bind(claim);
    host.pod("pool-x-1")["metadata"]["labels"]["example.com/profile"] = "other";
  };
  const auto got = acquire();
  REQUIRE_EQ(outcome(got), "PodLabelNotObserved");
  CHECK_JSON(details(got)["missingLabel"], (json{{"key", "example.com/profile"}, {"value", "none"}}));
  CHECK_EQ(details(got)["observedLabels"]["example.com/profile"], "other");
  CHECK(guest.calls.empty());
  CHECK_EQ(count("DELETE", "/sandboxclaims/"), 1u);
}

// [E 155]
// [C 66]
SCENARIO("labels that the controller refuses end the acquire at once") {
  configure_profile();
  host.bind_claim = [](json& claim) { claim["status"] = task_cluster::ready("False", "InvalidMetadata", "domain example.com"); };
  const auto got = acquire();
  REQUIRE_EQ(outcome(got), "Acquire");
  const auto said = details(got);
  CHECK_EQ(said["reason"], "claim-rejected");
  CHECK(!said["retryable"].get<bool>());
  CHECK_EQ(said["controllerReason"], "InvalidMetadata");
  CHECK_EQ(said["controllerMessage"], "domain example.com");
  CHECK_EQ(said["cause"]["reason"], "PodLabelsRejected");
  const auto cause = said["cause"]["details"];
  CHECK_JSON(cause["requestedPodLabels"], (json{{"example.com/profile", "none"}}));
  CHECK_EQ(cause["claimName"], posted()["metadata"]["name"]);
  CHECK_EQ(cause["namespace"], task_space);
  CHECK_EQ(cause["controllerReason"], "InvalidMetadata");
  CHECK_EQ(cause["controllerMessage"], "domain example.com");
  CHECK_EQ(cause["profile"], "none");
  CHECK_EQ(count("GET", "/sandboxclaims/"), 1u);
  CHECK_EQ(count("DELETE", "/sandboxclaims/"), 1u);
  CHECK(guest.calls.empty());
}

// [E 156]
// [C 68]
SCENARIO("a reason that nobody knows is waited out") {
  configure_profile();
  acts_on.how.ready_timeout = std::chrono::milliseconds{300};
  host.bind_claim = [](json& claim) { claim["status"] = task_cluster::ready("False", "Whatever"); };
  const auto got = acquire();
  REQUIRE_EQ(outcome(got), "Acquire");
  CHECK_EQ(details(got)["reason"], "not-ready");
  CHECK(count("GET", "/sandboxclaims/") > 1);
}

// -- per sandbox --------------------------------------------------------------------

// [E 166]
// [C 176] with per-sandbox egress a grant may be asked for before anything was read for it
SCENARIO("that a task may be granted something reads no fence and writes no policy") {
  configure_egress(per_sandbox);
  const auto task = held();
  CHECK(view_of(task).may_grant);
  CHECK_EQ(host.fence_reads(), 0u);
  CHECK_EQ(count("POST", "/ciliumnetworkpolicies"), 0u);
  auto other = std::make_unique<fixture>();
  const auto without = other->held();
  CHECK(!other->view_of(without).may_grant);
  CHECK_EQ(outcome(other->grant(without, {"a.example"})), "PerSandboxEgressNotConfigured");
}

// [E 220]
SCENARIO("giving back a task that was granted something deletes its claim once and no policy") {
  configure_egress(per_sandbox);
  const auto task = held();
  REQUIRE_EQ(outcome(grant(task, {"a.example"})), "done");
  CHECK_EQ(outcome(destroy(task)), "done");
  CHECK_EQ(host.api.sent("DELETE").size(), 1u);
  CHECK_EQ(count("DELETE", "/sandboxclaims/"), 1u);
}

// [E 221]
SCENARIO("a task that was given back is granted nothing") {
  configure_egress(per_sandbox);
  const auto task = held();
  destroy(task);
  const auto before = host.api.calls.size();
  const auto got = grant(task, {"a.example"});
  REQUIRE_EQ(outcome(got), "SandboxDestroyed");
  CHECK_EQ(json::parse(got->why->details)["operation"], "setNetworkPolicy");
  CHECK_EQ(host.api.calls.size(), before);
}

// [E 222]
// [C 187]
SCENARIO("an object without a uid in any answer can own no policy: the acquire fails") {
  configure_egress(per_sandbox);
  host.reports_uids = false;
  const auto got = acquire();
  REQUIRE_EQ(outcome(got), "OwnerUidMissing");
  CHECK_EQ(details(got)["objectName"], posted()["metadata"]["name"]);
  CHECK_EQ(count("DELETE", "/sandboxclaims/"), 1u);
  CHECK_EQ(count("POST", "/ciliumnetworkpolicies"), 0u);
}

// [E 223]
SCENARIO("a bound pod without the per-sandbox label fails the acquire, which names the label's key") {
  configure_egress(per_sandbox);
  acts_on.how.ready_timeout = std::chrono::milliseconds{300};
  host.labels_pods = false;
  const auto got = acquire();
  REQUIRE_EQ(outcome(got), "PodLabelNotObserved");
  CHECK(got->why->message.find(of->how.per_sandbox->label_key) != std::string::npos);
  CHECK_EQ(count("DELETE", "/sandboxclaims/"), 1u);
}

// [E 224]
SCENARIO("a claim asks for the per-sandbox label with its own name, and for the profile's where there is one") {
  for (const auto with_profile : {false, true}) {
    auto one = std::make_unique<fixture>();
    one->configure_egress([&](egress::egress_config& x) {
      per_sandbox(x);
      if (with_profile)
        x.profile = "none";
    });
    one->held();
    auto labels = json{{one->of->how.per_sandbox->label_key, one->posted()["metadata"]["name"]}};
    if (with_profile)
      labels[one->of->how.profile_label_key] = "none";
    CHECK_JSON(one->posted()["spec"]["additionalPodMetadata"]["labels"], labels);
  }
}

// -- ingress ------------------------------------------------------------------------

// [E 288]
// [C 116]
// [C 117]
SCENARIO("a pod that no policy covers is refused: before the POST of its own Sandbox, and with the claim deleted out of a pool") {
  acts_on.how.ingress.verify = true;
  const auto alone = acquire(direct());
  REQUIRE_EQ(outcome(alone), "IngressPolicy");
  CHECK_EQ(details(alone)["refusal"], "no-covering-policy");
  CHECK_EQ(host.writes(), 0u);
  CHECK_EQ(lists(), 1u);
  const auto pooled = acquire();
  REQUIRE_EQ(outcome(pooled), "IngressPolicy");
  CHECK_EQ(count("POST", "/sandboxclaims"), 1u);
  CHECK_EQ(count("DELETE", "/sandboxclaims/"), 1u);
}

// [E 289]
// [C 128]
SCENARIO("the policies of equal labels are listed once for tasks, and for each workspace") {
  acts_on.how.ingress.verify = true;
  CHECK_EQ(outcome(acquire()), "IngressPolicy"); // which is not remembered
  CHECK_EQ(lists(), 1u);
  host.objects[core_policies + "/cover"] = covering();
  held();
  held();
  CHECK_EQ(lists(), 2u);
  host.bind_claim = [this](json& claim) {
    host.bind(claim);
    host.pod(claim["status"]["sandbox"]["name"])["metadata"]["labels"]["app"] = "other";
  };
  held();
  CHECK_EQ(lists(), 3u);
  for (auto i = 0; i < 2; ++i) {
    workspace::test::desk desk;
    desk.on.how.ingress.verify = true;
    auto policy = covering();
    policy["spec"]["podSelector"] = json::object();
    desk.cluster.objects[k8s::network_policies_path("ns", "cover")] = policy;
    REQUIRE(desk.open().answer);
    const auto asked = desk.requests();
    CHECK_EQ(std::ranges::count(asked, "GET NPC"), 1);
  }
}

// [E 291]
// [C 129]
SCENARIO("nothing is listed where ingress is not to be verified") {
  held();
  held(direct());
  CHECK_EQ(lists(), 0u);
  workspace::test::desk desk;
  REQUIRE(!desk.on.how.ingress.verify);
  REQUIRE(desk.open().answer);
  CHECK_EQ(std::ranges::count(desk.requests(), "GET NPC"), 0);
}

// [C 118]
SCENARIO("a policy for the template's label that admits pods alone covers") {
  acts_on.how.ingress.verify = true;
  host.objects[core_policies + "/cover"] = covering();
  CHECK_EQ(outcome(acquire()), "done");
  CHECK_EQ(outcome(acquire(direct())), "done");
}

// [C 119]
SCENARIO("a second policy that admits everyone on the agent port opens it") {
  acts_on.how.ingress.verify = true;
  host.objects[core_policies + "/cover"] = covering();
  host.objects[core_policies + "/door"] = covering();
  host.objects[core_policies + "/door"]["metadata"]["name"] = "door";
  host.objects[core_policies + "/door"]["spec"]["ingress"] = {{{"ports", {{{"port", 1024}}}}}};
  const auto got = acquire();
  REQUIRE_EQ(outcome(got), "IngressPolicy");
  CHECK_EQ(details(got)["refusal"], "port-open");
  CHECK(got->why->message.find("door") != std::string::npos);
}

// [C 125]
SCENARIO("policies that may not be listed, or are not there, are never taken for none") {
  acts_on.how.ingress.verify = true;
  for (const auto forbidden : {true, false}) {
    host.intercept = [&](const k8s::call& x) -> std::optional<task_cluster::reply> {
      if (x.path.find("networkpolicies?") == std::string::npos)
        return std::nullopt;
      return forbidden ? denied(x) : gone(x);
    };
    const auto got = acquire();
    REQUIRE_EQ(outcome(got), "IngressPolicy");
    CHECK_EQ(details(got)["refusal"], "not-evaluable");
    CHECK_EQ(details(got)["unread"][0]["why"], forbidden ? "forbidden" : "absent");
  }
}

// [C 120] every address but some
// [C 121] another port, and every port
SCENARIO("a rule opens the agent port that admits every address on it, whatever it excepts") {
  acts_on.how.ingress.verify = true;
  host.objects[core_policies + "/cover"] = covering();
  CHECK_EQ(opened_by({{{"from", {{{"ipBlock", {{"cidr", "0.0.0.0/0"}, {"except", {"10.0.0.0/8"}}}}}}}, {"ports", {{{"port", 1024}}}}}}),
           "port-open");
  CHECK_EQ(opened_by(json::array({json::object()})), "port-open");
  CHECK_EQ(opened_by({{{"ports", {{{"port", 8080}}}}}}), "done");
}

// [C 122]
// [C 124]
SCENARIO("a named port, and rules that are none, cannot be judged") {
  acts_on.how.ingress.verify = true;
  host.objects[core_policies + "/cover"] = covering();
  CHECK_EQ(opened_by({{{"ports", {{{"port", "agent"}}}}}}), "not-evaluable");
  CHECK_EQ(opened_by("everyone"), "not-evaluable");
  CHECK(latest->why->message.find("other") != std::string::npos);
  CHECK_EQ(verdict_of("other", latest), "not-evaluable");
}

// [C 123]
SCENARIO("a policy of egress alone covers no pod") {
  acts_on.how.ingress.verify = true;
  host.objects[core_policies + "/egress"] = covering();
  host.objects[core_policies + "/egress"]["metadata"]["name"] = "egress";
  host.objects[core_policies + "/egress"]["spec"]["policyTypes"] = {"Egress"};
  const auto got = acquire();
  REQUIRE_EQ(outcome(got), "IngressPolicy");
  CHECK_EQ(details(got)["refusal"], "no-covering-policy");
  CHECK_EQ(verdict_of("egress", got), "not-ingress-scoped");
}

// [C 126]
// [C 127]
SCENARIO("under cilium a rule without a default denial opens all the same, and a selector of reserved labels cannot be judged") {
  acts_on.how.ingress.verify = true;
  acts_on.how.ingress.engine = egress::policy_engine::cilium;
  host.objects[core_policies + "/cover"] = covering();
  auto& other = host.objects[k8s::cilium_policies_path(task_space) + "/other"];
  other = {
    {"metadata", {{"name", "other"}}},
    {"spec",
     {{"endpointSelector", json::object()}, {"enableDefaultDeny", {{"ingress", false}}}, {"ingress", {{{"fromEntities", {"world"}}}}}}}};
  auto got = acquire();
  REQUIRE_EQ(outcome(got), "IngressPolicy");
  CHECK_EQ(details(got)["refusal"], "port-open");
  other["spec"] = {{"endpointSelector", {{"matchLabels", {{"reserved:host", ""}}}}}, {"ingress", json::array()}};
  got = acquire();
  REQUIRE_EQ(outcome(got), "IngressPolicy");
  CHECK_EQ(details(got)["refusal"], "not-evaluable");
}

// [C 135]
SCENARIO("a public range is within public-internet, and a private one is not") {
  configure_egress([](egress::egress_config& x) { x.policy = egress::public_internet{}; });
  const auto reach = [this](const char* range) {
    host.objects[core_policies + "/other"] = {
      {"metadata", {{"name", "other"}}},
      {"spec", {{"podSelector", json::object()}, {"policyTypes", {"Egress"}}, {"egress", {{{"to", {{{"ipBlock", {{"cidr", range}}}}}}}}}}}};
    return outcome(acquire());
  };
  CHECK_EQ(reach("10.0.0.0/8"), "EgressPolicyUnion");
  CHECK_EQ(reach("1.2.3.0/24"), "done");
}

// [C 136]
SCENARIO("a policy for all of the resolver is wider than names that it may be asked for") {
  configure_egress([](egress::egress_config& x) {
    x.policy = egress::static_hosts{{"api.example.com"}};
    x.engine = egress::policy_engine::cilium;
    x.cilium_narrowing.emplace();
    x.cilium_narrowing->dns_names.emplace();
  });
  host.objects[core_policies + "/dns"] =
    json::parse(R"({"metadata":{"name":"dns"},"spec":{"podSelector":{},"policyTypes":["Egress"],"egress":[
    {"to":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}},"podSelector":{"matchLabels":{"k8s-app":"kube-dns"}}}],
     "ports":[{"protocol":"UDP","port":53}]}]}})");
  const auto got = acquire();
  REQUIRE_EQ(outcome(got), "EgressPolicyUnion");
  CHECK_EQ(details(got)["refusal"], "policy-widens-egress");
  CHECK(got->why->message.find("NetworkPolicy/dns: widens-egress") != std::string::npos);
}

// -- the privilege probe --------------------------------------------------------------

// [E 303]
// [C 142]
SCENARIO("a privileged guest is not handed out, its claim is deleted, and its lease is not renewed") {
  guest.on_execute = [this](const guest_call&) {
    return scripted_execution{{{guest::stream::out, "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t000001ffffffffff\n"
                                                    "CapBnd:\t000001ffffffffff\nNoNewPrivs:\t0\n"}},
                              guest.ended(0)};
  };
  const auto got = acquire();
  REQUIRE_EQ(outcome(got), "PrivilegeProbe");
  CHECK_EQ(details(got)["reason"], "privileged");
  CHECK(got->why->message.find("CapEff=1ffffffffff, CapBnd=1ffffffffff, NoNewPrivs=0") != std::string::npos);
  CHECK_EQ(count("DELETE", "/sandboxclaims/"), 1u);
  pass(2h);
  CHECK_EQ(count("PATCH", "/"), 0u);
}

// [C 143] what cannot be read
// [C 144] what has failed
// [C 147] the highest bit
SCENARIO("a guest that shows too little, or fails to, is not handed out") {
  const auto probed = [this](std::string out, int exit_code = 0) {
    guest.on_execute = [this, out, exit_code](const guest_call&) {
      return scripted_execution{{{guest::stream::out, out}}, guest.ended(exit_code)};
    };
    const auto got = acquire();
    REQUIRE_EQ(outcome(got), "PrivilegeProbe");
    return details(got)["reason"].get<std::string>();
  };
  const auto status = [](const std::string& bounding) { return "CapInh:\t0\nCapPrm:\t0\nCapEff:\t0\n" + bounding + "NoNewPrivs:\t1\n"; };
  CHECK_EQ(probed(status("")), "unreadable-output");
  CHECK_EQ(probed(status("CapBnd:\t0x0\n")), "unreadable-output");
  CHECK_EQ(probed(status("CapBnd:\tnone\n")), "unreadable-output");
  CHECK_EQ(probed(status("CapBnd:\t0\n"), 1), "probe-failed");
  CHECK_EQ(probed(status("CapBnd:\t8000000000000000\n")), "privileged");
}

// [E 304]
// [C 146]
SCENARIO("who withdraws during the probe is told so, and the claim is deleted") {
  guest.on_execute = [](const guest_call&) { return scripted_execution{}; };
  const auto got = begin();
  turn();
  REQUIRE_EQ(probes(), 1u);
  caf::anon_send_exit(holder, caf::exit_reason::user_shutdown);
  settle();
  REQUIRE(got->why);
  CHECK_EQ(got->why->reason, "Cancelled");
  CHECK_EQ(count("DELETE", "/sandboxclaims/"), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()
