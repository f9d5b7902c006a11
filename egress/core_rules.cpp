#include "egress/core_rules.hpp"

#include "base/overloaded.hpp"

namespace paddock::egress {

namespace {

using json = nlohmann::json;

/// DNS to `peer`.
json dns_rule(json peer) {
  return {{"to", json::array({std::move(peer)})},
          {"ports", json::array({{{"protocol", "UDP"}, {"port", 53}}, {{"protocol", "TCP"}, {"port", 53}}})}};
}

json kube_system() {
  return {{"namespaceSelector", {{"matchLabels", {{"kubernetes.io/metadata.name", "kube-system"}}}}}};
}

json resolver_pods() {
  auto got = kube_system();
  got["podSelector"] = {{"matchLabels", {{"k8s-app", "kube-dns"}}}};
  return got;
}

json internet_rule(const std::vector<std::string>& except_cidrs) {
  auto v4 =
    json::array({"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "127.0.0.0/8", "168.63.129.16/32"});
  auto v6 = json::array({"fc00::/7", "fe80::/10", "::1/128"});
  for (const auto& x : except_cidrs)
    (x.find(':') == std::string::npos ? v4 : v6).push_back(x);
  return {{"to", json::array({{{"ipBlock", {{"cidr", "0.0.0.0/0"}, {"except", std::move(v4)}}}},
                              {{"ipBlock", {{"cidr", "::/0"}, {"except", std::move(v6)}}}}})}};
}

json egress_rules(const egress_policy& policy) {
  return std::visit(overloaded{
                      [](const deny_all&) { return json::array({dns_rule(kube_system())}); },
                      [](const allow_all&) { return json::array({json::object()}); },
                      [](const public_internet& x) {
                        return json::array({dns_rule(resolver_pods()), internet_rule(x.except_cidrs)});
                      },
                      [](const auto&) { return json::array(); },
                    },
                    policy);
}

} // namespace

policy_object compose(const egress_policy& policy, std::string name_space, std::string name, const label_map& selects) {
  auto manifest = json{
    {"apiVersion", "networking.k8s.io/v1"},
    {"kind", to_string(resource_kind::network_policy)},
    {"metadata", {{"name", name}, {"namespace", name_space}}},
    {"spec", {{"podSelector", {{"matchLabels", selects}}}, {"policyTypes", json::array({"Egress"})}, {"egress", egress_rules(policy)}}}};
  return {resource_kind::network_policy, kind_of(policy), std::move(name_space), std::move(name), std::move(manifest)};
}

} // namespace paddock::egress
