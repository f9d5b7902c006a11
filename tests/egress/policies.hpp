#pragma once

// Policies as the tests of the judge want them: what the six kinds of configuration mean ([E] 2), policies beside it, and what the
// union of all is to the pod of [E] 9.

#include "egress/union_check.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::egress::test {

using nlohmann::json;

inline json operator""_json_text(const char* text, std::size_t size) {
  return json::parse(std::string_view{text, size});
}

inline const auto template_selector = json{{"matchLabels", {{"sandbox.namzu.ai/template", "namzu-task"}}}};

// -- what is configured -----------------------------------------------------

inline policy_object core_object(policy_kind what, json rules) {
  return {resource_kind::network_policy, what, "namzu-sandboxes", "namzu-task-egress",
          json{{"apiVersion", "networking.k8s.io/v1"},
               {"kind", "NetworkPolicy"},
               {"metadata", {{"name", "namzu-task-egress"}, {"namespace", "namzu-sandboxes"}}},
               {"spec", {{"podSelector", template_selector}, {"policyTypes", {"Egress"}}, {"egress", std::move(rules)}}}}};
}

inline json dns_ports() {
  return R"([{"protocol":"UDP","port":53},{"protocol":"TCP","port":53}])"_json_text;
}
inline json kube_system() {
  return {{"matchLabels", {{"kubernetes.io/metadata.name", "kube-system"}}}};
}
inline json kube_dns() {
  return {{"namespaceSelector", kube_system()}, {"podSelector", {{"matchLabels", {{"k8s-app", "kube-dns"}}}}}};
}

inline policy_object deny_all_object() {
  return core_object(policy_kind::deny_all, {{{"to", {{{"namespaceSelector", kube_system()}}}}, {"ports", dns_ports()}}});
}
inline policy_object allow_all_object() {
  return core_object(policy_kind::allow_all, json::array({json::object()}));
}
inline policy_object no_network_object() {
  return core_object(policy_kind::no_network, json::array());
}
inline json private_v4() {
  return {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "127.0.0.0/8", "168.63.129.16/32"};
}
inline policy_object public_internet_object(const std::vector<std::string>& more_v4 = {}) {
  auto except = private_v4();
  for (const auto& x : more_v4)
    except.push_back(x);
  auto blocks = json::array({{{"ipBlock", {{"cidr", "0.0.0.0/0"}, {"except", except}}}},
                             {{"ipBlock", {{"cidr", "::/0"}, {"except", {"fc00::/7", "fe80::/10", "::1/128"}}}}}});
  return core_object(policy_kind::public_internet,
                     json::array({{{"to", {kube_dns()}}, {"ports", dns_ports()}}, {{"to", std::move(blocks)}}}));
}

/// How a list of hosts is narrowed.
struct narrowed {
  json ports;       // `toPorts` of each host; null: none
  bool dns = false; // to the names of the list
};

inline json expansion(const std::string& entry) {
  if (entry.front() != '.')
    return json::array({{{"matchName", entry}}});
  return json::array({{{"matchName", entry.substr(1)}}, {{"matchPattern", "*" + entry}}});
}

inline json cilium_dns_rule(json names) {
  return {{"toEndpoints", {{{"matchLabels", {{"k8s:io.kubernetes.pod.namespace", "kube-system"}, {"k8s:k8s-app", "kube-dns"}}}}}},
          {"toPorts", {{{"ports", {{{"port", "53"}, {"protocol", "ANY"}}}}, {"rules", {{"dns", std::move(names)}}}}}}};
}

inline json host_rules(const std::vector<std::string>& hosts, const narrowed& how) {
  auto names = json::array();
  for (const auto& entry : hosts)
    for (const auto* suffix : {"", ".namzu-sandboxes.svc.cluster.local", ".svc.cluster.local", ".cluster.local"})
      for (const auto& x : expansion(entry))
        names.push_back({{x.begin().key(), x.begin()->get<std::string>() + suffix}});
  auto rules = json::array({cilium_dns_rule(how.dns ? names : json::array({{{"matchPattern", "*"}}}))});
  if (how.ports.is_null() && !how.dns) {
    auto all = json::array();
    for (const auto& entry : hosts)
      for (const auto& x : expansion(entry))
        all.push_back(x);
    rules.push_back({{"toFQDNs", std::move(all)}});
    return rules;
  }
  for (const auto& entry : hosts) {
    auto rule = json{{"toFQDNs", expansion(entry)}};
    if (!how.ports.is_null())
      rule["toPorts"] = how.ports;
    rules.push_back(std::move(rule));
  }
  return rules;
}

inline json cilium_policy(const std::string& name, json rules, json selector = template_selector) {
  return {{"apiVersion", "cilium.io/v2"},
          {"kind", "CiliumNetworkPolicy"},
          {"metadata", {{"name", name}, {"namespace", "namzu-sandboxes"}}},
          {"spec", {{"endpointSelector", std::move(selector)}, {"egress", std::move(rules)}}}};
}

inline policy_object static_object(const std::vector<std::string>& hosts, const narrowed& how = {}) {
  return {resource_kind::cilium_network_policy, policy_kind::static_hosts, "namzu-sandboxes", "namzu-task-egress",
          cilium_policy("namzu-task-egress", host_rules(hosts, how))};
}

/// What this host writes beside the baseline for the sandbox `s1`.
inline policy_object grant_object(const std::vector<std::string>& hosts, const narrowed& how = {}) {
  auto manifest =
    cilium_policy("namzu-sbx-uid-1", host_rules(hosts, how), {{"matchLabels", {{"sandbox.namzu.ai/per-sandbox-egress", "s1"}}}});
  manifest["metadata"]["ownerReferences"] =
    R"([{"apiVersion":"agents.x-k8s.io/v1beta1","kind":"Sandbox","name":"s1","uid":"uid-1"}])"_json_text;
  return {resource_kind::cilium_network_policy, policy_kind::static_hosts, "namzu-sandboxes", "namzu-sbx-uid-1", std::move(manifest)};
}

// -- what stands beside it --------------------------------------------------

/// A policy that selects the pod.
inline json core_policy(const std::string& name, json rules) {
  return {{"metadata", {{"name", name}}},
          {"spec", {{"podSelector", template_selector}, {"policyTypes", {"Egress"}}, {"egress", std::move(rules)}}}};
}
inline json core_spec(const std::string& name, json spec) {
  return {{"metadata", {{"name", name}}}, {"spec", std::move(spec)}};
}
inline json cilium_spec(const std::string& name, json spec) {
  return {{"metadata", {{"name", name}}}, {"spec", std::move(spec)}};
}
inline json port_443() {
  return R"([{"ports":[{"port":"443","protocol":"TCP"}]}])"_json_text;
}

// -- what the union is to the pod -------------------------------------------

inline label_map pod_labels() {
  return {{"sandbox.namzu.ai/template", "namzu-task"}, {"app", "namzu"}};
}

struct judged {
  std::string outcome;           // passes, or the refusal
  std::vector<std::string> rows; // `NetworkPolicy/x: within`
  std::vector<finding> findings;
  std::string message; // of the refusal

  [[nodiscard]] bool says(std::string_view text) const {
    return message.find(text) != std::string::npos;
  }
  [[nodiscard]] bool lists(std::string_view row) const {
    return std::find(rows.begin(), rows.end(), row) != rows.end();
  }
};

inline judged outcome_of(const union_check& check) {
  auto got = judged{"passes", {}, check.findings(), {}};
  if (const auto why = check.refusal())
    got.outcome = to_string(*why);
  for (const auto& x : check.examined())
    got.rows.push_back(std::string{to_string(x.policy.kind)} + "/" + x.policy.name + ": " + std::string{to_string(x.verdict)});
  if (auto ok = check.verdict("the sandbox s1"); !ok)
    got.message = to_string(ok.error());
  return got;
}

/// Everything that is listed: core policies, then Cilium's.
inline judged judge(const allowance& allowed, const std::vector<json>& core, const std::vector<json>& cilium = {},
                    label_map labels = pod_labels()) {
  auto check = union_check{allowed, {"namzu-sandboxes", std::move(labels)}};
  for (const auto& x : core)
    check.take(resource_kind::network_policy, x);
  for (const auto& x : cilium)
    check.take(resource_kind::cilium_network_policy, x);
  return outcome_of(check);
}

/// The object of the configuration as it is applied, and `more` core policies beside it.
inline judged beside(const policy_object& configured, std::vector<json> more = {}) {
  more.insert(more.begin(), configured.manifest);
  return judge(allowance_of(configured), more);
}
/// Likewise with Cilium policies.
inline judged beside_cilium(const policy_object& configured, std::vector<json> more = {}) {
  auto core = std::vector<json>{};
  (configured.kind == resource_kind::network_policy ? core : more)
    .insert(configured.kind == resource_kind::network_policy ? core.begin() : more.begin(), configured.manifest);
  return judge(allowance_of(configured), core, more);
}

} // namespace paddock::egress::test
