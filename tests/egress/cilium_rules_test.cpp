#define CAF_SUITE cilium_rules

#include "tests/egress/configured.hpp"
#include "tests/support/check_json.hpp"

using namespace paddock::egress;
using nlohmann::json;

namespace {

/// A list of hosts under engine cilium, with a narrowing if one is given.
std::string listing(const char* hosts, const char* narrowing = nullptr) {
  return std::string{R"({"engine": "cilium", "policy": {"kind": "static", "allowedHosts": )"} + hosts + "}"
         + (narrowing != nullptr ? std::string{R"(, "ciliumNarrowing": )"} + narrowing : std::string{}) + "}";
}

json rules_for(const char* hosts, const char* narrowing = nullptr) {
  return rules_of(translated(listing(hosts, narrowing)));
}

const auto dns_for_all = json::parse(R"({
  "toEndpoints": [{"matchLabels": {"k8s:io.kubernetes.pod.namespace": "kube-system", "k8s:k8s-app": "kube-dns"}}],
  "toPorts": [{"ports": [{"port": "53", "protocol": "ANY"}], "rules": {"dns": [{"matchPattern": "*"}]}}]
})");

json dns_for(const char* names) {
  auto got = dns_for_all;
  got["toPorts"][0]["rules"]["dns"] = json::parse(names);
  return got;
}

json names_of_dns(const json& rules) {
  return rules[0]["toPorts"][0]["rules"]["dns"];
}

} // namespace

SCENARIO("a list of hosts is the object of the specification") {
  auto got = translated(listing(R"(["api.example.com", ".example.com"])"));
  CHECK_JSON(got.manifest, json::parse(R"({
    "apiVersion": "cilium.io/v2",
    "kind": "CiliumNetworkPolicy",
    "metadata": {"name": "namzu-task-egress", "namespace": "namzu-sandboxes"},
    "spec": {
      "endpointSelector": {"matchLabels": {"sandbox.namzu.ai/template": "namzu-task"}},
      "egress": [
        {
          "toEndpoints": [{"matchLabels": {"k8s:io.kubernetes.pod.namespace": "kube-system", "k8s:k8s-app": "kube-dns"}}],
          "toPorts": [{"ports": [{"port": "53", "protocol": "ANY"}], "rules": {"dns": [{"matchPattern": "*"}]}}]
        },
        {"toFQDNs": [{"matchName": "api.example.com"}, {"matchName": "example.com"}, {"matchPattern": "*.example.com"}]}
      ]
    }
  })"));
  CHECK_EQ(to_string(got.policy_kind), "static");
  CHECK_EQ(got.path(), "/apis/cilium.io/v2/namespaces/namzu-sandboxes/ciliumnetworkpolicies/namzu-task-egress");
}

// [E 15]
SCENARIO("two exact hosts are one rule after that of DNS") {
  auto got = translated(listing(R"(["a.example", "b.example"])"));
  CHECK_EQ(to_string(got.kind), "CiliumNetworkPolicy");
  CHECK_EQ(got.manifest["apiVersion"], "cilium.io/v2");
  CHECK_JSON(rules_of(got),
             json::array({dns_for_all, json::parse(R"({"toFQDNs": [{"matchName": "a.example"}, {"matchName": "b.example"}]})")}));
}

SCENARIO("entries are neither sorted nor merged") {
  auto rules = rules_for(R"(["b.example", "a.example", "b.example"])");
  CHECK_JSON(rules[1], json::parse(R"({"toFQDNs": [{"matchName": "b.example"}, {"matchName": "a.example"}, {"matchName": "b.example"}]})"));
}

// [E 19]
SCENARIO("a domain is its name and a pattern below it") {
  auto rules = rules_for(R"([".example.com"])");
  CHECK_JSON(rules[1], json::parse(R"({"toFQDNs": [{"matchName": "example.com"}, {"matchPattern": "*.example.com"}]})"));
  CHECK(rules.dump().find("\".example.com\"") == std::string::npos);
}

// [E 24]
SCENARIO("a configured host keeps its capitals") {
  CHECK_JSON(rules_for(R"(["API.example.com"])")[1], json::parse(R"({"toFQDNs": [{"matchName": "API.example.com"}]})"));
}

SCENARIO("resolved hosts are a list like any other") {
  auto config = configured(R"({"engine": "cilium", "policy": {"kind": "resolver"}})");
  auto got = translated(config, {"a.example", "b.example"});
  CHECK_EQ(to_string(got.policy_kind), "resolver");
  CHECK_JSON(rules_of(got), rules_for(R"(["a.example", "b.example"])"));
  auto none = translate(config, task);
  REQUIRE(!none);
  CHECK(says(none.error(), "no host at all"));
}

SCENARIO("a list without hosts is refused, for nobody knows what a data plane makes of it") {
  CHECK_EQ(refused_as<illegal_config>(refusal_of(listing("[]"))).field, "policy.allowedHosts");
}

// [E 18]
SCENARIO("no policy speaks of a proxy") {
  auto all = std::vector<policy_object>{
    translated(R"({"policy": {"kind": "deny-all"}})"),
    translated(R"({"policy": {"kind": "allow-all"}})"),
    translated(R"({"policy": {"kind": "no-network"}})"),
    translated(R"({"policy": {"kind": "public-internet"}})"),
    translated(listing(R"(["a.example"])")),
    translated(listing(R"(["a.example"])", R"({"ports": [443], "dnsNames": true, "tlsServerNames": true})")),
    translated(configured(R"({"engine": "cilium", "policy": {"kind": "resolver"}})"), {"a.example"}),
  };
  for (const auto& x : all) {
    auto text = x.manifest.dump();
    for (const auto* name : {"http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"})
      CHECK(text.find(name) == std::string::npos);
  }
}

// [E 26]
SCENARIO("an empty narrowing changes nothing and refuses nothing") {
  for (const auto* narrowing : {"{}", R"({"hostPorts": {}, "dnsNames": false, "tlsServerNames": false})", R"({"dnsNames": null})"}) {
    CHECK_JSON(rules_for(R"(["a.example"])", narrowing), rules_for(R"(["a.example"])"));
    for (const auto* kind : {"deny-all", "allow-all", "no-network", "public-internet"})
      for (const auto* engine : {"core", "cilium"}) {
        auto plain = json{{"policy", {{"kind", kind}}}, {"engine", engine}};
        auto narrowed = plain;
        narrowed["ciliumNarrowing"] = json::parse(narrowing);
        CHECK_JSON(translated(narrowed.dump()).manifest, translated(plain.dump()).manifest);
      }
    auto resolved = json{{"policy", {{"kind", "resolver"}}}, {"engine", "cilium"}, {"ciliumNarrowing", json::parse(narrowing)}};
    CHECK_JSON(rules_of(translated(configured(resolved.dump()), {"a.example"})), rules_for(R"(["a.example"])"));
    resolved["engine"] = "core";
    CHECK(std::holds_alternative<unenforceable_policy>(refusal_of(resolved.dump())));
  }
}

// [E 20]
SCENARIO("a narrowed domain is one rule with its ports") {
  CHECK_JSON(rules_for(R"([".example.com"])", R"({"ports": [443]})"), json::array({dns_for_all, json::parse(R"({
    "toFQDNs": [{"matchName": "example.com"}, {"matchPattern": "*.example.com"}],
    "toPorts": [{"ports": [{"port": "443", "protocol": "TCP"}]}]
  })")}));
}

// [E 21]
SCENARIO("DNS for a domain alternates names and patterns, below each suffix") {
  CHECK_JSON(names_of_dns(rules_for(R"([".example.com"])", R"({"dnsNames": true})")), json::parse(R"([
    {"matchName": "example.com"}, {"matchPattern": "*.example.com"},
    {"matchName": "example.com.namzu-sandboxes.svc.cluster.local"}, {"matchPattern": "*.example.com.namzu-sandboxes.svc.cluster.local"},
    {"matchName": "example.com.svc.cluster.local"}, {"matchPattern": "*.example.com.svc.cluster.local"},
    {"matchName": "example.com.cluster.local"}, {"matchPattern": "*.example.com.cluster.local"}
  ])"));
}

// [E 22] [E 40]
SCENARIO("DNS for an exact host is four names, and its rule has no ports") {
  CHECK_JSON(rules_for(R"(["pkgs.example.org"])", R"({"dnsNames": true})"),
             json::array({dns_for(R"([
    {"matchName": "pkgs.example.org"},
    {"matchName": "pkgs.example.org.namzu-sandboxes.svc.cluster.local"},
    {"matchName": "pkgs.example.org.svc.cluster.local"},
    {"matchName": "pkgs.example.org.cluster.local"}
  ])"),
                          json::parse(R"({"toFQDNs": [{"matchName": "pkgs.example.org"}]})")}));
}

// [E 23]
SCENARIO("a domain and an exact host are a rule each, in their order") {
  auto rules = rules_for(R"([".example.com", "pkgs.example.org"])", R"({"dnsNames": true})");
  CHECK_EQ(rules.size(), 3u);
  CHECK_JSON(rules[1], json::parse(R"({"toFQDNs": [{"matchName": "example.com"}, {"matchPattern": "*.example.com"}]})"));
  CHECK_JSON(rules[2], json::parse(R"({"toFQDNs": [{"matchName": "pkgs.example.org"}]})"));
}

// [E 35]
SCENARIO("ports for every host") {
  CHECK_JSON(rules_for(R"(["a.example", "b.example"])", R"({"ports": [443]})"), json::array({dns_for_all, json::parse(R"({
    "toFQDNs": [{"matchName": "a.example"}], "toPorts": [{"ports": [{"port": "443", "protocol": "TCP"}]}]
  })"),
                                                                                             json::parse(R"({
    "toFQDNs": [{"matchName": "b.example"}], "toPorts": [{"ports": [{"port": "443", "protocol": "TCP"}]}]
  })")}));
}

// [E 36]
SCENARIO("a host's own ports replace those for all") {
  auto rules = rules_for(R"(["a.example", "b.example"])", R"({"ports": [443], "hostPorts": {"b.example": [22]}})");
  CHECK_JSON(rules[1]["toPorts"], json::parse(R"([{"ports": [{"port": "443", "protocol": "TCP"}]}])"));
  CHECK_JSON(rules[2]["toPorts"], json::parse(R"([{"ports": [{"port": "22", "protocol": "TCP"}]}])"));
}

// [E 37]
SCENARIO("ports of another host restrict nothing") {
  auto rules = rules_for(R"(["a.example"])", R"({"hostPorts": {"other.example": [22]}})");
  CHECK_JSON(rules, json::array({dns_for_all, json::parse(R"({"toFQDNs": [{"matchName": "a.example"}]})")}));
}

SCENARIO("a host named like a member that other languages inherit has no ports of its own") {
  auto rules = rules_for(R"(["constructor"])", R"({"hostPorts": {"other.example": [22]}})");
  CHECK_JSON(rules[1], json::parse(R"({"toFQDNs": [{"matchName": "constructor"}]})"));
}

SCENARIO("the ports of a domain are named with its dot") {
  auto rules = rules_for(R"([".example.com", "example.com"])", R"({"hostPorts": {".example.com": [443]}})");
  CHECK(rules[1].contains("toPorts"));
  CHECK(!rules[2].contains("toPorts"));
}

// [E 38]
SCENARIO("a search suffix comes after the built-in ones") {
  auto names = names_of_dns(rules_for(R"(["a.example"])", R"({"dnsNames": {"searchSuffixes": ["corp.internal"]}})"));
  REQUIRE_EQ(names.size(), 5u);
  CHECK_JSON(names[4], (json{{"matchName", "a.example.corp.internal"}}));
}

// [E 39]
SCENARIO("the suffixes are made of the namespace and the domain that are named") {
  auto names = names_of_dns(rules_for(R"(["a.example"])", R"({"dnsNames": {"namespace": "other-ns", "clusterDomain": "corp.local"}})"));
  CHECK_JSON(names, json::parse(R"([
    {"matchName": "a.example"},
    {"matchName": "a.example.other-ns.svc.corp.local"},
    {"matchName": "a.example.svc.corp.local"},
    {"matchName": "a.example.corp.local"}
  ])"));
}

// [E 41]
SCENARIO("the server name goes to the TLS ports") {
  auto rules = rules_for(R"(["git.example.com"])", R"({"hostPorts": {"git.example.com": [443, 22]}, "tlsServerNames": true})");
  CHECK_JSON(rules[1], json::parse(R"({
    "toFQDNs": [{"matchName": "git.example.com"}],
    "toPorts": [
      {"ports": [{"port": "443", "protocol": "TCP"}], "serverNames": ["git.example.com"]},
      {"ports": [{"port": "22", "protocol": "TCP"}]}
    ]
  })"));
}

// [E 42]
SCENARIO("server names alone mean 443") {
  auto rules = rules_for(R"(["a.example"])", R"({"tlsServerNames": true})");
  CHECK_JSON(rules[1]["toPorts"], json::parse(R"([{"ports": [{"port": "443", "protocol": "TCP"}], "serverNames": ["a.example"]}])"));
  CHECK_JSON(rules[0], dns_for_all);
}

// [E 43]
SCENARIO("TLS is where the configuration says it is") {
  auto rules = rules_for(R"(["a.example"])", R"({"hostPorts": {"a.example": [80, 8443, 81]}, "tlsPorts": [8443], "tlsServerNames": true})");
  CHECK_JSON(rules[1]["toPorts"], json::parse(R"([
    {"ports": [{"port": "8443", "protocol": "TCP"}], "serverNames": ["a.example"]},
    {"ports": [{"port": "80", "protocol": "TCP"}, {"port": "81", "protocol": "TCP"}]}
  ])"));
  rules = rules_for(R"(["a.example"])", R"({"hostPorts": {"a.example": [8443, 80]}, "tlsPorts": [8443], "tlsServerNames": true})");
  CHECK_JSON(rules[1]["toPorts"], json::parse(R"([
    {"ports": [{"port": "8443", "protocol": "TCP"}], "serverNames": ["a.example"]}, {"ports": [{"port": "80", "protocol": "TCP"}]}
  ])"));
}

SCENARIO("a host without a TLS port gets no server name") {
  auto rules = rules_for(R"(["a.example"])", R"({"ports": [22], "tlsServerNames": true})");
  CHECK_JSON(rules[1]["toPorts"], json::parse(R"([{"ports": [{"port": "22", "protocol": "TCP"}]}])"));
}

// [E 44]
SCENARIO("all of it together, as in the example of the specification") {
  auto rules = rules_for(R"(["git.example.com"])", R"({
    "ports": [8080], "hostPorts": {"git.example.com": [443, 22]}, "tlsServerNames": true, "tlsPorts": [443], "dnsNames": true
  })");
  CHECK_JSON(rules, json::array({dns_for(R"([
    {"matchName": "git.example.com"},
    {"matchName": "git.example.com.namzu-sandboxes.svc.cluster.local"},
    {"matchName": "git.example.com.svc.cluster.local"},
    {"matchName": "git.example.com.cluster.local"}
  ])"),
                                 json::parse(R"({
    "toFQDNs": [{"matchName": "git.example.com"}],
    "toPorts": [
      {"ports": [{"port": "443", "protocol": "TCP"}], "serverNames": ["git.example.com"]},
      {"ports": [{"port": "22", "protocol": "TCP"}]}
    ]
  })")}));
}

// [E 45]
SCENARIO("resolved hosts are narrowed like listed ones") {
  auto config = configured(R"({"engine": "cilium", "policy": {"kind": "resolver"}, "ciliumNarrowing": {"ports": [443]}})");
  CHECK_JSON(rules_of(translated(config, {"a.example", "b.example"})), rules_for(R"(["a.example", "b.example"])", R"({"ports": [443]})"));
}

// [E 46]
SCENARIO("a server name cannot mean a whole domain") {
  auto config = configured(listing(R"(["exact.example", ".example.com"])", R"({"tlsServerNames": true})"));
  auto got = translate(config, task);
  REQUIRE(!got);
  CHECK_EQ(refused_as<illegal_host>(got.error()).host, ".example.com");
  CHECK(says(got.error(), "config.egress.ciliumNarrowing"));
  CHECK(!says(got.error(), "perSandbox"));
  CHECK(says(got.error(), "list the exact hosts"));
  CHECK(says(got.error(), "set tlsServerNames to false"));
  CHECK(says(got.error(), "nothing was written"));
}

// [E 48]
SCENARIO("TLS ports alone activate nothing") {
  CHECK_JSON(rules_for(R"(["a.example"])", R"({"tlsPorts": [99999]})"), rules_for(R"(["a.example"])"));
  CHECK_JSON(translated(R"({"policy": {"kind": "deny-all"}, "ciliumNarrowing": {"tlsPorts": [99999]}})").manifest,
             translated(R"({"policy": {"kind": "deny-all"}})").manifest);
}
