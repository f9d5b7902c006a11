#define CAF_SUITE cilium_judge

#include "tests/egress/policies.hpp"
#include "tests/egress/shipped.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock::egress;
using namespace paddock::egress::test;

namespace {

constexpr auto widens = "policy-widens-egress";
constexpr auto unclear = "not-evaluable";

/// A Cilium policy `extra` with one rule, beside what is configured.
judged with_rule(const policy_object& configured, const json& rule) {
  return beside_cilium(configured, {cilium_policy("extra", json::array({rule}))});
}
judged with_rule(const policy_object& configured, const char* rule) {
  return with_rule(configured, json::parse(rule));
}

/// A Cilium rule to the resolver's pods.
json to_resolver(const char* to_ports, json more_labels = json::object()) {
  auto rule = R"({"toEndpoints":[{"matchLabels":{"k8s:io.kubernetes.pod.namespace":"kube-system","k8s:k8s-app":"kube-dns"}}]})"_json_text;
  rule["toEndpoints"][0]["matchLabels"].update(more_labels);
  if (auto ports = json::parse(to_ports); !ports.is_null())
    rule["toPorts"] = std::move(ports);
  return rule;
}

const auto only_names = narrowed{nullptr, true};
const auto only_443 = narrowed{port_443(), false};

} // namespace

// [E 103]
SCENARIO("an entity beside deny-all widens") {
  const auto got = with_rule(deny_all_object(), R"({"toEntities":["world"]})");
  CHECK_EQ(got.outcome, widens);
  CHECK(got.lists("CiliumNetworkPolicy/extra: widens-egress"));
  CHECK_EQ(got.findings.at(0).path, "spec.egress[0].toEntities[0]");
  CHECK_EQ(with_rule(allow_all_object(), R"({"toEntities":["world"]})").outcome, "passes");
}

// [E 104]
SCENARIO("a policy that begins no isolation still allows what its rules allow") {
  const auto spec = R"({"endpointSelector":{},"enableDefaultDeny":{"egress":false},"egress":[{"toCIDR":["0.0.0.0/0"]}]})"_json_text;
  CHECK_EQ(beside_cilium(deny_all_object(), {cilium_spec("extra", spec)}).outcome, widens);
  THEN("it is not what restricts the pod's egress") {
    auto narrow = spec;
    narrow["egress"] = json::array({to_resolver(R"([{"ports":[{"port":"53","protocol":"UDP"}]}])")});
    const auto got = judge(allowance_of(deny_all_object()), {}, {cilium_spec("extra", narrow)});
    CHECK_EQ(got.outcome, "no-enforcing-policy");
    CHECK(got.lists("CiliumNetworkPolicy/extra: not-egress-scoped"));
  }
}

// [E 105] [E 106]
SCENARIO("DNS under deny-all is over UDP and TCP, and not over whatever there is") {
  const auto both = to_resolver(R"([{"ports":[{"port":"53","protocol":"UDP"},{"port":"53","protocol":"TCP"}]}])");
  CHECK_EQ(with_rule(deny_all_object(), both).outcome, "passes");
  CHECK_EQ(with_rule(deny_all_object(), to_resolver(R"([{"ports":[{"port":"53","protocol":"ANY"}]}])")).outcome, widens);
}

// [E 107] [E 315]
SCENARIO("a policy for nodes is left out, and a null nodeSelector makes none") {
  const auto nodes = R"({"nodeSelector":{},"egress":[{"toEntities":["all"]}]})"_json_text;
  const auto got = beside_cilium(deny_all_object(), {cilium_spec("nodes", nodes)});
  CHECK_EQ(got.outcome, "passes");
  CHECK_EQ(got.rows.size(), 1u);
  const auto null = R"({"nodeSelector":null,"endpointSelector":{},"egress":[{"toEntities":["world"]}]})"_json_text;
  CHECK_EQ(beside_cilium(deny_all_object(), {cilium_spec("extra", null)}).outcome, widens);
}

// [E 108] [E 109] [E 110]
SCENARIO("a pattern of the configured list is exempt under the configured name only") {
  const auto configured = static_object({"api.example.com", ".example.com"});
  const auto alone = beside_cilium(configured);
  CHECK_EQ(alone.outcome, "passes");
  CHECK(alone.lists("CiliumNetworkPolicy/namzu-task-egress: within"));
  auto baseline = paddock::test::shipped("NetworkPolicy", "namzu-sandbox-baseline");
  const auto beside_it = [&] { return judge(allowance_of(configured), {baseline}, {configured.manifest}); };
  // Its second rule stands for what an operator lists there, and is beyond the configuration like any other destination.
  CHECK_EQ(beside_it().outcome, widens);
  CHECK_EQ(beside_it().findings.at(0).path, "spec.egress[1].to[0]");
  baseline["spec"]["egress"].erase(1);
  CHECK_EQ(beside_it().outcome, "passes");
  CHECK(beside_it().lists("NetworkPolicy/namzu-sandbox-baseline: within"));
  auto twin = configured.manifest;
  twin["metadata"]["name"] = "twin";
  const auto got = beside_cilium(configured, {twin});
  CHECK_EQ(got.outcome, widens);
  CHECK(got.says("matchPattern"));
  CHECK(got.lists("CiliumNetworkPolicy/namzu-task-egress: within"));
  CHECK(got.lists("CiliumNetworkPolicy/twin: widens-egress"));
}

// [E 111] [E 112] [E 113]
SCENARIO("the entries of specs are judged, those of the named object as well") {
  const auto other = R"([{"endpointSelector":{},"egress":[{"toFQDNs":[{"matchName":"evil.example.net"}]}]}])"_json_text;
  for (const auto& hosts : {std::vector<std::string>{"api.example.com"}, std::vector<std::string>{".example.com"}}) {
    const auto configured = static_object(hosts);
    auto named = configured.manifest;
    named["specs"] = other;
    const auto got = judge(allowance_of(configured), {}, {named});
    CHECK_EQ(got.outcome, widens);
    CHECK(got.says("CiliumNetworkPolicy/namzu-task-egress lets the pod reach more"));
    CHECK(got.lists("CiliumNetworkPolicy/namzu-task-egress: within"));
    CHECK(got.lists("CiliumNetworkPolicy/namzu-task-egress: widens-egress"));
    CHECK_EQ(got.findings.at(0).path, "specs[0].egress[0].toFQDNs[0]");
    auto beside_it = cilium_policy("extra", json::array({json::object()}));
    beside_it.erase("spec");
    beside_it["specs"] = other;
    CHECK_EQ(beside_cilium(configured, {beside_it}).outcome, widens);
    named["specs"] = json::array({{{"endpointSelector", template_selector}, {"egress", {named["spec"]["egress"][0]}}}});
    CHECK_EQ(judge(allowance_of(configured), {}, {named}).outcome, "passes");
  }
}

// [E 114]
SCENARIO("a host beyond the list widens") {
  const auto got =
    with_rule(static_object({"api.example.com"}), R"({"toFQDNs":[{"matchName":"api.example.com"},{"matchName":"b.example"}]})");
  CHECK_EQ(got.outcome, widens);
  CHECK_EQ(got.findings.at(0).path, "spec.egress[0].toFQDNs[1]");
  CHECK_EQ(with_rule(static_object({"api.example.com"}), R"({"toFQDNs":[{"matchName":"API.example.com"}]})").outcome, widens);
}

// [E 115]
SCENARIO("the named object restricts nobody whom it does not select") {
  const auto configured = static_object({"api.example.com"});
  auto named = configured.manifest;
  named["spec"]["endpointSelector"] = {{"matchLabels", {{"app", "else"}}}};
  const auto got = judge(allowance_of(configured), {}, {named});
  CHECK_EQ(got.outcome, "no-enforcing-policy");
  CHECK(got.lists("CiliumNetworkPolicy/namzu-task-egress: does-not-select"));
}

// [E 116]
SCENARIO("a host is allowed on its ports only") {
  const auto on = [](const char* to_ports) {
    auto rule = R"({"toFQDNs":[{"matchName":"api.example.com"}]})"_json_text;
    if (auto ports = json::parse(to_ports); !ports.is_null())
      rule["toPorts"] = std::move(ports);
    return with_rule(static_object({"api.example.com"}, only_443), rule).outcome;
  };
  CHECK_EQ(on(R"([{"ports":[{"port":"443","protocol":"TCP"}]}])"), "passes");
  CHECK_EQ(on(R"([{"ports":[{"port":"22","protocol":"TCP"}]}])"), widens);
  CHECK_EQ(on("null"), widens);
}

// [E 117]
SCENARIO("a core policy cannot restrict the names that the resolver is asked for") {
  const auto dns = core_policy("dns", json::array({{{"to", {kube_dns()}}, {"ports", dns_ports()}}}));
  const auto configured = static_object({"api.example.com"}, only_names);
  const auto got = judge(allowance_of(configured), {dns}, {configured.manifest});
  CHECK_EQ(got.outcome, widens);
  CHECK(got.says("without a restriction of names"));
  CHECK_EQ(to_string(got.findings.at(0).reason), "dns-names");
  const auto only_ports = static_object({"api.example.com"}, only_443);
  CHECK_EQ(judge(allowance_of(only_ports), {dns}, {only_ports.manifest}).outcome, "passes");
}

// [E 118] [E 120] [E 121] [E 123] [E 319]
SCENARIO("a rule to the resolver asks for names of the list, or widens") {
  const auto configured = static_object({"api.example.com"}, only_names);
  const auto on_dns = [](const char* rules) {
    return to_resolver((R"([{"ports":[{"port":"53","protocol":"ANY"}])" + std::string{rules} + "}]").c_str());
  };
  const auto outcome = [&](const json& rule) { return with_rule(configured, rule).outcome; };
  CHECK_EQ(outcome(on_dns("")), widens);
  CHECK_EQ(outcome(on_dns(R"(,"rules":{"dns":[{"matchPattern":"*"}]})")), widens);
  CHECK_EQ(outcome(configured.manifest["spec"]["egress"][0]), "passes");
  CHECK_EQ(outcome(on_dns(R"(,"rules":{"dns":[{"matchName":"api.example.com"}]})")), "passes");
  CHECK_EQ(outcome(on_dns(R"(,"rules":{"dns":[{"matchName":"api.example.com"},{"matchName":"b.example"}]})")), widens);
  THEN("no toPorts, and no names, are no restriction") {
    // On all ports they would be beyond the configuration in any case: it is the names that are told.
    for (const auto* none : {"null", "[]"}) {
      const auto got = with_rule(configured, to_resolver(none));
      CHECK_EQ(got.outcome, widens);
      CHECK_EQ(to_string(got.findings.at(0).reason), "dns-names");
    }
    CHECK_EQ(outcome(on_dns(R"(,"rules":{"dns":[]})")), widens);
    CHECK_EQ(outcome(on_dns(R"(,"rules":{})")), widens);
    CHECK_EQ(outcome(on_dns(R"(,"rules":{"dns":[{"matchName":"api.example.com","matchPattern":"*"}]})")), widens);
  }
  THEN("what the rule allows beside DNS is judged as well") {
    CHECK_EQ(outcome(to_resolver(R"([{"ports":[{"port":"53"},{"port":"443"}],"rules":{"dns":[{"matchName":"api.example.com"}]}}])")),
             widens);
  }
  THEN("some of the resolver's pods are the resolver") {
    const auto some = to_resolver(R"([{"ports":[{"port":"53","protocol":"ANY"}]}])", {{"zone", "a"}});
    CHECK_EQ(outcome(some), widens);
    CHECK_EQ(to_string(with_rule(configured, some).findings.at(0).reason), "dns-names");
  }
  THEN("a restriction that cannot be read is none") {
    CHECK_EQ(outcome(on_dns(R"(,"rules":[])")), widens);
    CHECK_EQ(outcome(on_dns(R"(,"rules":{"dns":["api.example.com"]})")), widens);
  }
}

// [E 119]
SCENARIO("all of kube-system on DNS's port has the resolver in it") {
  const auto configured = static_object({"api.example.com"}, only_names);
  const auto wide = core_policy("dns", R"([{"to":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}}}],
                                            "ports":[{"protocol":"UDP","port":53}]}])"_json_text);
  const auto got = judge(allowance_of(configured), {wide}, {configured.manifest});
  CHECK_EQ(got.outcome, widens);
  CHECK_EQ(to_string(got.findings.at(0).reason), "dns-names");
}

// [E 122]
SCENARIO("an entry with a pattern beside its name is judged by the pattern") {
  const auto got = with_rule(static_object({"api.example.com"}), R"({"toFQDNs":[{"matchName":"api.example.com","matchPattern":"*"}]})");
  CHECK_EQ(got.outcome, widens);
  CHECK_EQ(got.findings.at(0).path, "spec.egress[0].toFQDNs[0].matchPattern");
}

// [E 124]
SCENARIO("names narrowed to a list with a whole domain are all names") {
  const auto configured = static_object({".example.com"}, only_names);
  CHECK(!allowance_of(configured).dns_narrowed_to);
  CHECK_EQ(with_rule(configured, to_resolver(R"([{"ports":[{"port":"53","protocol":"ANY"}]}])")).outcome, "passes");
}

// [E 125] [E 126] [E 127] [E 128]
SCENARIO("destinations and selectors that are not understood are not judged") {
  const auto configured = static_object({"api.example.com"});
  for (const auto* rule : {R"({"toServices":[{"k8sService":{"serviceName":"x"}}]})", R"({"toGroups":[{"aws":{}}]})", R"({"toNodes":[{}]})"})
    CHECK_EQ(with_rule(configured, rule).outcome, unclear);
  const auto group = with_rule(configured, R"({"toCIDRSet":[{"cidrGroupRef":"office"}]})");
  CHECK_EQ(group.outcome, unclear);
  CHECK_EQ(group.findings.at(0).path, "spec.egress[0].toCIDRSet[0].cidrGroupRef");
  const auto selecting = [&](const char* labels) {
    return beside_cilium(configured,
                         {cilium_policy("extra", R"([{"toEntities":["all"]}])"_json_text, {{"matchLabels", json::parse(labels)}})});
  };
  CHECK_EQ(selecting(R"({"reserved:init":""})").outcome, unclear);
  CHECK_EQ(selecting(R"({"k8s:io.kubernetes.pod.namespace":"namzu-sandboxes"})").outcome, widens);
}

// [E 129]
SCENARIO("a policy that only denies restricts egress, and none of its rules is judged") {
  const auto got = judge(allowance_of(static_object({"api.example.com"})), {},
                         {cilium_spec("deny", R"({"endpointSelector":{},"egressDeny":[{"toEntities":["world"]}]})"_json_text)});
  CHECK_EQ(got.outcome, "passes");
  CHECK_EQ(got.rows, std::vector<std::string>{"CiliumNetworkPolicy/deny: within"});
}

// [E 130] [E 131] [E 132]
SCENARIO("a Cilium policy that cannot be read is not judged") {
  const auto configured = static_object({"api.example.com"});
  const auto spec = [&](const char* text) {
    const auto got = beside_cilium(configured, {cilium_spec("extra", json::parse(text))});
    return got.findings.empty() ? got.outcome : got.outcome + " " + got.findings[0].path;
  };
  CHECK_EQ(spec(R"({"endpointSelector":{},"enableDefaultDeny":"off"})"), "not-evaluable spec.enableDefaultDeny");
  CHECK_EQ(spec(R"({"endpointSelector":{},"enableDefaultDeny":{"egress":"false"}})"), "not-evaluable spec.enableDefaultDeny.egress");
  CHECK_EQ(spec("null"), "not-evaluable ");
  CHECK_EQ(beside_cilium(configured, {R"({"metadata":{"name":"extra"},"specs":[]})"_json_text}).outcome, unclear);
  CHECK_EQ(beside_cilium(configured, {R"({"metadata":{"name":"extra"},"specs":{}})"_json_text}).outcome, unclear);
  CHECK_EQ(beside_cilium(configured, {R"("a policy")"_json_text}).outcome, unclear);
  CHECK_EQ(spec("7"), "not-evaluable spec");
  CHECK_EQ(spec(R"({"endpointSelector":{},"egress":{}})"), "not-evaluable spec.egress");
  CHECK_EQ(spec(R"({"endpointSelector":{},"egressDeny":{}})"), "not-evaluable spec.egressDeny");
  CHECK_EQ(spec(R"({"endpointSelector":{},"egressAllow":[]})"), "not-evaluable spec.egressAllow");
  THEN("a rule with an empty list of endpoints names no destination") {
    CHECK_EQ(with_rule(configured, R"({"toEndpoints":[]})").outcome, widens);
    CHECK_EQ(with_rule(allow_all_object(), R"({"toEndpoints":[]})").outcome, "passes");
  }
}

// [E 316]
SCENARIO("an empty list of rules restricts nothing") {
  const auto got = judge(allowance_of(no_network_object()), {},
                         {cilium_spec("empty", R"({"endpointSelector":{},"egress":[],"egressDeny":[]})"_json_text)});
  CHECK_EQ(got.outcome, "no-enforcing-policy");
  CHECK(got.lists("CiliumNetworkPolicy/empty: not-egress-scoped"));
}

// [E 317] [E 318]
SCENARIO("a selector by what Cilium overwrites or makes itself may select the pod") {
  const auto selecting = [](const char* labels) {
    return beside_cilium(deny_all_object(),
                         {cilium_policy("extra", R"([{"toEntities":["all"]}])"_json_text, {{"matchLabels", json::parse(labels)}})})
      .outcome;
  };
  CHECK_EQ(selecting(R"({"k8s:io.kubernetes.pod.namespace":"other"})"), unclear);
  CHECK_EQ(selecting(R"({"k8s:io.kubernetes.pod.namespace":"namzu-sandboxes"})"), widens);
  CHECK_EQ(selecting(R"({"io.cilium.k8s.policy.serviceaccount":"default"})"), unclear);
}

// [E 320]
SCENARIO("a port is a decimal without leading zeros or spaces") {
  const auto on = [](const char* port) {
    const auto rule =
      json{{"toFQDNs", {{{"matchName", "api.example.com"}}}}, {"toPorts", {{{"ports", {{{"port", port}, {"protocol", "TCP"}}}}}}}};
    return with_rule(static_object({"api.example.com"}, only_443), rule).outcome;
  };
  CHECK_EQ(on("0443"), unclear);
  CHECK_EQ(on(" 443"), unclear);
  CHECK_EQ(on("443"), "passes");
  CHECK_EQ(on("444"), widens);
}

// [E 321]
SCENARIO("an IPv4-mapped block is not judged") {
  CHECK_EQ(with_rule(public_internet_object(), R"({"toCIDR":["::ffff:10.0.0.0/104"]})").outcome, unclear);
  CHECK_EQ(with_rule(public_internet_object(), R"({"toCIDRSet":[{"cidr":"::/0","except":["::ffff:0:0/96"]}]})").outcome, unclear);
}

// [E 322]
SCENARIO("a host is allowed for its TLS server name only") {
  const auto how = narrowed{R"([{"ports":[{"port":"443","protocol":"TCP"}],"serverNames":["api.example.com"]}])"_json_text, false};
  const auto named = [&](const char* names) {
    const auto text =
      std::string{R"({"toFQDNs":[{"matchName":"api.example.com"}],"toPorts":[{"ports":[{"port":"443","protocol":"TCP"}])"} + names + "}]}";
    return with_rule(static_object({"api.example.com"}, how), text.c_str()).outcome;
  };
  CHECK_EQ(named(""), widens);
  CHECK_EQ(named(R"(,"serverNames":["api.example.com"])"), "passes");
  CHECK_EQ(named(R"(,"serverNames":["b.example"])"), widens);
  CHECK_EQ(named(R"(,"serverNames":["api.example.com","b.example"])"), widens);
  CHECK_EQ(named(R"(,"serverNames":[])"), widens);
}

SCENARIO("each host that a rule names is allowed on each port of the rule") {
  auto configured = static_object({"a.example", "b.example"}, only_443);
  configured.manifest["spec"]["egress"][2]["toPorts"][0]["ports"][0]["port"] = "80";
  const auto naming = [&](const char* names, const char* ports) {
    const auto got = with_rule(configured, json{{"toFQDNs", json::parse(names)}, {"toPorts", {{{"ports", json::parse(ports)}}}}});
    return got.findings.empty() ? got.outcome : got.outcome + " " + got.findings[0].path;
  };
  const auto* on_443 = R"([{"port":"443","protocol":"TCP"}])";
  CHECK_EQ(naming(R"([{"matchName":"a.example"},{"matchName":"a.example"}])", on_443), "passes");
  CHECK_EQ(naming(R"([{"matchName":"a.example"},{"matchName":"b.example"},{"matchName":"a.example"}])", on_443),
           "policy-widens-egress spec.egress[0].toFQDNs[1]");
  CHECK_EQ(naming(R"([{"matchName":"a.example"}])", R"([{"port":"443","protocol":"TCP"},{"port":"80","protocol":"TCP"}])"),
           "policy-widens-egress spec.egress[0].toFQDNs[0]");
}

SCENARIO("blocks of Cilium rules are compared as those of core ones") {
  const auto outcome = [](const char* rule) { return with_rule(public_internet_object(), rule).outcome; };
  CHECK_EQ(outcome(R"({"toCIDR":["203.0.113.0/24","2001:db8::/32"]})"), "passes");
  CHECK_EQ(outcome(R"({"toCIDR":["203.0.113.0/24","10.0.0.0/24"]})"), widens);
  CHECK_EQ(outcome(R"({"toCIDRSet":[{"cidr":"8.0.0.0/6","except":["10.0.0.0/8"]}]})"), "passes");
  CHECK_EQ(outcome(R"({"toCIDRSet":[{"cidr":"8.0.0.0/6"}]})"), widens);
  CHECK_EQ(outcome(R"({"toCIDR":[7]})"), unclear);
  CHECK_EQ(outcome(R"({"toCIDRSet":["203.0.113.0/24"]})"), unclear);
}

SCENARIO("each construct of a rule that is not understood is refused by its name") {
  const auto rule = [](const char* text) {
    const auto got = with_rule(static_object({"api.example.com"}), text);
    return got.findings.empty() ? got.outcome : got.outcome + " " + got.findings[0].path;
  };
  const auto at = [](std::string_view path) { return "not-evaluable spec.egress[0]" + std::string{path}; };
  CHECK_EQ(rule("7"), at(""));
  CHECK_EQ(rule(R"({"toFQDNs":{}})"), at(".toFQDNs"));
  CHECK_EQ(rule(R"({"toFQDNs":["api.example.com"]})"), at(".toFQDNs[0]"));
  CHECK_EQ(rule(R"({"toFQDNs":[{"matchName":"api.example.com","matchRegex":".*"}]})"), at(".toFQDNs[0].matchRegex"));
  CHECK_EQ(rule(R"({"toEntities":[1]})"), at(".toEntities[0]"));
  CHECK_EQ(rule(R"({"toEndpoints":[7]})"), at(".toEndpoints[0]"));
  CHECK_EQ(rule(R"({"toEndpoints":[{}]})"), at(".toEndpoints[0].matchLabels"));
  CHECK_EQ(rule(R"({"toEndpoints":[{"matchLabels":{"a":1}}]})"), at(".toEndpoints[0].matchLabels[\"a\"]"));
  CHECK_EQ(rule(R"({"toEndpoints":[{"matchLabels":{"reserved:world":""}}]})"), at(".toEndpoints[0].matchLabels[\"reserved:world\"]"));
  CHECK_EQ(rule(R"({"toEndpoints":[{"matchLabels":{"io.cilium.k8s.namespace.labels.a":"b"}}]})"),
           at(".toEndpoints[0].matchLabels[\"io.cilium.k8s.namespace.labels.a\"]"));
  CHECK_EQ(rule(R"({"toEndpoints":[{"matchLabels":{"a":"b"},"matchExpressions":[]}]})"), at(".toEndpoints[0].matchExpressions"));
  CHECK_EQ(rule(R"({"toPorts":{}})"), at(".toPorts"));
  CHECK_EQ(rule(R"({"toFQDNs":[{"matchName":"api.example.com"}],"toPlanets":["mars"]})"), at(".toPlanets"));
  THEN("a member that narrows what the others allow is not in the way") {
    CHECK_EQ(rule(R"({"toFQDNs":[{"matchName":"api.example.com"}],"toRequires":[{}]})"), "passes");
  }
  THEN("null is absent") {
    CHECK_EQ(rule(R"({"toFQDNs":[{"matchName":"api.example.com","matchPattern":null}],"toPlanets":null,"toPorts":null})"), "passes");
  }
}

SCENARIO("the endpoints of a clusterwide policy are those of every namespace where it names none") {
  const auto allowed = [] {
    auto x = allowance_of(core_object(policy_kind::deny_all, R"([{"to":[{"podSelector":{"matchLabels":{"app":"db"}}}]}])"_json_text));
    return x;
  }();
  const auto rule = R"({"toEndpoints":[{"matchLabels":{"app":"db"}}]})"_json_text;
  CHECK(judge_cilium_rule(rule, allowed, false).is == rule_verdict::answer::within);
  CHECK(judge_cilium_rule(rule, allowed, true).is == rule_verdict::answer::beyond);
}
