#include "egress/cilium_rules.hpp"

#include "egress/narrowing.hpp"

#include <algorithm>

namespace paddock::egress {

namespace {

using json = nlohmann::json;

json match_name(const std::string& name) {
  return {{"matchName", name}};
}

json match_below(const std::string& domain) {
  return {{"matchPattern", "*." + domain}};
}

/// Appends what `host` means below `suffix`, which is empty or begins with a dot.
void expand(json& into, const host_entry& host, const std::string& suffix) {
  into.push_back(match_name(host.name() + suffix));
  if (host.whole_domain())
    into.push_back(match_below(host.name() + suffix));
}

// -- the DNS rule -----------------------------------------------------------

/// Which names may be asked for: the hosts as they are and below each suffix that a resolver appends.
json dns_names(const std::vector<host_entry>& hosts, const dns_narrowing& how, const std::string& policy_namespace) {
  auto suffixes = std::vector<std::string>{"", "." + how.name_space.value_or(policy_namespace) + ".svc." + how.cluster_domain,
                                           ".svc." + how.cluster_domain, "." + how.cluster_domain};
  for (const auto& x : how.search_suffixes)
    suffixes.push_back("." + x);
  auto got = json::array();
  for (const auto& host : hosts)
    for (const auto& suffix : suffixes)
      expand(got, host, suffix);
  return got;
}

json dns_rule(json names) {
  return {
    {"toEndpoints", json::array({{{"matchLabels", {{"k8s:io.kubernetes.pod.namespace", "kube-system"}, {"k8s:k8s-app", "kube-dns"}}}}})},
    {"toPorts", json::array({{{"ports", json::array({{{"port", "53"}, {"protocol", "ANY"}}})}, {"rules", {{"dns", std::move(names)}}}}})}};
}

// -- the rules of hosts -----------------------------------------------------

json port_entries(const port_list& ports) {
  auto got = json::array();
  for (auto port : ports)
    got.push_back({{"port", std::to_string(port)}, {"protocol", "TCP"}});
  return got;
}

/// One element without server names, or one for the TLS ports with the name and one for the rest.
json to_ports(const narrowing& how, const host_entry& host, port_list ports) {
  if (!how.tls_server_names)
    return json::array({{{"ports", port_entries(ports)}}});
  auto tls = tls_ports_of(how);
  auto rest =
    std::stable_partition(ports.begin(), ports.end(), [&](auto port) { return std::find(tls.begin(), tls.end(), port) != tls.end(); });
  auto got = json::array();
  if (rest != ports.begin())
    got.push_back({{"ports", port_entries({ports.begin(), rest})}, {"serverNames", json::array({host.text()})}});
  if (rest != ports.end())
    got.push_back({{"ports", port_entries({rest, ports.end()})}});
  return got;
}

json host_rule(const narrowing& how, const host_entry& host) {
  auto names = json::array();
  expand(names, host, "");
  auto rule = json{{"toFQDNs", std::move(names)}};
  if (auto ports = ports_of(how, host))
    rule["toPorts"] = to_ports(how, host, *std::move(ports));
  return rule;
}

json egress_rules(const cilium_policy& what) {
  const auto* narrowed = what.narrowing && what.narrowing->active() ? &*what.narrowing : nullptr;
  auto by_name = narrowed != nullptr && narrowed->dns_names;
  auto got = json::array();
  got.push_back(dns_rule(by_name ? dns_names(what.hosts, *narrowed->dns_names, what.name_space) : json::array({{{"matchPattern", "*"}}})));
  if (narrowed != nullptr) {
    for (const auto& host : what.hosts)
      got.push_back(host_rule(*narrowed, host));
    return got;
  }
  auto names = json::array();
  for (const auto& host : what.hosts)
    expand(names, host, "");
  got.push_back({{"toFQDNs", std::move(names)}});
  return got;
}

} // namespace

result<policy_object> compose(const cilium_policy& what) {
  if (what.narrowing)
    if (auto ok = check_server_names(*what.narrowing, what.hosts, what.narrowing_field); !ok)
      return tl::unexpected{ok.error()};
  auto manifest = json{{"apiVersion", "cilium.io/v2"},
                       {"kind", to_string(resource_kind::cilium_network_policy)},
                       {"metadata", {{"name", what.name}, {"namespace", what.name_space}}},
                       {"spec", {{"endpointSelector", {{"matchLabels", what.selects}}}, {"egress", egress_rules(what)}}}};
  return policy_object{resource_kind::cilium_network_policy, what.policy_kind, what.name_space, what.name, std::move(manifest)};
}

} // namespace paddock::egress
