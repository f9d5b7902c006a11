#define CAF_SUITE translated_judged

#include "egress/named_object.hpp"
#include "egress/per_sandbox_policy.hpp"
#include "tests/egress/configured.hpp"
#include "tests/egress/policies.hpp"
#include "tests/support/check_json.hpp"

// What is composed, before the rules that judge what stands in a cluster.

using namespace paddock::egress;
using nlohmann::json;

namespace {

const auto exact_configurations = std::vector<const char*>{
  R"({"policy": {"kind": "deny-all"}})",
  R"({"policy": {"kind": "deny-all"}, "engine": "cilium", "profile": "none"})",
  R"({"policy": {"kind": "public-internet"}})",
  R"({"policy": {"kind": "public-internet", "exceptCidrs": ["203.0.113.0/24", "2001:db8::/32", "10.1.0.0/16"]}})",
  R"({"policy": {"kind": "allow-all"}})",
  R"({"policy": {"kind": "static", "allowedHosts": ["a.example", "b.example"]}, "engine": "cilium"})",
  R"({"policy": {"kind": "static", "allowedHosts": ["A.example"]}, "engine": "cilium", "ciliumNarrowing": {"ports": [443, 80]}})",
  R"({"policy": {"kind": "static", "allowedHosts": ["a.example", "b.example"]}, "engine": "cilium",
      "ciliumNarrowing": {"dnsNames": {"searchSuffixes": ["corp.internal"]}, "hostPorts": {"a.example": [22, 443, 8443]},
                          "tlsServerNames": true, "tlsPorts": [443, 8443]}})",
};

/// The labels of a pod that a policy selects.
label_map selected_by(const policy_object& x) {
  const auto* selector = x.kind == resource_kind::network_policy ? "podSelector" : "endpointSelector";
  return x.manifest["spec"][selector]["matchLabels"].get<label_map>();
}

test::judged judge_beside(const policy_object& configured, const json& other) {
  auto core = std::vector<json>{};
  auto cilium = std::vector<json>{};
  for (const auto& x : {configured.manifest, other})
    (x["kind"] == "NetworkPolicy" ? core : cilium).push_back(x);
  return test::judge(allowance_of(configured), core, cilium, selected_by(configured));
}

json copy_of(const policy_object& x) {
  auto got = x.manifest;
  got["metadata"]["name"] = "a-copy";
  return got;
}

} // namespace

SCENARIO("the judge is tested with what configurations mean") {
  CHECK_JSON(translated(R"({"policy": {"kind": "deny-all"}})").manifest, test::deny_all_object().manifest);
  CHECK_JSON(translated(R"({"policy": {"kind": "allow-all"}})").manifest, test::allow_all_object().manifest);
  CHECK_JSON(translated(R"({"policy": {"kind": "no-network"}})").manifest, test::no_network_object().manifest);
  CHECK_JSON(translated(R"({"policy": {"kind": "public-internet", "exceptCidrs": ["203.0.113.0/24"]}})").manifest,
             test::public_internet_object({"203.0.113.0/24"}).manifest);
  auto listed = configured(R"({"policy": {"kind": "static", "allowedHosts": ["a.example", ".b.example"]}, "engine": "cilium"})");
  CHECK_JSON(translated(listed).manifest, test::static_object({"a.example", ".b.example"}).manifest);
  listed.cilium_narrowing = narrowing{};
  listed.cilium_narrowing->dns_names = dns_narrowing{};
  listed.cilium_narrowing->ports = {443};
  CHECK_JSON(translated(listed).manifest, test::static_object({"a.example", ".b.example"}, {test::port_443(), true}).manifest);
  auto how = per_sandbox_egress{"fence"};
  auto grant = per_sandbox_policy(how, "namzu-sandboxes", {policy_owner::type::sandbox, "s1", "uid-1"}, "s1",
                                  per_sandbox_hosts(how, {"a.example", ".b.example"}).value());
  CHECK_JSON(grant.value().manifest, test::grant_object({"a.example", ".b.example"}).manifest);
}

SCENARIO("what is composed is the named object, and alone it is within") {
  auto all = exact_configurations;
  all.push_back(R"({"policy": {"kind": "no-network"}})");
  all.push_back(R"({"policy": {"kind": "static", "allowedHosts": [".example.com"]}, "engine": "cilium"})");
  for (const auto* text : all) {
    CAF_MESSAGE(text);
    auto got = translated(text);
    CHECK(!difference_of(got, got.manifest));
    CHECK_EQ(judge_beside(got, got.manifest).outcome, "passes");
  }
}

SCENARIO("a copy under another name allows no more than the configuration") {
  for (const auto* text : exact_configurations) {
    CAF_MESSAGE(text);
    auto got = translated(text);
    auto outcome = judge_beside(got, copy_of(got));
    CHECK_EQ(outcome.outcome, "passes");
    CHECK(outcome.lists(std::string{to_string(got.kind)} + "/a-copy: within"));
  }
}

SCENARIO("a copy of a wider configuration is refused") {
  auto wider = translated(R"({"policy": {"kind": "public-internet"}})");
  auto narrower = translated(R"({"policy": {"kind": "public-internet", "exceptCidrs": ["203.0.113.0/24"]}})");
  CHECK_EQ(judge_beside(narrower, copy_of(wider)).outcome, "policy-widens-egress");
  CHECK_EQ(judge_beside(wider, copy_of(narrower)).outcome, "passes");
  auto hosts = translated(R"({"policy": {"kind": "static", "allowedHosts": ["a.example"]}, "engine": "cilium"})");
  auto on_443 = translated(R"({"policy": {"kind": "static", "allowedHosts": ["a.example"]}, "engine": "cilium",
                               "ciliumNarrowing": {"ports": [443]}})");
  auto named = translated(R"({"policy": {"kind": "static", "allowedHosts": ["a.example"]}, "engine": "cilium",
                              "ciliumNarrowing": {"ports": [443], "tlsServerNames": true, "dnsNames": true}})");
  CHECK_EQ(judge_beside(on_443, copy_of(hosts)).outcome, "policy-widens-egress");
  CHECK_EQ(judge_beside(hosts, copy_of(on_443)).outcome, "passes");
  CHECK_EQ(judge_beside(named, copy_of(on_443)).outcome, "policy-widens-egress");
  CHECK_EQ(judge_beside(on_443, copy_of(named)).outcome, "passes");
}
