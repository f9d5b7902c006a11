#define CAF_SUITE read_config

#include "tests/egress/configured.hpp"

using namespace paddock::egress;
using nlohmann::json;

namespace {

json with_blocks(const json& blocks) {
  return {{"policy", {{"kind", "public-internet"}, {"exceptCidrs", blocks}}}};
}

json deny_all_and(const char* member, const json& value) {
  return {{"policy", {{"kind", "deny-all"}}}, {member, value}};
}

json per_sandbox(const char* change) {
  auto got = json{{"engine", "cilium"}, {"admissionPolicyName", "fence"}};
  got.merge_patch(json::parse(change));
  return deny_all_and("perSandbox", got);
}

illegal_per_sandbox sandbox_refusal(const char* change) {
  return refused_as<illegal_per_sandbox>(refusal_of(per_sandbox(change).dump()));
}

std::string config_field(const json& config) {
  return refused_as<illegal_config>(refusal_of(config.dump())).field;
}

} // namespace

SCENARIO("everything that is configured is read") {
  auto got = configured(R"({
    "policy": {"kind": "static", "allowedHosts": ["a.example", ".b.example"]},
    "networkPolicyName": "our-egress",
    "engine": "cilium",
    "verify": "named-object-only",
    "ciliumNarrowing": {
      "ports": [443], "hostPorts": {"a.example": [22]}, "tlsServerNames": false, "tlsPorts": [8443],
      "dnsNames": {"namespace": "n", "clusterDomain": "c.local", "searchSuffixes": ["s"]}
    },
    "profile": "none",
    "profileLabelKey": "team.example/net",
    "perSandbox": {
      "engine": "cilium", "admissionPolicyName": "fence", "admissionPolicyBindingName": "fence-here", "labelKey": "team.example/own",
      "narrowing": {"dnsNames": true}, "hostIdentity": "system:serviceaccount:ns:host",
      "permittedHostsParam": {"name": "hosts", "namespace": "platform"}
    }
  })");
  auto narrowed = narrowing{port_list{443}, {{"a.example", {22}}}, dns_narrowing{"n", "c.local", {"s"}}, false, port_list{8443}};
  auto own = narrowing{};
  own.dns_names = dns_narrowing{};
  auto granting = per_sandbox_egress{
    "fence", "fence-here", "team.example/own", own, "system:serviceaccount:ns:host", object_reference{"hosts", "platform"}};
  CHECK(got
        == (egress_config{static_hosts{{"a.example", ".b.example"}}, "our-egress", policy_engine::cilium, verification::named_object_only,
                          narrowed, "none", "team.example/net", granting}));
}

SCENARIO("what is left out has the defaults of the specification") {
  auto got = configured(R"({"policy": {"kind": "deny-all"}, "perSandbox": {"engine": "cilium", "admissionPolicyName": "fence"}})");
  CHECK_EQ(to_string(got.engine), "core");
  CHECK_EQ(to_string(got.verify), "union");
  CHECK(!got.network_policy_name);
  CHECK(!got.cilium_narrowing);
  CHECK(!got.profile);
  CHECK(!got.profile_label());
  CHECK_EQ(got.profile_label_key, "sandbox.namzu.ai/egress-profile");
  REQUIRE(got.per_sandbox);
  CHECK_EQ(got.per_sandbox->binding_name(), "fence-binding");
  CHECK_EQ(got.per_sandbox->label_key, "sandbox.namzu.ai/per-sandbox-egress");
  CHECK(!got.per_sandbox->narrowing);
  CHECK(!got.per_sandbox->host_identity);
  CHECK(!got.per_sandbox->permitted_hosts_param);
}

// [E 8] [E 9]
SCENARIO("an excluded block that is none is refused") {
  for (const auto* bad : {"203.0.113.0", "10.0.0.0/33", "", "10.0.0/8", "2001:db8::/129", "10.0.0.0/8 ", "0x0a.0.0.0/8", "10.0.0.0/-1"}) {
    auto no = refusal_of(with_blocks({"203.0.113.0/24", bad}).dump());
    CHECK_EQ(refused_as<illegal_config>(no).field, "policy.exceptCidrs");
    CHECK_EQ(reason_of(no), "EgressPolicyConfig");
    CHECK(says(no, std::string{"\""} + bad + "\""));
  }
  CHECK_EQ(config_field(with_blocks("203.0.113.0/24")), "policy.exceptCidrs");
  CHECK_EQ(config_field(with_blocks({5})), "policy.exceptCidrs");
  CHECK_EQ(config_field(with_blocks(nullptr)), "policy.exceptCidrs");
}

// [E 323]
SCENARIO("an excluded block that the API server would refuse, or that excludes everything, is refused") {
  for (const auto* bad : {"0.0.0.0/0", "203.0.113.7/24", "::ffff:10.0.0.0/104", "::/0", "2001:db8::1/32", "203.000.113.0/24", "010.0.0.0/8",
                          "203.0.113.0/024", "2001:db8::/032", "2001:db8::1.02.3.0/120", "2001:db8::01.2.3.0/120"}) {
    auto no = refusal_of(with_blocks({bad}).dump());
    CHECK_EQ(refused_as<illegal_config>(no).field, "policy.exceptCidrs");
    CHECK(says(no, bad));
  }
  for (const auto* good :
       {"0.0.0.0/1", "::/1", "10.0.0.0/8", "100.0.0.0/8", "2001:0db8::/32", "2001:db8:00f0::/44", "2001:db8::1.0.2.0/120"})
    CHECK(read_egress_config(with_blocks({good})).has_value());
  auto translating = translate(egress_config{public_internet{{"203.0.113.7/24"}}}, task);
  REQUIRE(!translating);
  CHECK_EQ(refused_as<illegal_config>(translating.error()).field, "policy.exceptCidrs");
}

// [E 13]
SCENARIO("a list of hosts under core is refused") {
  auto no = refusal_of(R"({"policy": {"kind": "static", "allowedHosts": ["a.example"]}})");
  CHECK_EQ(to_string(refused_as<unenforceable_policy>(no).policy_kind), "static");
  CHECK_EQ(reason_of(no), "UnenforceableEgressPolicy");
}

SCENARIO("so is a resolver, before anybody could ask it") {
  auto no = refusal_of(R"({"policy": {"kind": "resolver"}, "ciliumNarrowing": {"ports": [443]}})");
  CHECK_EQ(to_string(refused_as<unenforceable_policy>(no).policy_kind), "resolver");
}

// [E 17]
SCENARIO("an unknown kind means nothing at all, and not everything") {
  for (const auto& kind : {json("allow"), json("Deny-All"), json(""), json(5), json(nullptr), json::array()}) {
    auto no = refusal_of(json{{"policy", {{"kind", kind}}}}.dump());
    CHECK_EQ(refused_as<illegal_config>(no).field, "policy.kind");
    CHECK(says(no, kind.dump()));
  }
  CHECK_EQ(config_field({{"policy", json::object()}}), "policy.kind");
  CHECK_EQ(config_field({{"policy", "deny-all"}}), "policy");
  CHECK_EQ(config_field({{"policy", nullptr}}), "policy");
  CHECK_EQ(config_field(json::object()), "policy");
}

SCENARIO("a member that is not known is refused by its path") {
  CHECK_EQ(config_field(deny_all_and("verfy", "union")), "verfy");
  CHECK_EQ(config_field({{"policy", {{"kind", "deny-all"}, {"allowedHosts", {"a.example"}}}}}), "policy.allowedHosts");
  CHECK_EQ(config_field({{"policy", {{"kind", "public-internet"}, {"exceptCIDRs", json::array()}}}}), "policy.exceptCIDRs");
  CHECK_EQ(config_field(per_sandbox(R"({"hostIdentities": "x"})")), "perSandbox.hostIdentities");
  CHECK_EQ(config_field(per_sandbox(R"({"permittedHostsParam": {"name": "x", "namespace": "y", "key": "z"}})")),
           "perSandbox.permittedHostsParam.key");
  CHECK(says(refusal_of(deny_all_and("verfy", "union").dump()), "known are policy, networkPolicyName, engine, verify"));
}

SCENARIO("a value of the wrong type is refused, and null does not mean none") {
  CHECK_EQ(config_field(deny_all_and("engine", "Cilium")), "engine");
  CHECK_EQ(config_field(deny_all_and("engine", nullptr)), "engine");
  CHECK_EQ(config_field(deny_all_and("verify", false)), "verify");
  for (const auto& name : {json(5), json(""), json("Upper"), json("a/b"), json(".."), json(nullptr)})
    CHECK_EQ(config_field(deny_all_and("networkPolicyName", name)), "networkPolicyName");
  CHECK_EQ(config_field(deny_all_and("perSandbox", nullptr)), "perSandbox");
  CHECK_EQ(config_field(deny_all_and("perSandbox", true)), "perSandbox");
  CHECK_EQ(config_field({{"engine", "cilium"}, {"policy", {{"kind", "static"}, {"allowedHosts", "a.example"}}}}), "policy.allowedHosts");
  CHECK_EQ(config_field({{"engine", "cilium"}, {"policy", {{"kind", "static"}}}}), "policy.allowedHosts");
  CHECK_EQ(config_field(json::array()), "");
  CHECK_EQ(config_field(nullptr), "");
}

// [E 161]
SCENARIO("a profile is a DNS label") {
  for (const auto& bad :
       {std::string{"Internet"}, std::string(64, 'a'), std::string{"-leading"}, std::string{"has space"}, std::string{}}) {
    auto no = refusal_of(deny_all_and("profile", bad).dump());
    auto profile = refused_as<illegal_profile>(no);
    CHECK_EQ(profile.field, "profile");
    CHECK_EQ(profile.value, bad);
    CHECK_EQ(reason_of(no), "EgressProfileConfig");
  }
  CHECK_EQ(refused_as<illegal_profile>(refusal_of(deny_all_and("profile", nullptr).dump())).value, "null");
  CHECK_EQ(configured(deny_all_and("profile", std::string(63, 'a')).dump()).profile, std::string(63, 'a'));
  CHECK_EQ(configured(deny_all_and("profile", "0").dump()).profile, "0");
}

// [E 162] [E 163]
SCENARIO("the profile's key is a label key, with a profile and without") {
  for (const auto& bad : {std::string{"not a key"}, std::string{"a/b/c"}, std::string(64, 'x'), std::string{"sandbox.namzu.ai/template"}})
    for (auto profiled : {true, false}) {
      auto config = deny_all_and("profileLabelKey", bad);
      if (profiled)
        config["profile"] = "none";
      auto no = refused_as<illegal_profile>(refusal_of(config.dump()));
      CHECK_EQ(no.field, "profileLabelKey");
      CHECK_EQ(no.value, bad);
    }
}

// [E 167]
SCENARIO("per-sandbox egress takes cilium") {
  auto no = sandbox_refusal(R"({"engine": "core"})");
  CHECK_EQ(no.field, "engine");
  CHECK_EQ(no.value, "core");
  CHECK_EQ(reason_of(no), "PerSandboxEgressConfig");
  CHECK_EQ(sandbox_refusal(R"({"engine": null})").value, "undefined"); // removed by the merge patch
  CHECK_EQ(sandbox_refusal(R"({"engine": 5, "admissionPolicyName": null})").field, "engine");
}

// [E 168]
SCENARIO("the fence has no default name") {
  auto no = sandbox_refusal(R"({"admissionPolicyName": null})");
  CHECK_EQ(no.field, "admissionPolicyName");
  CHECK_EQ(no.value, "");
}

// [E 169]
SCENARIO("the names of the fence have no spaces around them") {
  auto no = sandbox_refusal(R"({"admissionPolicyBindingName": " x"})");
  CHECK_EQ(no.field, "admissionPolicyBindingName");
  CHECK_EQ(no.value, " x");
  CHECK_EQ(sandbox_refusal(R"({"admissionPolicyBindingName": ""})").field, "admissionPolicyBindingName");
  CHECK_EQ(sandbox_refusal(R"({"admissionPolicyName": ""})").field, "admissionPolicyName");
  CHECK_EQ(sandbox_refusal(R"({"admissionPolicyName": "x\t"})").field, "admissionPolicyName");
  CHECK_EQ(sandbox_refusal(R"({"admissionPolicyName": 5})").value, "5");
}

// [E 49]
SCENARIO("the narrowing of a sandbox is checked when it is configured") {
  auto no = refusal_of(per_sandbox(R"({"narrowing": {"hostPorts": {"x.example.org": [0]}}})").dump());
  CHECK_EQ(refused_as<illegal_config>(no).field, "perSandbox.narrowing.hostPorts[\"x.example.org\"]");
  CHECK(says(no, "perSandbox.narrowing"));
  // Active or not.
  CHECK_EQ(config_field(per_sandbox(R"({"narrowing": {"tlsPorts": [99999]}})")), "perSandbox.narrowing.tlsPorts");
  CHECK_EQ(config_field(per_sandbox(R"({"narrowing": {"tlsPorts": []}})")), "perSandbox.narrowing.tlsPorts");
}

SCENARIO("ports of a host in capitals would restrict nothing, and are refused") {
  CHECK_EQ(config_field(per_sandbox(R"({"narrowing": {"hostPorts": {"X.example.org": [443]}}})")),
           "perSandbox.narrowing.hostPorts[\"X.example.org\"]");
}

// [E 170]
SCENARIO("the per-sandbox label is not the template's") {
  auto no = sandbox_refusal(R"({"labelKey": "sandbox.namzu.ai/template"})");
  CHECK_EQ(no.field, "labelKey");
  CHECK_EQ(no.value, "sandbox.namzu.ai/template");
  CHECK_EQ(sandbox_refusal(R"({"labelKey": "a/b/c"})").field, "labelKey");
  CHECK_EQ(sandbox_refusal(R"({"labelKey": 5})").value, "5");
}

// [E 171]
SCENARIO("nor the profile's, where there is one") {
  auto config = per_sandbox(R"({"labelKey": "sandbox.namzu.ai/egress-profile"})");
  CHECK_EQ(configured(config.dump()).per_sandbox->label_key, "sandbox.namzu.ai/egress-profile");
  config["profile"] = "none";
  CHECK_EQ(refused_as<illegal_per_sandbox>(refusal_of(config.dump())).field, "labelKey");
  config = per_sandbox("{}");
  config["profileLabelKey"] = "sandbox.namzu.ai/per-sandbox-egress";
  CHECK(configured(config.dump()).per_sandbox.has_value());
  config["profile"] = "none";
  CHECK_EQ(refused_as<illegal_per_sandbox>(refusal_of(config.dump())).field, "labelKey");
}

// [E 172]
SCENARIO("the host's identity is a name without spaces around it") {
  for (const auto* bad : {R"({"hostIdentity": ""})", R"({"hostIdentity": " a"})"})
    CHECK_EQ(sandbox_refusal(bad).field, "hostIdentity");
  CHECK_EQ(sandbox_refusal(R"({"hostIdentity": " a"})").value, " a");
}

// [E 173]
SCENARIO("the permitted hosts are named in full") {
  auto no = sandbox_refusal(R"({"permittedHostsParam": {"name": "", "namespace": "x"}})");
  CHECK_EQ(no.field, "permittedHostsParam.name");
  CHECK_EQ(no.value, "");
  no = sandbox_refusal(R"({"permittedHostsParam": {"name": "x"}})");
  CHECK_EQ(no.field, "permittedHostsParam.namespace");
  CHECK_EQ(no.value, "undefined");
  CHECK_EQ(sandbox_refusal(R"({"permittedHostsParam": {}})").field, "permittedHostsParam.name");
  CHECK_EQ(sandbox_refusal(R"({"permittedHostsParam": {"name": "x", "namespace": 5}})").value, "5");
}

SCENARIO("the first thing that is wrong is named, in the order of the specification") {
  auto all = json::parse(R"({
    "policy": {"kind": "public-internet", "exceptCidrs": ["x"]},
    "ciliumNarrowing": {"ports": [0]},
    "profile": "Upper",
    "profileLabelKey": "a/b/c",
    "perSandbox": {"engine": "core"}
  })");
  CHECK_EQ(config_field(all), "policy.exceptCidrs");
  all["policy"] = {{"kind", "deny-all"}};
  CHECK(std::holds_alternative<narrowing_unsupported>(refusal_of(all.dump())));
  all["engine"] = "cilium";
  all["policy"] = {{"kind", "static"}, {"allowedHosts", {"a.example"}}};
  CHECK_EQ(config_field(all), "ciliumNarrowing.ports");
  all.erase("ciliumNarrowing");
  CHECK_EQ(refused_as<illegal_profile>(refusal_of(all.dump())).field, "profile");
  all["profile"] = "upper";
  CHECK_EQ(refused_as<illegal_profile>(refusal_of(all.dump())).field, "profileLabelKey");
  all.erase("profileLabelKey");
  all["perSandbox"] = json::parse(R"({
    "engine": "core", "admissionPolicyBindingName": "", "narrowing": {"ports": []}, "hostIdentity": "", "permittedHostsParam": {},
    "labelKey": "a/b/c"
  })");
  auto& own = all["perSandbox"];
  auto field = [&] { return refused_as<illegal_per_sandbox>(refusal_of(all.dump())).field; };
  CHECK_EQ(field(), "engine");
  own["engine"] = "cilium";
  CHECK_EQ(field(), "admissionPolicyName");
  own["admissionPolicyName"] = "fence";
  CHECK_EQ(field(), "admissionPolicyBindingName");
  own.erase("admissionPolicyBindingName");
  CHECK_EQ(config_field(all), "perSandbox.narrowing.ports");
  own.erase("narrowing");
  CHECK_EQ(field(), "hostIdentity");
  own.erase("hostIdentity");
  CHECK_EQ(field(), "permittedHostsParam.name");
  own["permittedHostsParam"] = {{"name", "n"}, {"namespace", "s"}};
  CHECK_EQ(field(), "labelKey");
  own.erase("labelKey");
  CHECK(read_egress_config(all).has_value());
}
