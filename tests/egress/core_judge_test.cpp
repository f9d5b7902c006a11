#define CAF_SUITE core_judge

#include "tests/egress/policies.hpp"
#include "tests/egress/shipped.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock::egress;
using namespace paddock::egress::test;

namespace {

/// A policy `extra` with one rule, beside what is configured.
judged with_rule(const policy_object& configured, const char* rule) {
  return beside(configured, {core_policy("extra", json::array({json::parse(rule)}))});
}

constexpr auto widens = "policy-widens-egress";
constexpr auto unclear = "not-evaluable";

} // namespace

// [E 78]
SCENARIO("the object of a configuration alone is within it") {
  for (const auto& x :
       {deny_all_object(), allow_all_object(), no_network_object(), public_internet_object(), public_internet_object({"203.0.113.0/24"})}) {
    const auto got = beside(x);
    CHECK_EQ(got.outcome, "passes");
    CHECK_EQ(got.rows, std::vector<std::string>{"NetworkPolicy/namzu-task-egress: within"});
    WHEN("it stands under another name as well") {
      auto twin = x.manifest;
      twin["metadata"]["name"] = "twin";
      const auto both = beside(x, {twin});
      CHECK_EQ(both.outcome, "passes");
      CHECK(both.lists("NetworkPolicy/twin: within"));
    }
  }
}

// [E 79]
SCENARIO("a rule without destinations beside deny-all widens") {
  const auto got = with_rule(deny_all_object(), "{}");
  CHECK_EQ(got.outcome, widens);
  CHECK(got.lists("NetworkPolicy/extra: widens-egress"));
  CHECK(got.says("NetworkPolicy/extra lets the pod reach more"));
  REQUIRE_EQ(got.findings.size(), 1u);
  CHECK_EQ(got.findings[0].path, "spec.egress[0]");
  CHECK_EQ(to_string(got.findings[0].reason), "everywhere");
}

// [E 80]
SCENARIO("the DNS rule of the shipped baseline is narrower than that to all of kube-system") {
  auto baseline = paddock::test::shipped("NetworkPolicy", "namzu-sandbox-baseline");
  const auto path_beside = [&](const policy_object& configured) {
    const auto got = beside(configured, {baseline});
    return got.findings.empty() ? got.outcome : got.findings[0].path;
  };
  // Its second rule stands for what an operator lists there.
  CHECK_EQ(path_beside(deny_all_object()), "spec.egress[1].to[0]");
  for (const auto& x : {public_internet_object(), allow_all_object()})
    CHECK_EQ(path_beside(x), "passes");
  baseline["spec"]["egress"].erase(1);
  CHECK_EQ(path_beside(deny_all_object()), "passes");
  CHECK_EQ(path_beside(no_network_object()), "spec.egress[0]");
}

// [E 81] [E 82] [E 83]
SCENARIO("a block beside public-internet leaves out every hole, or overlaps none") {
  const auto open =
    with_rule(public_internet_object(),
              R"({"to":[{"ipBlock":{"cidr":"0.0.0.0/0","except":["10.0.0.0/8","172.16.0.0/12","192.168.0.0/16","169.254.0.0/16"]}}]})");
  CHECK_EQ(open.outcome, widens);
  REQUIRE_EQ(open.findings.size(), 1u);
  CHECK_EQ(open.findings[0].path, "spec.egress[0].to[0]");
  CHECK_EQ(to_string(open.findings[0].reason), "destination");
  CHECK_EQ(with_rule(public_internet_object(), R"({"to":[{"ipBlock":{"cidr":"203.0.113.0/24"}}],"ports":[{"port":443}]})").outcome,
           "passes");
  CHECK_EQ(with_rule(public_internet_object(), R"({"to":[{"ipBlock":{"cidr":"169.254.169.254/32"}}]})").outcome, widens);
}

SCENARIO("every address is every address, however it is written") {
  for (const auto* all : {"0.0.0.0/0", "0.0.0.0/00", "000.000.000.000/0", "203.0.113.7/0", "255.255.255.255/000"}) {
    const auto rule = json{{"to", {{{"ipBlock", {{"cidr", all}}}}}}}.dump();
    CHECK_EQ(with_rule(public_internet_object(), rule.c_str()).outcome, widens);
    CHECK_EQ(with_rule(deny_all_object(), rule.c_str()).outcome, widens);
    CHECK_EQ(with_rule(allow_all_object(), rule.c_str()).outcome, "passes");
  }
}

// [E 84] [E 85]
SCENARIO("under no-network nothing at all is within") {
  const auto rule = json{{"to", {kube_dns()}}, {"ports", dns_ports()}}.dump();
  const auto got = with_rule(no_network_object(), rule.c_str());
  CHECK_EQ(got.outcome, widens);
  CHECK(got.says("the configuration permits no egress at all"));
  CHECK_EQ(with_rule(no_network_object(), "7").outcome, widens);
  CHECK_EQ(beside(no_network_object()).outcome, "passes");
}

// [E 86] [E 87] [E 88]
SCENARIO("a policy counts when it selects the pod and is about egress") {
  auto other = core_policy("other", R"([{}])"_json_text);
  other["spec"]["podSelector"] = {{"matchLabels", {{"app", "else"}}}};
  const auto far = beside(deny_all_object(), {other});
  CHECK_EQ(far.outcome, "passes");
  CHECK(far.lists("NetworkPolicy/other: does-not-select"));
  const auto ingress =
    beside(deny_all_object(), {core_spec("in", R"({"podSelector":{},"policyTypes":["Ingress"],"egress":[{}]})"_json_text)});
  CHECK_EQ(ingress.outcome, "passes");
  CHECK(ingress.lists("NetworkPolicy/in: not-egress-scoped"));
  const auto dns = json{{"to", {kube_dns()}}, {"ports", dns_ports()}};
  const auto allowed = allowance_of(deny_all_object());
  CHECK_EQ(judge(allowed, {core_spec("implied", {{"podSelector", json::object()}, {"egress", {dns}}})}).outcome, "passes");
  const auto none = judge(allowed, {core_spec("in", R"({"podSelector":{},"ingress":[{}]})"_json_text)});
  CHECK_EQ(none.outcome, "no-enforcing-policy");
  CHECK(none.lists("NetworkPolicy/in: not-egress-scoped"));
}

// [E 89] [E 90]
SCENARIO("without a policy that restricts the pod's egress it reaches everything") {
  auto other = deny_all_object().manifest;
  other["spec"]["podSelector"] = {{"matchLabels", {{"app", "else"}}}};
  const auto got = judge(allowance_of(deny_all_object()), {other});
  CHECK_EQ(got.outcome, "no-enforcing-policy");
  CHECK(got.says("deny-all"));
  CHECK_EQ(judge(allowance_of(allow_all_object()), {}).outcome, "passes");
}

// [E 91] [E 92]
SCENARIO("what cannot be judged is never within, and is named") {
  const auto port = with_rule(deny_all_object(), R"({"to":[{"podSelector":{}}],"ports":[{"port":"http"}]})");
  CHECK_EQ(port.outcome, unclear);
  REQUIRE_EQ(port.findings.size(), 1u);
  CHECK_EQ(port.findings[0].path, "spec.egress[0].ports[0].port");
  CHECK_EQ(port.findings[0].detail, "spec.egress[0].ports[0].port \"http\" is not a port number");
  const auto text = beside(deny_all_object(), {core_spec("odd", R"({"podSelector":{},"egress":"all"})"_json_text)});
  CHECK_EQ(text.outcome, unclear);
  CHECK(text.says("NetworkPolicy/odd could not be judged"));
}

// [E 93] [E 94] [E 95] [E 96]
SCENARIO("pods beside deny-all are some of kube-system, and their ports are those of DNS") {
  const auto to = [](const char* peer, const char* ports) {
    return with_rule(deny_all_object(), (std::string{R"({"to":[)"} + peer + R"(],"ports":)" + ports + "}").c_str()).outcome;
  };
  const auto* kube = R"({"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}}})";
  CHECK_EQ(to(R"({"namespaceSelector":{}})", R"([{"protocol":"UDP","port":53}])"), widens);
  CHECK_EQ(
    to(R"({"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}},"podSelector":{"matchLabels":{"x":"y"}}})",
       R"([{"protocol":"UDP","port":53}])"),
    "passes");
  CHECK_EQ(to(kube, R"([{"port":53,"endPort":54}])"), widens);
  CHECK_EQ(to(kube, R"([{"port":"53"}])"), "passes");
  CHECK_EQ(to(R"({"podSelector":{}})", R"([{"port":53}])"), widens);
}

// [E 97] [E 98]
SCENARIO("a selector is evaluated on the pod's own labels") {
  const auto selecting = [](const char* expression) {
    auto spec = json{{"policyTypes", {"Egress"}}, {"egress", R"([{}])"_json_text}};
    spec["podSelector"] = {{"matchExpressions", {json::parse(expression)}}};
    return beside(deny_all_object(), {core_spec("extra", spec)});
  };
  CHECK_EQ(selecting(R"({"key":"absent","operator":"NotIn","values":["x"]})").outcome, widens);
  CHECK_EQ(selecting(R"({"key":"app","operator":"GreaterThan","values":["1"]})").outcome, unclear);
  const auto inherited = selecting(R"({"key":"constructor","operator":"Exists"})");
  CHECK_EQ(inherited.outcome, "passes");
  CHECK(inherited.lists("NetworkPolicy/extra: does-not-select"));
}

// [E 101]
SCENARIO("a hole is left out by one block, not by two halves of it") {
  const auto to = [](const char* except) {
    return with_rule(public_internet_object(),
                     (std::string{R"({"to":[{"ipBlock":{"cidr":"168.0.0.0/6","except":[)"} + except + "]}}]}").c_str())
      .outcome;
  };
  CHECK_EQ(to(R"("168.63.129.16/32","169.254.0.0/16")"), "passes");
  CHECK_EQ(to(R"("168.63.129.16/32","169.254.0.0/17","169.254.128.0/17")"), widens);
  CHECK_EQ(to(R"("168.63.129.16/32")"), widens);
}

// [E 102]
SCENARIO("blocks of IPv6 are compared as those of IPv4") {
  const auto to = [](const char* block) {
    return with_rule(public_internet_object(), json{{"to", {{{"ipBlock", {{"cidr", block}}}}}}}.dump().c_str()).outcome;
  };
  CHECK_EQ(to("2001:db8::/32"), "passes");
  CHECK_EQ(to("fc00::/8"), widens);
}

// [E 313] [E 314]
SCENARIO("the scope of a policy is the one that the API server stores") {
  CHECK_EQ(beside(deny_all_object(), {core_spec("extra", R"({"podSelector":{},"policyTypes":[],"egress":[{}]})"_json_text)}).outcome,
           widens);
  const auto allowed = allowance_of(no_network_object());
  CHECK_EQ(judge(allowed, {core_spec("empty", R"({"podSelector":{},"egress":[]})"_json_text)}).outcome, "no-enforcing-policy");
  const auto said = judge(allowed, {core_spec("said", R"({"podSelector":{},"policyTypes":["Egress"],"egress":[]})"_json_text)});
  CHECK_EQ(said.outcome, "passes");
  CHECK(said.lists("NetworkPolicy/said: within"));
}

// [E 325] [E 326]
SCENARIO("numbers and blocks that no server stores are not read") {
  const auto backwards = with_rule(deny_all_object(), R"({"to":[{"namespaceSelector":{}}],"ports":[{"port":53,"endPort":52}]})");
  CHECK_EQ(backwards.outcome, unclear);
  CHECK_EQ(backwards.findings.at(0).path, "spec.egress[0].ports[0].endPort");
  for (const auto* except : {"10.0.0.0/8", "11.0.0.0/16", "0.0.0.0/0"}) {
    const auto rule = json{{"to", {{{"ipBlock", {{"cidr", "10.0.0.0/8"}, {"except", {except}}}}}}}};
    const auto got = with_rule(public_internet_object(), rule.dump().c_str());
    CHECK_EQ(got.outcome, unclear);
    CHECK_EQ(got.findings.at(0).path, "spec.egress[0].to[0].ipBlock.except");
  }
}

SCENARIO("each construct that is not understood is refused by its name") {
  const auto rule = [](const char* text) {
    const auto got = with_rule(deny_all_object(), text);
    return got.findings.empty() ? got.outcome : got.outcome + " " + got.findings[0].path;
  };
  const auto at = [](std::string_view path) { return "not-evaluable spec.egress[0]" + std::string{path}; };
  CHECK_EQ(rule("7"), at(""));
  CHECK_EQ(rule("null"), at(""));
  CHECK_EQ(rule(R"({"toFQDNs":[]})"), at(".toFQDNs"));
  CHECK_EQ(rule(R"({"to":{}})"), at(".to"));
  CHECK_EQ(rule(R"({"to":[null]})"), at(".to[0]"));
  CHECK_EQ(rule(R"({"to":[{}]})"), at(".to[0]"));
  CHECK_EQ(rule(R"({"to":[{"podSelector":null}]})"), at(".to[0]"));
  CHECK_EQ(rule(R"({"to":[{"podSelector":[]}]})"), at(".to[0].podSelector"));
  CHECK_EQ(rule(R"({"to":[{"serviceSelector":{}}]})"), at(".to[0].serviceSelector"));
  CHECK_EQ(rule(R"({"to":[{"ipBlock":7}]})"), at(".to[0].ipBlock"));
  CHECK_EQ(rule(R"({"to":[{"ipBlock":{}}]})"), at(".to[0].ipBlock.cidr"));
  CHECK_EQ(rule(R"({"to":[{"ipBlock":{"cidr":"10.0.0.1"}}]})"), at(".to[0].ipBlock.cidr"));
  CHECK_EQ(rule(R"({"to":[{"ipBlock":{"cidr":"10.0.0.0/8","except":"10.1.0.0/16"}}]})"), at(".to[0].ipBlock.except"));
  CHECK_EQ(rule(R"({"to":[{"ipBlock":{"cidr":"10.0.0.0/8","except":["x"]}}]})"), at(".to[0].ipBlock.except[0]"));
  CHECK_EQ(rule(R"({"to":[{"ipBlock":{"cidr":"10.0.0.0/8"},"podSelector":{}}]})"), at(".to[0]"));
  CHECK_EQ(rule(R"({"ports":[{"port":1}],"to":[{"podSelector":{"matchExpressions":[{}]}}]})"),
           at(".to[0].podSelector.matchExpressions[0].key"));
  THEN("so is a part of the policy that is not understood, unless a rule of it is wide already") {
    const auto spec = [](const char* text) {
      const auto got = beside(deny_all_object(), {core_spec("extra", json::parse(text))});
      return got.findings.empty() ? got.outcome : got.outcome + " " + got.findings[0].path;
    };
    CHECK_EQ(spec(R"({"podSelector":{},"policyTypes":["Egress"],"egressAllow":[]})"), "not-evaluable spec.egressAllow");
    CHECK_EQ(spec(R"({"podSelector":{},"policyTypes":["Egress"],"egressAllow":[],"egress":[{}]})"), "policy-widens-egress spec.egress[0]");
    CHECK_EQ(spec(R"({"podSelector":{"matchLabels":{"app":"x"}},"policyTypes":["Egress"],"egressAllow":[]})"), "passes");
    CHECK_EQ(spec(R"({"podSelector":{},"policyTypes":["egress"],"egress":[{}]})"), "not-evaluable spec.policyTypes");
    CHECK_EQ(spec(R"({"podSelector":{},"policyTypes":"Egress","egress":[{}]})"), "not-evaluable spec.policyTypes");
    CHECK_EQ(spec("null"), "not-evaluable spec");
    CHECK_EQ(spec("[]"), "not-evaluable spec");
  }
}

SCENARIO("null is absent, and absent and empty lists mean the same, everywhere") {
  for (const auto* rule : {R"({"to":null,"ports":null})", R"({"to":[],"ports":[]})", "{}"}) {
    CHECK_EQ(with_rule(deny_all_object(), rule).outcome, widens);
    CHECK_EQ(with_rule(allow_all_object(), rule).outcome, "passes");
  }
  CHECK_EQ(beside(deny_all_object(), {core_spec("extra", R"({"podSelector":null,"policyTypes":null,"egress":[{}]})"_json_text)}).outcome,
           widens);
}

SCENARIO("a wide rule decides before one that is not understood, wherever it stands") {
  const auto got = beside(deny_all_object(), {core_policy("extra", R"([7,{"to":[{"odd":1}]},{}])"_json_text)});
  CHECK_EQ(got.outcome, widens);
  CHECK_EQ(got.findings.at(0).path, "spec.egress[2]");
}
