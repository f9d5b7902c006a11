#pragma once

#include "egress/cidr.hpp"
#include "egress/members.hpp"
#include "egress/port_ranges.hpp"
#include "egress/selectors.hpp"

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace paddock::egress {

/// Every destination there is.
struct everything {};
/// Pods by their namespace's labels and their own. Without a demand on the namespace they are in the policy's.
struct chosen_pods {
  std::optional<label_demands> name_space;
  std::optional<label_demands> pods;
};
/// Where a rule lets traffic go. What it chooses by stands in the object that was read, and lives as long.
using peer = std::variant<everything, address_block, chosen_pods>;

/// A peer of a core rule ([E] 3.9).
[[nodiscard]] tl::expected<peer, unreadable> read_core_peer(const nlohmann::json& x);
/// An entry of `toCIDR` or of `toCIDRSet`.
[[nodiscard]] tl::expected<peer, unreadable> read_cidr_peer(const nlohmann::json& x);
[[nodiscard]] tl::expected<peer, unreadable> read_cidr_set_peer(const nlohmann::json& x);
/// An entry of `toEndpoints`. A policy of a namespace means its own where the entry names none; a clusterwide one means all.
[[nodiscard]] tl::expected<peer, unreadable> read_endpoint_peer(const nlohmann::json& x, bool clusterwide);

/// Whether `wanted` is proved to be a part of `allowed` ([E] 3.9.1).
[[nodiscard]] bool contains(const peer& allowed, const peer& wanted);

/// The cluster's resolver: the pods `k8s-app=kube-dns` of `kube-system`.
[[nodiscard]] const peer& cluster_resolver();

/// Whether the resolver is among `x`, or `x` are some of its pods ([E] 3.9.2, H4). On ports that have DNS in them, names are asked for
/// there.
[[nodiscard]] bool meets_resolver(const peer& x);
[[nodiscard]] bool have_dns(const port_ranges& ports);

/// Traffic that is allowed.
struct destination {
  peer to;
  port_ranges ports;
};

/// Whether one rule's traffic is within what a list of destinations allows: every port of it at every peer by some destination.
/// Remembers what it has found about the rule's ports, so that a rule with many peers and many ports takes no time by their product.
class containment {
public:
  /// Both outlive it.
  containment(const std::vector<destination>& allowed, const port_ranges& wanted) : allowed_(allowed), wanted_(wanted) {
  }
  [[nodiscard]] bool has(const peer& wanted);

private:
  struct known {
    std::vector<const destination*> to;
    bool all_ports = false;
  };
  const std::vector<destination>& allowed_;
  const port_ranges& wanted_;
  std::vector<known> known_;
};

} // namespace paddock::egress
