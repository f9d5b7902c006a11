#define CAF_SUITE network

#include "k8s/paths.hpp"
#include "tests/workspace/bounded.hpp"
#include "workspace/pod_template.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <algorithm>

using namespace paddock;
using namespace paddock::workspace;
using namespace paddock::workspace::test;
namespace pt = paddock::test;
using nlohmann::json;
using strings = std::vector<std::string>;
using host = desk::host;
using server = desk::api_server;

namespace {

constexpr const char* profile_key = "sandbox.namzu.ai/egress-profile";

/// A host that is configured to an egress, in a cluster where an operator has applied what it takes.
class bounded_desk : public desk {
public:
  explicit bounded_desk(egress::egress_config how, server says = server::with_uids) : desk(host::unfenced, says) {
    bound(*this, std::move(how));
  }
  void apply(json object) {
    workspace::test::apply(*this, std::move(object));
  }
  /// Who reaches the agent port is verified, and a policy closes it.
  void close_agent_port() {
    on.how.ingress.verify = true;
    apply({{"kind", "NetworkPolicy"},
           {"metadata", {{"name", "closed"}}},
           {"spec", {{"podSelector", json::object()}, {"policyTypes", {"Ingress"}}}}});
  }
  /// A policy that lets the pods with these labels reach everything.
  static json wide(const std::string& name, json labels) {
    return {
      {"kind", "NetworkPolicy"},
      {"metadata", {{"name", name}}},
      {"spec",
       {{"podSelector", {{"matchLabels", std::move(labels)}}}, {"policyTypes", {"Egress"}}, {"egress", json::array({json::object()})}}}};
  }
  /// The labels of the pod template of what stands.
  json& labels() {
    return (*cluster.sandbox)["spec"]["podTemplate"]["metadata"]["labels"];
  }
  /// What stands under the name carries what the configuration puts on pods.
  void stand_as_configured(const std::string& mode, const std::string& uid = "S1") {
    cluster.stand(mode, std::nullopt, uid);
    for (const auto& [key, value] : overlay_of(on.how, which, "tpl").labels)
      labels()[key] = value;
  }
};

egress::egress_config deny_all() {
  return {};
}
egress::egress_config profiled(std::string profile) {
  auto got = egress::egress_config{};
  got.profile = std::move(profile);
  return got;
}
egress::egress_config per_sandbox() {
  auto got = egress::egress_config{};
  got.per_sandbox = egress::per_sandbox_egress{"namzu-per-sandbox-egress"};
  return got;
}

} // namespace

// [W 44] [E 158] [E 159] [E 160] an object without the profile
SCENARIO("an object whose pods carry no egress profile, or another one, is refused while one is configured") {
  auto x = bounded_desk{profiled("none")};
  x.cluster.stand("Suspended");
  auto got = x.open();
  const auto* why = failed_with<mismatch>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->field, "egressProfile");
  CHECK_EQ(why->expected, std::string{profile_key} + "=none");
  CHECK_EQ(why->actual, std::nullopt);
  CHECK_EQ(x.sent("PATCH"), 0u);
  CHECK(x.guest.calls.empty());
  x.labels()[profile_key] = "internet";
  got = x.open();
  why = failed_with<mismatch>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->actual, std::string{profile_key} + "=internet");
  const auto text = to_string(got.answer.error());
  CHECK(text.find("=none") != std::string::npos);
  CHECK(text.find("=internet") != std::string::npos);
  CHECK_EQ(x.sent("PATCH"), 0u);
  CHECK(x.guest.calls.empty());
  x.labels()[profile_key] = "none";
  CHECK(x.open().answer.has_value());
  CHECK_EQ(x.sent("PATCH"), 1u);
}

// [W 117] a refresh under a profile
SCENARIO("a refresh keeps the label of the profile, and its hash is what a create would stamp") {
  auto x = bounded_desk{profiled("none")};
  auto made = bounded_desk{profiled("none")};
  auto before = x.suspend(x.open().after).after;
  for (auto* each : {&x, &made})
    each->cluster.the_template["spec"]["podTemplate"]["spec"]["containers"][0]["image"] = "i2";
  auto got = x.resume(before, refreshing());
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.labels()[profile_key], "none");
  REQUIRE(made.open().answer.has_value());
  CHECK_EQ(x.cluster.annotation("pod-template-hash"), made.cluster.annotation("pod-template-hash"));
  CHECK_EQ(got.after.revision, made.cluster.annotation("pod-template-hash"));
}

// [W 118] an object that is older than the profile
SCENARIO("an object older than the profile is adopted only with a refresh, which writes the label") {
  auto x = bounded_desk{profiled("none")};
  x.cluster.stand("Suspended");
  auto plain = x.open();
  const auto* why = failed_with<mismatch>(plain);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->field, "egressProfile");
  CHECK_EQ(x.sent("PATCH"), 0u);
  REQUIRE(x.open({}, refreshing()).answer.has_value());
  CHECK_EQ(x.labels()[profile_key], "none");
}

// -- an open --------------------------------------------------------------------

SCENARIO("without a configuration of egress and of ingress nothing is asked about policies") {
  auto x = desk{host::unfenced, server::with_uids};
  auto got = x.open();
  REQUIRE(got.answer.has_value());
  // [E 75]
  CHECK_EQ(x.requests(), (strings{"GET TPL", "POST SBC", "GET SB", "GET POD", "GET PVC"}));
  auto asleep = x.suspend(got.after).after;
  x.forget();
  CHECK(x.resume(asleep).answer.has_value());
  for (const auto& line : x.requests())
    CHECK(line.find("NP") == std::string::npos && line.find("VAP") == std::string::npos);
}

// [W 10] a list of hosts under engine core
SCENARIO("a list of hosts that the engine cannot enforce is refused before anything is sent") {
  auto x = desk{};
  x.on.how.egress = egress::egress_config{egress::static_hosts{{"git.example.com"}}};
  const auto got = x.open();
  const auto* why = failed_with<egress_refused>(got);
  REQUIRE(why != nullptr);
  CHECK(std::holds_alternative<egress::unenforceable_policy>(why->why));
  CHECK_EQ(reason_of(got.answer.error()), "UnenforceableEgressPolicy");
  CHECK(kind_of(got.answer.error()) == kind::usage);
  CHECK(x.api.calls.empty());
}

// [W 26] the template of the option
SCENARIO("the policy that is verified is that of the template which the workspace is built from") {
  auto x = bounded_desk{deny_all()};
  x.on.how.template_name = "task";
  auto how = open_options{};
  how.template_name = "tpl";
  REQUIRE(x.open({}, how).answer.has_value());
  const auto posted = x.api.sent("POST");
  CHECK_EQ(x.requests().front(), "GET NP tpl-egress");
  REQUIRE_EQ(posted.size(), 1u);
  CHECK_JSON(posted[0].body["spec"]["podTemplate"]["metadata"]["labels"]["sandbox.namzu.ai/template"], "tpl");
}

// [W 27] no such policy
SCENARIO("without the policy that an operator applies nothing is made") {
  auto x = bounded_desk{deny_all()};
  x.cluster.objects.clear();
  const auto got = x.open();
  CHECK_EQ(reason_of(got.answer.error()), "EgressPolicyNotApplied");
  CHECK(kind_of(got.answer.error()) == kind::refused);
  CHECK_EQ(details_of(got.answer.error())["path"], k8s::network_policies_path("ns", "tpl-egress"));
  CHECK_EQ(x.requests(), strings{"GET NP tpl-egress"});
  x.cluster.stand("Suspended");
  CHECK_EQ(reason_of(x.open().answer.error()), "EgressPolicyNotApplied");
  CHECK_EQ(x.requests(), strings{"GET NP tpl-egress"});
}

// [E 157]
SCENARIO("the pods of a workspace carry the profile, and its policy is the one that is read") {
  auto x = bounded_desk{profiled("none")};
  REQUIRE(x.open().answer.has_value());
  CHECK_EQ(x.requests().front(), "GET NP tpl-none-egress");
  CHECK_JSON(x.labels()["sandbox.namzu.ai/template"], "tpl");
  CHECK_JSON(x.labels()[profile_key], "none");
}

// [E 243] [E 245] [E 175] [W 12] the order of a create
SCENARIO("a create proves the policy, the fence, who reaches the agent and the union before it makes anything") {
  auto how = per_sandbox();
  how.engine = egress::policy_engine::cilium;
  auto x = bounded_desk{how};
  x.close_agent_port();
  const auto got = x.open();
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET NP tpl-egress", "GET VAP", "GET VAPB", "GET TPL", "GET NPC", "GET CNPC", "GET NPC", "GET CNPC",
                                  "POST SBC", "GET CNPC", "GET SB", "GET POD", "GET CNPC", "GET PVC"}));
  CHECK_JSON(x.labels()[sandbox_key], "namzu-ws-desk");
  CHECK(!got.after.fence_proved);
  for (const auto& reason : all_reasons())
    CHECK(reason != "WorkspacePerSandboxEgressConfig");
}

// [E 263] what per-sandbox egress alone sends
SCENARIO("without per-sandbox egress neither the fence nor grants are read") {
  auto x = bounded_desk{deny_all()};
  x.close_agent_port();
  auto got = x.open();
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET NP tpl-egress", "GET TPL", "GET NPC", "GET NPC", "POST SBC", "GET SB", "GET POD", "GET PVC"}));
  CHECK(!x.labels().contains(sandbox_key));
  auto asleep = x.suspend(got.after).after;
  x.forget();
  CHECK(x.resume(asleep).answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET SB", "PATCH SB json", "GET SB", "GET POD"}));
}

// [W 241] [E 244] no fence
SCENARIO("without the fence nothing is read of the template and nothing is made") {
  auto x = bounded_desk{per_sandbox()};
  x.cluster.objects.erase(k8s::admission_policy_path("namzu-per-sandbox-egress"));
  auto got = x.open();
  CHECK_EQ(reason_of(got.answer.error()), "AdmissionFenceMissing");
  CHECK_EQ(x.requests(), (strings{"GET NP tpl-egress", "GET VAP"}));
  x.stand_as_configured("Suspended");
  got = x.open();
  CHECK_EQ(reason_of(got.answer.error()), "AdmissionFenceMissing");
  CHECK_EQ(x.requests(), (strings{"GET NP tpl-egress", "GET VAP"}));
}

SCENARIO("a policy that selects the pod and allows more refuses the open before anything is made") {
  auto x = bounded_desk{deny_all()};
  x.apply(x.wide("wide", {{"app", "x"}}));
  const auto got = x.open();
  CHECK_EQ(reason_of(got.answer.error()), "EgressPolicyUnion");
  CHECK_EQ(x.requests(), (strings{"GET NP tpl-egress", "GET TPL", "GET NPC"}));
  x.on.how.egress->verify = egress::verification::named_object_only;
  CHECK(x.open().answer.has_value());
  const auto sent = x.requests();
  CHECK(std::ranges::find(sent, "GET NPC") == sent.end());
}

// [E 246] [W 245] [E 247] a grant of its own
SCENARIO("what a workspace was granted itself does not keep it from being opened again") {
  auto how = per_sandbox();
  how.engine = egress::policy_engine::cilium;
  auto x = bounded_desk{how};
  x.stand_as_configured("Suspended");
  x.apply(grant("S1"));
  REQUIRE(x.open().answer.has_value());
  CHECK(x.cluster.objects.contains(k8s::cilium_policies_path("ns", "namzu-sbx-S1")));
  // A policy that selects by another label of the pod is judged.
  auto wide = grant("S1");
  wide["metadata"]["name"] = "wide";
  wide["spec"]["endpointSelector"]["matchLabels"] = {{"sandbox.namzu.ai/template", "tpl"}};
  x.apply(wide);
  x.cluster.set_mode("Suspended");
  CHECK_EQ(reason_of(x.open().answer.error()), "EgressPolicyUnion");
}

// [E 290] nobody closes the agent port
SCENARIO("a suspended workspace whose agent port no policy closes is not woken") {
  auto x = desk{host::unfenced, server::with_uids};
  x.on.how.ingress.verify = true;
  x.cluster.stand("Suspended");
  const auto got = x.open();
  CHECK_EQ(reason_of(got.answer.error()), "IngressPolicy");
  CHECK_EQ(x.requests(), (strings{"GET TPL", "GET NPC"}));
  CHECK_EQ(x.cluster.mode(), "Suspended");
}

// [W 242] [E 251] what a predecessor was granted
SCENARIO("what a former Sandbox of the name was granted is gone before a pod of the new one is bound") {
  auto x = bounded_desk{per_sandbox()};
  x.apply(grant("S0"));
  x.apply(grant("S1"));
  REQUIRE(x.open().answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET NP tpl-egress", "GET VAP", "GET VAPB", "GET TPL", "GET NPC", "POST SBC", "GET CNPC",
                                  "DELETE CNP namzu-sbx-S0", "GET SB", "GET POD", "GET CNPC", "GET PVC"}));
  CHECK(x.cluster.objects.contains(k8s::cilium_policies_path("ns", "namzu-sbx-S1")));
}

SCENARIO("a create whose predecessor's grant cannot be removed is suspended again and fails") {
  auto x = bounded_desk{per_sandbox()};
  x.apply(grant("S0"));
  x.cluster.intercept = [](const k8s::call& what, std::size_t) {
    return what.method == "DELETE" ? std::optional{pt::denied(what)} : std::nullopt;
  };
  const auto got = x.open();
  const auto* why = start_failure_of(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->clean_up, "done");
  CHECK_EQ(reason_of(why->why), "Credential");
  CHECK_EQ(x.cluster.mode(), "Suspended");
  CHECK(x.guest.calls.empty());
}

SCENARIO("a create whose answer carries no uid verifies no grants before its bind") {
  auto x = bounded_desk{per_sandbox(), server::without_uids};
  REQUIRE(x.open().answer.has_value());
  CHECK_EQ(x.requests(),
           (strings{"GET NP tpl-egress", "GET VAP", "GET VAPB", "GET TPL", "GET NPC", "POST SBC", "GET SB", "GET POD", "GET PVC"}));
}

// [W 285] [P7]
SCENARIO("a grant of a former Sandbox that appears after the first look is gone before the guest is used") {
  auto x = bounded_desk{per_sandbox()};
  x.cluster.intercept = [&x](const k8s::call& what, std::size_t) {
    if (what.method == "GET" && what.path == k8s::sandboxes_path("ns", "namzu-ws-desk"))
      x.apply(grant("S0"));
    return std::optional<desk_cluster::reply>{};
  };
  auto stood = std::vector<bool>{};
  x.guest.on_execute = [&](const guest_call&) {
    stood.push_back(x.cluster.objects.contains(k8s::cilium_policies_path("ns", "namzu-sbx-S0")));
    return scripted_execution{{{guest::stream::out, scripted_guest::unprivileged_status()}}, x.guest.ended(0)};
  };
  auto got = x.open();
  REQUIRE(got.answer.has_value());
  auto asleep = x.suspend(got.after).after;
  REQUIRE(x.resume(asleep).answer.has_value());
  CHECK_EQ(stood, (std::vector<bool>{false, false}));
}

// -- an adopt -------------------------------------------------------------------

// [W 40] another template
SCENARIO("an object of another template is refused after egress was verified, and left alone") {
  auto x = bounded_desk{deny_all()};
  x.cluster.stand("Suspended");
  x.labels()["sandbox.namzu.ai/template"] = "other";
  const auto got = x.open();
  const auto* why = failed_with<mismatch>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->field, "sandboxTemplateName");
  CHECK_EQ(why->expected, "tpl");
  CHECK_EQ(why->actual, "other");
  CHECK_EQ(x.requests(), (strings{"GET NP tpl-egress", "GET TPL", "GET NPC", "POST SBC", "GET SB"}));
  CHECK(x.guest.calls.empty());
}

// [W 46] [E 248] made before per-sandbox egress was configured
SCENARIO("an object whose pods carry no per-sandbox label is refused while one is configured") {
  auto x = bounded_desk{per_sandbox()};
  x.cluster.stand("Suspended");
  const auto got = x.open();
  const auto* why = failed_with<mismatch>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->field, "perSandboxLabel");
  CHECK_EQ(why->expected, std::string{sandbox_key} + "=namzu-ws-desk");
  CHECK_EQ(why->actual, std::nullopt);
  CHECK_EQ(x.sent("PATCH"), 0u);
}

// [E 249]
SCENARIO("an adopt that refreshes the pod template writes the per-sandbox label") {
  auto x = bounded_desk{per_sandbox()};
  x.cluster.stand("Suspended");
  REQUIRE(x.open({}, refreshing()).answer.has_value());
  CHECK_JSON(x.labels()[sandbox_key], "namzu-ws-desk");
}

// [W 243] [E 253] no uid
SCENARIO("an object without a uid is not adopted under per-sandbox egress") {
  auto x = bounded_desk{per_sandbox(), server::without_uids};
  x.stand_as_configured("Suspended");
  const auto got = x.open();
  CHECK_EQ(reason_of(got.answer.error()), "OwnerUidMissing");
  CHECK_JSON(details_of(got.answer.error()), (json{{"objectName", "namzu-ws-desk"}, {"namespace", "ns"}}));
  CHECK_EQ(x.sent("PATCH"), 0u);
}

// [W 244] [E 250]
SCENARIO("an adopt removes what a former Sandbox was granted before it writes, and keeps what this one was") {
  auto x = bounded_desk{per_sandbox()};
  x.stand_as_configured("Suspended");
  x.apply(grant("S0"));
  x.apply(grant("S1"));
  REQUIRE(x.open().answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET NP tpl-egress", "GET VAP", "GET VAPB", "GET TPL", "GET NPC", "POST SBC", "GET SB", "GET CNPC",
                                  "DELETE CNP namzu-sbx-S0", "GET POD", "PATCH SB json", "GET SB", "GET POD", "GET CNPC", "GET PVC"}));
  CHECK(x.cluster.objects.contains(k8s::cilium_policies_path("ns", "namzu-sbx-S1")));
}

SCENARIO("an object whose pods carry other labels than the template gives is judged by its own") {
  auto x = bounded_desk{deny_all()};
  x.cluster.stand("Suspended");
  x.labels()["app"] = "old";
  x.apply(x.wide("for-old", {{"app", "old"}}));
  const auto got = x.open();
  CHECK_EQ(reason_of(got.answer.error()), "EgressPolicyUnion");
  CHECK_EQ(x.requests(), (strings{"GET NP tpl-egress", "GET TPL", "GET NPC", "POST SBC", "GET SB", "GET NPC"}));
  CHECK_EQ(x.cluster.mode(), "Suspended");
}

SCENARIO("a workspace that runs already is opened after the same proofs, and stamped last") {
  auto x = bounded_desk{per_sandbox()};
  x.close_agent_port();
  auto now = x.open().after;
  x.forget();
  REQUIRE(x.open(now).answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET NP tpl-egress", "GET VAP", "GET VAPB", "GET SB", "GET CNPC", "GET NPC", "GET NPC"}));
  x.cluster.objects.erase(k8s::network_policies_path("ns", "tpl-egress"));
  CHECK_EQ(reason_of(x.open(now).answer.error()), "EgressPolicyNotApplied");
}

// -- taking up ------------------------------------------------------------------

SCENARIO("a host that has just started binds no session of a running workspace before the network is proved") {
  auto x = bounded_desk{per_sandbox()};
  x.close_agent_port();
  x.stand_as_configured("Running");
  x.apply(grant("S0"));
  REQUIRE(x.take_up().answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET SB", "GET POD", "GET NP tpl-egress", "GET VAP", "GET VAPB", "GET NPC", "GET NPC", "GET CNPC",
                                  "DELETE CNP namzu-sbx-S0", "GET SB", "GET POD", "GET CNPC", "GET PVC"}));
  x.cluster.objects.erase(k8s::network_policies_path("ns", "tpl-egress"));
  CHECK_EQ(reason_of(x.take_up().answer.error()), "EgressPolicyNotApplied");
  // What runs nothing needs no proof.
  x.cluster.set_mode("Suspended");
  x.forget();
  const auto got = x.take_up();
  CHECK(got.answer.has_value());
  CHECK(got.after.at == state::suspended);
  CHECK_EQ(x.requests(), (strings{"GET SB", "GET POD"}));
}

// -- a resume -------------------------------------------------------------------

// [E 259] [E 262]
SCENARIO("a resume proves the fence anew and removes what former Sandboxes were granted before it writes") {
  auto x = bounded_desk{per_sandbox()};
  const auto before = suspended_on(x);
  x.apply(grant("S0"));
  auto foreign = grant("S0");
  foreign["metadata"]["name"] = "by-hand";
  x.apply(foreign);
  const auto got = x.resume(before);
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET SB", "GET VAP", "GET VAPB", "GET CNPC", "DELETE CNP namzu-sbx-S0", "PATCH SB json", "GET SB",
                                  "GET POD", "GET CNPC"}));
  CHECK(x.cluster.objects.contains(k8s::cilium_policies_path("ns", "by-hand")));
  CHECK(got.after.fence_proved);
}

// [W 246] [E 260] the fence is gone
SCENARIO("a resume without the fence writes nothing, and one with the fence back resumes") {
  auto x = bounded_desk{per_sandbox()};
  const auto before = suspended_on(x);
  x.apply(grant("S0"));
  const auto path = k8s::admission_policy_path("namzu-per-sandbox-egress");
  const auto fence = x.cluster.objects.at(path);
  x.cluster.objects.erase(path);
  auto got = x.resume(before);
  CHECK_EQ(reason_of(got.answer.error()), "AdmissionFenceMissing");
  CHECK_EQ(x.requests(), (strings{"GET SB", "GET VAP"}));
  CHECK_EQ(x.cluster.mode(), "Suspended");
  CHECK(got.after.at == state::suspended);
  x.apply(fence);
  got = x.resume(got.after);
  CHECK(got.answer.has_value());
  CHECK_EQ(x.cluster.mode(), "Running");
}

// [W 247] another Sandbox
SCENARIO("a resume that finds another Sandbox writes nothing and asks about no grants") {
  auto x = bounded_desk{per_sandbox()};
  const auto before = suspended_on(x);
  x.stand_as_configured("Suspended", "S2");
  const auto got = x.resume(before);
  const auto* why = failed_with<replaced>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->expected, sandbox_uid{"S1"});
  CHECK_EQ(why->actual, sandbox_uid{"S2"});
  CHECK_EQ(x.requests(), strings{"GET SB"});
}

// [E 261]
SCENARIO("a grant that is gone when it is deleted counts as removed") {
  auto x = bounded_desk{per_sandbox()};
  const auto before = suspended_on(x);
  x.apply(grant("S0"));
  x.cluster.intercept = [&x](const k8s::call& what, std::size_t) {
    if (what.method == "DELETE")
      x.cluster.objects.erase(what.path);
    return std::optional<desk_cluster::reply>{};
  };
  CHECK(x.resume(before).answer.has_value());
  CHECK_EQ(x.sent("DELETE"), 1u);
}

SCENARIO("a resume by a host that does not know the workspace proves all that an open does") {
  auto x = bounded_desk{per_sandbox()};
  x.close_agent_port();
  x.stand_as_configured("Suspended");
  REQUIRE(x.resume({}).answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET SB", "GET NP tpl-egress", "GET VAP", "GET VAPB", "GET CNPC", "GET NPC", "GET NPC", "GET POD",
                                  "PATCH SB json", "GET SB", "GET POD", "GET CNPC", "GET PVC"}));
}

SCENARIO("a host that has only suspended a workspace proves all that an open does when it resumes it") {
  auto x = bounded_desk{deny_all()};
  x.stand_as_configured("Running");
  const auto before = x.suspend({}).after;
  x.cluster.objects.clear();
  CHECK_EQ(reason_of(x.resume(before).answer.error()), "EgressPolicyNotApplied");
  CHECK_EQ(x.cluster.mode(), "Suspended");
}

SCENARIO("a resume that refreshes the pod template judges the labels that it writes") {
  auto x = bounded_desk{deny_all()};
  const auto before = suspended_on(x);
  x.cluster.the_template["spec"]["podTemplate"]["metadata"]["labels"]["app"] = "new";
  x.apply(x.wide("for-new", {{"app", "new"}}));
  CHECK_EQ(reason_of(x.resume(before, refreshing()).answer.error()), "EgressPolicyUnion");
  CHECK_EQ(x.requests(), (strings{"GET SB", "GET TPL", "GET NPC"}));
  CHECK(x.resume(before).answer.has_value());
}

SCENARIO("a caller that withdraws while the network is proved leaves nothing behind") {
  for (auto n = std::size_t{1}; n < 12; ++n) {
    auto x = bounded_desk{per_sandbox()};
    x.close_agent_port();
    x.cluster.hold = [asked = std::size_t{0}, n](const k8s::call&) mutable { return ++asked == n; };
    const auto got = x.run_and_withdraw(desk::verb::open, {}, [&x, n] { return x.api.calls.size() == n; });
    CHECK(got.why.has_value());
    if (x.sent("POST") == 0)
      CHECK(!x.cluster.sandbox);
    else
      CHECK(!x.cluster.sandbox || x.cluster.mode() == "Suspended");
    CHECK(x.guest.calls.empty());
  }
}
