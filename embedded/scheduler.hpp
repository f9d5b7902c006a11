#pragma once

#include "base/time.hpp"
#include "k8s/call.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace paddock::embedded {

/// What a pod asks of a node, or what a node has to give.
struct node_amounts {
  double cpu = 0;    // cores
  double memory = 0; // bytes
  double pods = 0;
  node_amounts& operator+=(const node_amounts& other);
  node_amounts& operator-=(const node_amounts& other);
};

/// The requests of a pod: the sum of its containers and of its init containers that stay, or its largest other init container
/// where that is more; and one pod. An unreadable quantity counts as none.
[[nodiscard]] node_amounts requests_of(const nlohmann::json& pod);

/// Whether the scheduler has to place the pod: no node, no end, not terminating, no gate, and no other scheduler named.
[[nodiscard]] bool wants_node(const nlohmann::json& pod);

/// No node takes the pod. The text is the scheduler's own: `0/2 nodes are available: 1 Insufficient cpu, 1 …`.
struct unschedulable {
  std::string message;
};

/// The node of the fewest pods among those that take `pod`: ready, not cordoned, labelled as its nodeSelector wants, without a
/// taint that it does not tolerate, and with room beside what is `used` on each (by node name).
[[nodiscard]] std::variant<std::string, unschedulable> choose_node(const nlohmann::json& pod, const std::vector<nlohmann::json>& nodes,
                                                                   const std::map<std::string, node_amounts>& used);

/// Why the pod has to wait whatever the nodes have: a claim that it uses is being deleted, and goes only while no pod with a node uses
/// it. `claims` are those of its namespace.
[[nodiscard]] std::optional<unschedulable> waits_for_claim(const nlohmann::json& pod, const std::vector<nlohmann::json>& claims);

/// Gives a pod without a node to `node`, under the pod's uid.
[[nodiscard]] k8s::call bind_pod(const nlohmann::json& pod, const std::string& node);

/// The patch of the pod's status that says why no node takes it, or nothing: it says so already.
[[nodiscard]] std::optional<k8s::call> report_unschedulable(const nlohmann::json& pod, const unschedulable& why,
                                                            time_source::wall_clock::time_point now);

} // namespace paddock::embedded
