#pragma once

// What the two judges' targets share: a configuration in the first byte, one policy object as JSON after it.

#include "egress/union_check.hpp"
#include "tests/fuzz/require.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace paddock::egress {

/// One of a few, as the configuration means it.
inline const std::vector<allowance>& fuzzed_allowances() {
  static const auto all = [] {
    const auto core = [](const char* rules) {
      return allowance_of({resource_kind::network_policy,
                           policy_kind::deny_all,
                           "n",
                           "named",
                           {{"spec", {{"podSelector", nlohmann::json::object()}, {"egress", nlohmann::json::parse(rules)}}}}});
    };
    const auto cilium = [](const char* rules) {
      return allowance_of({resource_kind::cilium_network_policy,
                           policy_kind::static_hosts,
                           "n",
                           "named",
                           {{"spec", {{"endpointSelector", nlohmann::json::object()}, {"egress", nlohmann::json::parse(rules)}}}}});
    };
    const auto none = core("[]");
    const auto names =
      cilium(R"([{"toEndpoints":[{"matchLabels":{"k8s:io.kubernetes.pod.namespace":"kube-system","k8s:k8s-app":"kube-dns"}}],
      "toPorts":[{"ports":[{"port":"53","protocol":"ANY"}],"rules":{"dns":[{"matchName":"a.example"}]}}]},
      {"toFQDNs":[{"matchName":"a.example"}],"toPorts":[{"ports":[{"port":"443","protocol":"TCP"}],"serverNames":["a.example"]}]}])");
    return std::vector<allowance>{none, core("[{}]"), names, union_of(none, names),
                                  core(R"([{"to":[{"ipBlock":{"cidr":"0.0.0.0/0","except":["10.0.0.0/8"]}},
        {"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}}}],"ports":[{"port":1,"endPort":65535}]}])")};
  }();
  return all;
}

/// Judges one object. Whatever it is: it has a verdict, the verdict says where, and it is the same the second time.
inline void fuzz_policy(resource_kind kind, const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 4096)
    return;
  const auto& allowed = fuzzed_allowances().at(data[0] % fuzzed_allowances().size());
  const auto text = std::string_view{reinterpret_cast<const char*>(data), size}.substr(1);
  const auto object = nlohmann::json::parse(text, nullptr, false);
  if (object.is_discarded())
    return;
  const auto pod = judged_pod{"n", {{"app", "x"}}};
  auto check = union_check{allowed, pod};
  check.take(kind, object);
  auto again = union_check{allowed, pod};
  again.take(kind, object);
  require(check.refusal() == again.refusal());
  require(check.findings().size() <= check.examined().size());
  require(check.verdict("s").has_value() == !check.refusal().has_value());
  for (const auto& x : check.findings())
    require(!x.detail.empty() && x.reason != rule_reason::none);
  for (const auto& x : check.examined())
    require(x.detail.has_value() == (x.verdict == egress_verdict::widens_egress || x.verdict == egress_verdict::not_evaluable));
  // What is wide stays wide beside anything else.
  again.take(kind, nullptr);
  require(check.refusal() != union_refused::cause::policy_widens_egress || again.refusal() == check.refusal());
  require(again.refusal().has_value());
}

} // namespace paddock::egress
