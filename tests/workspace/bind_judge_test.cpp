#define CAF_SUITE bind_judge

#include "workspace/bind_judge.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::workspace;
using nlohmann::json;
using life = pod_seen::kind;

namespace {

const auto desk = *id::parse("desk");
const auto s1 = sandbox_uid{"S1"};

json sandbox(const char* uid, const char* mode, const char* ready, const char* reason = "x") {
  return {{"metadata", {{"name", "namzu-ws-desk"}, {"uid", uid}}},
          {"spec", {{"operatingMode", mode}, {"volumeClaimTemplates", json::array({{{"metadata", {{"name", "workspace"}}}}})}}},
          {"status",
           {{"conditions",
             json::array({{{"type", "Suspended"}, {"status", "True"}}, {{"type", "Ready"}, {"status", ready}, {"reason", reason}}})},
            {"serviceFQDN", "desk.ns.svc"},
            {"selector", "hash=1"},
            {"podIPs", json::array({"10.0.0.1", "10.0.0.2"})}}}};
}

json pod(const char* uid, const char* owner = nullptr) {
  auto got = json{{"metadata", {{"uid", uid}}}, {"status", {{"phase", "Running"}, {"podIP", "10.0.0.9"}}}};
  if (owner != nullptr)
    got["metadata"]["ownerReferences"] = json::array({{{"uid", "someone"}}, {{"uid", owner}, {"controller", true}}});
  return got;
}

json deleting(json x) {
  x["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  return x;
}

json in_phase(json x, const char* phase) {
  x["status"]["phase"] = phase;
  return x;
}

pod_choice choose(std::optional<json> by_name, const std::vector<json>& listed, const bind_policy& policy,
                  settings::address how = settings::address::service) {
  auto seen = by_name ? std::optional{see_pod(*by_name, s1)} : std::nullopt;
  auto all = std::vector<pod_seen>{};
  for (const auto& x : listed)
    all.push_back(see_pod(x, s1));
  return choose_pod("namzu-ws-desk", seen, all, policy, how);
}

std::string taken(const pod_choice& x) {
  const auto* got = std::get_if<take_pod>(&x);
  return got != nullptr ? got->uid.text() : "none";
}

const auto waiting = bind_policy{true, std::nullopt};
const auto replacing = bind_policy{true, pod_uid{"P1"}};
const auto at_once = bind_policy{};

} // namespace

SCENARIO("a Sandbox is Ready only when its Ready condition is True") {
  for (const auto* status : {"False", "Unknown", ""})
    CHECK(std::holds_alternative<not_ready>(*judge_readiness(sandbox("S1", "Running", status), desk, "resume", s1)));
  auto bare = sandbox("S1", "Running", "True");
  bare["status"].erase("conditions");
  CHECK(std::holds_alternative<not_ready>(*judge_readiness(bare, desk, "resume", s1)));
  auto got = judge_readiness(sandbox("S1", "Running", "True"), desk, "resume", s1);
  REQUIRE(got.has_value());
  const auto& x = std::get<ready_sandbox>(*got);
  CHECK_EQ(x.uid, s1);
  CHECK_EQ(x.service_name, "desk.ns.svc");
  CHECK_EQ(x.selector, "hash=1");
  CHECK_EQ(x.claims, std::vector<std::string>{"workspace"});
}

SCENARIO("another uid is replaced, and outranks everything else that the read says") {
  for (const auto* mode : {"Running", "Suspended"}) {
    auto got = judge_readiness(sandbox("S2", mode, "True"), desk, "resume", s1);
    REQUIRE(!got);
    const auto& why = std::get<replaced>(got.error());
    CHECK_EQ(why.expected, s1);
    CHECK_EQ(why.actual, sandbox_uid{"S2"});
  }
  auto nameless = sandbox("S2", "Running", "True");
  nameless["metadata"].erase("uid");
  auto got = judge_readiness(nameless, desk, "resume", s1);
  REQUIRE(!got);
  CHECK_EQ(std::get<replaced>(got.error()).actual, std::nullopt);
  CHECK(judge_readiness(nameless, desk, "resume", std::nullopt).has_value());
}

SCENARIO("a readiness read that says Suspended is a failure, whatever its conditions say") {
  auto got = judge_readiness(sandbox("S1", "Suspended", "True"), desk, "resume", s1);
  REQUIRE(!got);
  const auto& why = std::get<suspended>(got.error());
  CHECK_EQ(why.operation, "resume");
  CHECK_EQ(why.noticed_by, "transport");
}

SCENARIO("a Ready object without a name is an error") {
  auto x = sandbox("S1", "Running", "True");
  x["metadata"].erase("name");
  auto got = judge_readiness(x, desk, "resume", s1);
  REQUIRE(!got);
  CHECK(std::holds_alternative<no_pod>(got.error()));
}

SCENARIO("the controller's word that the pod has ended is passed on") {
  for (const auto* reason : {"PodSucceeded", "PodFailed"})
    CHECK(std::get<not_ready>(*judge_readiness(sandbox("S1", "Running", "False", reason), desk, "resume", s1)).pod_ended);
  CHECK(!std::get<not_ready>(*judge_readiness(sandbox("S1", "Running", "False", "SandboxSuspended"), desk, "resume", s1)).pod_ended);
}

SCENARIO("pods are told apart by uid, owner, phase and deletion") {
  CHECK(see_pod(pod("P1"), s1).what == life::live);
  CHECK(see_pod(pod("P1", "S1"), s1).what == life::live);
  CHECK(see_pod(pod("P1", "S1"), s1).owned);
  CHECK(!see_pod(pod("P1"), s1).owned);
  CHECK(see_pod(pod("P1", "S2"), s1).what == life::foreign);
  CHECK(see_pod(pod("P1", "S2"), std::nullopt).what == life::live);
  CHECK(see_pod(in_phase(pod("P1"), "Pending"), s1).what == life::live);
  CHECK(see_pod(deleting(pod("P1")), s1).what == life::draining);
  CHECK(see_pod(in_phase(pod("P1"), "Failed"), s1).what == life::stopped);
  CHECK(see_pod(in_phase(deleting(pod("P1")), "Succeeded"), s1).what == life::stopped);
  CHECK(see_pod(pod(""), s1).what == life::unusable);
  auto null_timestamp = pod("P1");
  null_timestamp["metadata"]["deletionTimestamp"] = nullptr;
  CHECK(see_pod(null_timestamp, s1).what == life::live);
  CHECK(see_pod(json("text"), s1).what == life::unusable);
}

SCENARIO("an address is the pod's own, in either member") {
  CHECK_EQ(see_pod(pod("P1"), s1).ip, "10.0.0.9");
  auto x = pod("P1");
  x["status"] = {{"podIPs", json::array({{{"ip", ""}}, {{"ip", "10.0.0.8"}}})}};
  CHECK_EQ(see_pod(x, s1).ip, "10.0.0.8");
  x["status"] = json::object();
  CHECK_EQ(see_pod(x, s1).ip, std::nullopt);
}

SCENARIO("the pod of the name is bound while it is live and only then is the list needed") {
  CHECK_EQ(taken(choose(pod("P1"), {}, at_once)), "P1");
  CHECK(!needs_list(see_pod(pod("P1"), s1)));
  CHECK(needs_list(std::nullopt));
  for (const auto& x : {deleting(pod("P1")), in_phase(pod("P1"), "Failed"), pod("P1", "S2"), pod("")})
    CHECK(needs_list(see_pod(x, s1)));
  CHECK_EQ(taken(choose(deleting(pod("P1")), {deleting(pod("P1")), pod("P2")}, at_once)), "P2");
  CHECK_EQ(taken(choose(std::nullopt, {pod("P3", "S2"), pod("P2", "S1")}, at_once)), "P2");
}

SCENARIO("without a live pod the policy decides whether to wait") {
  auto got = choose(std::nullopt, {}, at_once);
  CHECK_EQ(std::get<nothing_yet>(got).why, "could not read a pod uid");
  CHECK(std::get<nothing_yet>(got).fatal);
  CHECK(!std::get<nothing_yet>(choose(std::nullopt, {}, waiting)).fatal);
  CHECK(!std::get<nothing_yet>(choose(deleting(pod("P1")), {}, waiting)).fatal);
}

SCENARIO("a pod of another Sandbox is never bound, and waited for under every policy") {
  auto got = choose(pod("P1", "S2"), {pod("P1", "S2")}, at_once);
  CHECK(!std::get<nothing_yet>(got).fatal);
}

SCENARIO("the pod that was suspended is not bound again") {
  CHECK(!std::get<nothing_yet>(choose(pod("P1"), {}, replacing)).fatal);
  CHECK_EQ(taken(choose(pod("P2"), {}, replacing)), "P2");
  CHECK_EQ(taken(choose(deleting(pod("P1")), {pod("P2")}, replacing)), "P2");
  CHECK_EQ(taken(choose(std::nullopt, {pod("P2", "S1"), pod("P1", "S1")}, replacing)), "none");
}

SCENARIO("two live pods of one owner fail closed") {
  CHECK(std::holds_alternative<ambiguous_pod>(choose(std::nullopt, {pod("P1", "S1"), pod("P2", "S1")}, waiting)));
  CHECK_EQ(taken(choose(std::nullopt, {deleting(pod("P1", "S1")), pod("P2", "S1")}, waiting)), "P2");
}

SCENARIO("a pod that has ended is named at once, with the way out") {
  auto got = choose(in_phase(pod("P1"), "Failed"), {}, waiting);
  const auto& why = std::get<nothing_yet>(got);
  CHECK(why.fatal);
  CHECK(why.why.find("suspend, then resume") != std::string::npos);
  CHECK(!std::get<nothing_yet>(choose(in_phase(pod("P1"), "Succeeded"), {}, replacing)).fatal);
  CHECK(!std::get<nothing_yet>(choose(in_phase(deleting(pod("P1")), "Succeeded"), {}, waiting)).fatal);
}

SCENARIO("under pod-ip a live pod counts once it has an address") {
  auto bare = pod("P2");
  bare["status"] = {{"phase", "Running"}};
  auto got = choose(bare, {}, at_once, settings::address::pod_ip);
  CHECK(std::get<nothing_yet>(got).why.find("status.podIP") != std::string::npos);
  CHECK(!std::get<nothing_yet>(got).fatal);
  CHECK_EQ(taken(choose(bare, {}, at_once)), "P2");
  CHECK_EQ(taken(choose(pod("P2"), {}, at_once, settings::address::pod_ip)), "P2");
}

SCENARIO("the guest listens at the service, else at the published address, or at the pod's own") {
  auto how = settings{};
  how.agent_port = 1234;
  auto from = ready_sandbox{s1, "desk.ns.svc", {"10.0.0.1"}, std::nullopt, {}};
  const auto chosen = take_pod{pod_uid{"P1"}, "10.0.0.9"};
  auto got = address_of(from, chosen, "n", how);
  CHECK_EQ(got->host, "desk.ns.svc");
  CHECK_EQ(got->port, 1234);
  CHECK_EQ(got->token, secret{"P1"});
  from.service_name.reset();
  CHECK_EQ(address_of(from, chosen, "n", how)->host, "10.0.0.1");
  from.pod_ips.clear();
  CHECK(!address_of(from, chosen, "n", how).has_value());
  how.agent_address = settings::address::pod_ip;
  CHECK_EQ(address_of(from, chosen, "n", how)->host, "10.0.0.9");
}

SCENARIO("the failure of a bind that ran out of time says what it waited for and no pod uid") {
  auto got = out_of_time("n", replacing, nothing_yet{"could not read a pod uid"}, std::chrono::milliseconds{60'000});
  CHECK(got.text.find("TERMINATING") != std::string::npos);
  CHECK(got.text.find("terminationGracePeriodSeconds") != std::string::npos);
  CHECK(got.text.find("readyTimeoutMs") != std::string::npos);
  CHECK(got.text.find("P1") == std::string::npos);
  CHECK(out_of_time("n", waiting, nothing_yet{"x"}, std::chrono::milliseconds{1}).text.find("TERMINATING") == std::string::npos);
}
