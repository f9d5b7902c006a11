#pragma once

#include "base/flows/flow_group.hpp"
#include "egress/backend.hpp"
#include "egress/flows/cluster.hpp"
#include "egress/ports.hpp"

#include <memory>

namespace paddock::egress {

// The ports of egress over its flows. Each question is one flow of `flows`, under the ticket of the asker; ports that share a
// group share its tickets. Callbacks run on the strand of `flows`.
//
// Stopping: close `flows`. The flows that run are withdrawn and answer as cancelled ones do; a question that comes later, or under a
// ticket in use, answers `k8s::cancelled` with nothing sent. When the group has reported its end no flow calls back any more, and the
// port, `on` and the group may go in this order.

/// @pre `of.how` has per-sandbox egress
[[nodiscard]] std::unique_ptr<fence_port> make_fence_port(cluster& on, const backend& of, flow_group& flows);
[[nodiscard]] std::unique_ptr<gate_port> make_gate_port(cluster& on, const backend& of, flow_group& flows);
/// Of a backend without egress: only ingress is ever verified.
[[nodiscard]] std::unique_ptr<gate_port> make_gate_port(cluster& on, const ingress_backend& of, flow_group& flows);
/// @pre as for the fence
[[nodiscard]] std::unique_ptr<policy_port> make_policy_port(cluster& on, const backend& of, flow_group& flows);

} // namespace paddock::egress
