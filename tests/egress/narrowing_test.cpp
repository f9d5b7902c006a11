#define CAF_SUITE narrowing

#include "egress/narrowing.hpp"
#include "egress/per_sandbox_policy.hpp"
#include "tests/egress/configured.hpp"

using namespace paddock::egress;
using nlohmann::json;

namespace {

json narrowed(const char* kind, const char* engine, const char* narrowing) {
  auto got = json{{"policy", {{"kind", kind}}}, {"engine", engine}, {"ciliumNarrowing", json::parse(narrowing)}};
  if (std::string_view{kind} == "static")
    got["policy"]["allowedHosts"] = {"a.example"};
  return got;
}

/// The field of an `illegal_config` that refuses the narrowing of a list of hosts.
std::string refused_field(const char* narrowing) {
  return refused_as<illegal_config>(refusal_of(narrowed("static", "cilium", narrowing).dump())).field;
}

egress_config with_narrowing(egress_policy policy, policy_engine engine, narrowing how) {
  auto got = egress_config{std::move(policy)};
  got.engine = engine;
  got.cilium_narrowing = std::move(how);
  return got;
}

} // namespace

// [E 27]
SCENARIO("a narrowing that has nothing to narrow is refused at once") {
  for (const auto* kind : {"deny-all", "no-network", "allow-all", "public-internet"}) {
    auto no = refused_as<narrowing_unsupported>(refusal_of(narrowed(kind, "cilium", R"({"ports": [443]})").dump()));
    CHECK_EQ(to_string(no.policy_kind), kind);
    CHECK_EQ(to_string(no.engine), "cilium");
    CHECK_EQ(reason_of(no), "EgressNarrowingUnsupported");
  }
}

// [E 28]
SCENARIO("and by the translation too") {
  auto how = narrowing{};
  how.ports = {443};
  auto got = translate(with_narrowing(deny_all{}, policy_engine::core, how), task);
  REQUIRE(!got);
  auto no = refused_as<narrowing_unsupported>(got.error());
  CHECK_EQ(to_string(no.policy_kind), "deny-all");
  CHECK_EQ(to_string(no.engine), "core");
  CHECK(std::holds_alternative<narrowing_unsupported>(refusal_of(narrowed("deny-all", "core", R"({"ports": [443]})").dump())));
}

// [E 29]
SCENARIO("an engine without host names is the first thing to say") {
  for (const auto* narrowing : {R"({"ports": [443]})", R"({"ports": [0]})"})
    CHECK_EQ(to_string(refused_as<unenforceable_policy>(refusal_of(narrowed("static", "core", narrowing).dump())).policy_kind), "static");
  auto how = narrowing{};
  how.ports = {0};
  auto got = translate(with_narrowing(static_hosts{{"a.example"}}, policy_engine::core, how), task);
  REQUIRE(!got);
  CHECK(std::holds_alternative<unenforceable_policy>(got.error()));
}

SCENARIO("a narrowing that cannot apply is refused before its values are") {
  CHECK(std::holds_alternative<narrowing_unsupported>(refusal_of(narrowed("deny-all", "cilium", R"({"ports": [0]})").dump())));
}

// [E 31]
SCENARIO("a port is an integer from 1 to 65535") {
  CHECK_EQ(refused_field(R"({"ports": [443, 70000]})"), "ciliumNarrowing.ports");
  CHECK_EQ(refused_field(R"({"ports": [0]})"), "ciliumNarrowing.ports");
  CHECK_EQ(refused_field(R"({"ports": [1.5]})"), "ciliumNarrowing.ports");
  CHECK_EQ(refused_field(R"({"hostPorts": {"a.example": [-1]}})"), "ciliumNarrowing.hostPorts[\"a.example\"]");
  CHECK_EQ(refused_field(R"({"tlsServerNames": true, "tlsPorts": [99999]})"), "ciliumNarrowing.tlsPorts");
  for (const auto* more : {R"({"ports": ["443"]})", R"({"ports": [null]})", R"({"ports": [1e300]})", R"({"ports": [-0.5]})",
                           R"({"ports": [65535.5]})", R"({"ports": [18446744073709551615]})", R"({"ports": 443})", R"({"ports": null})"})
    CHECK_EQ(refused_field(more), "ciliumNarrowing.ports");
}

// [E 32]
SCENARIO("an empty list of ports is refused as that") {
  for (const auto& [narrowing, field] :
       std::vector<std::pair<const char*, std::string>>{{R"({"ports": []})", "ciliumNarrowing.ports"},
                                                        {R"({"hostPorts": {"a.example": []}})", "ciliumNarrowing.hostPorts[\"a.example\"]"},
                                                        {R"({"tlsServerNames": true, "tlsPorts": []})", "ciliumNarrowing.tlsPorts"}}) {
    auto no = refusal_of(narrowed("static", "cilium", narrowing).dump());
    CHECK_EQ(refused_as<illegal_config>(no).field, field);
    CHECK_EQ(reason_of(no), "EgressPolicyConfig");
    CHECK(says(no, "is an empty list, which is not allowed"));
    CHECK(says(no, "config.egress." + field));
  }
}

// [E 33]
SCENARIO("a blank domain or suffix is refused") {
  CHECK_EQ(refused_field(R"({"dnsNames": {"clusterDomain": "  "}})"), "ciliumNarrowing.dnsNames.clusterDomain");
  CHECK_EQ(refused_field(R"({"dnsNames": {"searchSuffixes": [""]}})"), "ciliumNarrowing.dnsNames.searchSuffixes");
  CHECK_EQ(refused_field(R"({"dnsNames": {"searchSuffixes": ["corp.internal", "\t"]}})"), "ciliumNarrowing.dnsNames.searchSuffixes");
  CHECK_EQ(refused_field(R"({"dnsNames": {"searchSuffixes": [5]}})"), "ciliumNarrowing.dnsNames.searchSuffixes");
  CHECK_EQ(refused_field(R"({"dnsNames": {"searchSuffixes": "corp"}})"), "ciliumNarrowing.dnsNames.searchSuffixes");
  CHECK_EQ(refused_field(R"({"dnsNames": {"namespace": " "}})"), "ciliumNarrowing.dnsNames.namespace");
  CHECK_EQ(refused_field(R"({"dnsNames": {"clusterDomain": null}})"), "ciliumNarrowing.dnsNames.clusterDomain");
}

// [E 34]
SCENARIO("the first and the last port are ports") {
  auto config = configured(narrowed("static", "cilium", R"({"ports": [1, 65535]})").dump());
  REQUIRE(config.cilium_narrowing);
  CHECK_EQ(config.cilium_narrowing->ports, (port_list{1, 65535}));
  CHECK_EQ(rules_of(translated(config))[1]["toPorts"][0]["ports"].size(), 2u);
  // A JSON number that is whole is an integer, however it is written.
  CHECK_EQ(configured(narrowed("static", "cilium", R"({"ports": [443.0, 4.43e2]})").dump()).cilium_narrowing->ports, (port_list{443, 443}));
}

SCENARIO("what is not known or not of its type is refused by its path") {
  CHECK_EQ(refused_field(R"({"port": [443]})"), "ciliumNarrowing.port");
  CHECK_EQ(refused_field(R"({"dnsNames": {"clusterDomains": "x"}})"), "ciliumNarrowing.dnsNames.clusterDomains");
  CHECK_EQ(refused_field(R"({"dnsNames": "true"})"), "ciliumNarrowing.dnsNames");
  CHECK_EQ(refused_field(R"({"tlsServerNames": "true"})"), "ciliumNarrowing.tlsServerNames");
  CHECK_EQ(refused_field(R"({"tlsServerNames": null})"), "ciliumNarrowing.tlsServerNames");
  CHECK_EQ(refused_field(R"({"hostPorts": []})"), "ciliumNarrowing.hostPorts");
  CHECK_EQ(refused_field("[]"), "ciliumNarrowing");
  CHECK_EQ(refused_field("null"), "ciliumNarrowing");
  CHECK_EQ(refused_as<illegal_config>(refusal_of(narrowed("deny-all", "core", R"({"port": [443]})").dump())).field, "ciliumNarrowing.port");
}

SCENARIO("the translation refuses what a program put together and no reader would") {
  auto how = narrowing{};
  how.ports = port_list{};
  auto got = translate(with_narrowing(static_hosts{{"a.example"}}, policy_engine::cilium, how), task);
  REQUIRE(!got);
  CHECK_EQ(refused_as<illegal_config>(got.error()).field, "ciliumNarrowing.ports");
  how.ports = port_list{0};
  got = translate(with_narrowing(static_hosts{{"a.example"}}, policy_engine::cilium, how), task);
  REQUIRE(!got);
  CHECK_EQ(refused_as<illegal_config>(got.error()).field, "ciliumNarrowing.ports");
}

// [E 47]
SCENARIO("both paths say the same of a domain and server names, but for the path") {
  auto how = narrowing{};
  how.tls_server_names = true;
  auto listed = translate(with_narrowing(static_hosts{{".example.com"}}, policy_engine::cilium, how), task);
  auto granting = per_sandbox_egress{"fence"};
  granting.narrowing = how;
  auto granted = per_sandbox_hosts(granting, {".example.com"});
  REQUIRE(!listed);
  REQUIRE(!granted);
  auto text = to_string(granted.error());
  auto path = std::string_view{"config.egress.perSandbox.narrowing"};
  auto at = text.find(path);
  REQUIRE(at != std::string::npos);
  CHECK_EQ(text.replace(at, path.size(), "config.egress.ciliumNarrowing"), to_string(listed.error()));
  // The builder alone says it too, whoever has asked before.
  auto built = per_sandbox_policy(granting, "ns", {policy_owner::type::sandbox, "s", "u"}, "s", parse_hosts({".example.com"}).value());
  REQUIRE(!built);
  CHECK_EQ(to_string(built.error()), to_string(granted.error()));
}

SCENARIO("the ports of a host are its own, else those for all, else those of TLS, else all") {
  auto a = host_entry::parse("a.example").value();
  auto how = narrowing{};
  CHECK(!ports_of(how, a));
  how.tls_server_names = true;
  CHECK_EQ(ports_of(how, a), (std::optional{port_list{443}}));
  how.tls_ports = {8443};
  CHECK_EQ(ports_of(how, a), (std::optional{port_list{8443}}));
  how.ports = {80};
  CHECK_EQ(ports_of(how, a), (std::optional{port_list{80}}));
  how.host_ports["a.example"] = {22};
  CHECK_EQ(ports_of(how, a), (std::optional{port_list{22}}));
  CHECK_EQ(ports_of(how, host_entry::parse(".a.example").value()), (std::optional{port_list{80}}));
}
