#define CAF_SUITE core_rules

#include "tests/egress/configured.hpp"
#include "tests/support/check_json.hpp"

using namespace paddock::egress;
using nlohmann::json;

namespace {

json with_egress(const char* egress) {
  auto got = json::parse(R"({
    "apiVersion": "networking.k8s.io/v1",
    "kind": "NetworkPolicy",
    "metadata": {"name": "namzu-task-egress", "namespace": "namzu-sandboxes"},
    "spec": {
      "podSelector": {"matchLabels": {"sandbox.namzu.ai/template": "namzu-task"}},
      "policyTypes": ["Egress"]
    }
  })");
  got["spec"]["egress"] = json::parse(egress);
  return got;
}

constexpr auto only_dns = R"([{
  "to": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}}}],
  "ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]
}])";

constexpr auto internet = R"([
  {
    "to": [{
      "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}},
      "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}}
    }],
    "ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]
  },
  {
    "to": [
      {"ipBlock": {"cidr": "0.0.0.0/0", "except": [
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "127.0.0.0/8", "168.63.129.16/32"]}},
      {"ipBlock": {"cidr": "::/0", "except": ["fc00::/7", "fe80::/10", "::1/128"]}}
    ]
  }
])";

const json& excepted(const json& rules, std::size_t block) {
  return rules[1]["to"][block]["ipBlock"]["except"];
}

bool holds(const json& list, const char* text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

} // namespace

// [E 1]
SCENARIO("deny-all is the cluster's DNS alone") {
  CHECK_JSON(translated(R"({"policy": {"kind": "deny-all"}})").manifest, with_egress(only_dns));
}

// [E 2]
SCENARIO("allow-all is one rule that names nothing") {
  CHECK_JSON(translated(R"({"policy": {"kind": "allow-all"}})").manifest, with_egress("[{}]"));
}

// [E 3] [E 4]
SCENARIO("no-network has no rule, whatever the engine is") {
  auto got = translated(R"({"policy": {"kind": "no-network"}})");
  CHECK_JSON(got.manifest, with_egress("[]"));
  CHECK_EQ(to_string(got.kind), "NetworkPolicy");
  CHECK_EQ(to_string(got.policy_kind), "no-network");
  CHECK_EQ(got.name_space, "namzu-sandboxes");
  CHECK_EQ(got.name, "namzu-task-egress");
  CHECK_EQ(got.path(), "/apis/networking.k8s.io/v1/namespaces/namzu-sandboxes/networkpolicies/namzu-task-egress");
  auto cilium = translated(R"({"policy": {"kind": "no-network"}, "engine": "cilium"})");
  CHECK_JSON(cilium.manifest, got.manifest);
}

// [E 5]
SCENARIO("deny-all and no-network differ by a rule") {
  CHECK_EQ(rules_of(translated(R"({"policy": {"kind": "deny-all"}})")).size(), 1u);
  CHECK_EQ(rules_of(translated(R"({"policy": {"kind": "no-network"}})")).size(), 0u);
}

// [E 6] [E 10]
SCENARIO("public-internet is DNS and what is not private") {
  CHECK_JSON(translated(R"({"policy": {"kind": "public-internet"}})").manifest, with_egress(internet));
  CHECK(read_egress_config(json::parse(R"({"policy": {"kind": "no-network"}, "engine": "core"})")).has_value());
  CHECK(read_egress_config(json::parse(R"({"policy": {"kind": "public-internet"}, "engine": "core"})")).has_value());
}

// [E 7]
SCENARIO("excluded blocks come after the built-in ones of their own family") {
  auto rules = rules_of(translated(R"({"policy": {"kind": "public-internet", "exceptCidrs": ["203.0.113.0/24", "2001:db8::/32"]}})"));
  auto plain = json::parse(internet);
  plain[1]["to"][0]["ipBlock"]["except"].push_back("203.0.113.0/24");
  plain[1]["to"][1]["ipBlock"]["except"].push_back("2001:db8::/32");
  CHECK_JSON(rules, plain);
  CHECK(holds(excepted(rules, 0), "169.254.0.0/16"));
  CHECK(!holds(excepted(rules, 0), "2001:db8::/32"));
  CHECK(!holds(excepted(rules, 1), "203.0.113.0/24"));
}

SCENARIO("excluded blocks keep their text and their order") {
  auto rules = rules_of(translated(
    R"({"policy": {"kind": "public-internet", "exceptCidrs": ["203.0.113.0/24", "2001:0DB8:0::/48", "198.51.100.0/24", "203.0.113.0/24"]}})"));
  CHECK_JSON(json(std::vector<json>(excepted(rules, 0).begin() + 7, excepted(rules, 0).end())),
             (json{"203.0.113.0/24", "198.51.100.0/24", "203.0.113.0/24"}));
  CHECK_EQ(excepted(rules, 1).back(), "2001:0DB8:0::/48");
}

// [E 25]
SCENARIO("a profile is a second label of the selector") {
  auto got = translated(R"({"policy": {"kind": "deny-all"}, "profile": "none", "profileLabelKey": "team.example/net"})");
  CHECK_JSON(got.manifest["spec"]["podSelector"],
             (json{{"matchLabels", {{"sandbox.namzu.ai/template", "namzu-task"}, {"team.example/net", "none"}}}}));
  auto hosts = translated(R"({"policy": {"kind": "static", "allowedHosts": ["a.example"]}, "engine": "cilium", "profile": "none"})");
  CHECK_JSON(hosts.manifest["spec"]["endpointSelector"],
             (json{{"matchLabels", {{"sandbox.namzu.ai/template", "namzu-task"}, {"sandbox.namzu.ai/egress-profile", "none"}}}}));
}
