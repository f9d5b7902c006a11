#pragma once

#include "base/flows/flow_group.hpp"
#include "workspace/flows/verbs.hpp"
#include "workspace/ports.hpp"

#include <memory>

namespace paddock::workspace {

// The ports of a workspace over its flows. Each question is one flow of `flows`, under the ticket of the asker; ports that
// share a group share its tickets. Callbacks run on the strand of `flows`, exactly once and never inside the call that asked.
//
// Stopping: close `flows`. The flows that run are withdrawn and answer as cancelled ones do; a question that comes later,
// or under a ticket in use, answers `k8s::cancelled` with nothing sent (a guest call: `withdrawn`) and the session as it was
// given. When the group has reported its end no flow calls back any more, and the port, `on` and the group may go in this order.

[[nodiscard]] std::unique_ptr<transitions_port> make_transitions(world& on, flow_group& flows);
[[nodiscard]] std::unique_ptr<inventory_port> make_inventory(world& on, flow_group& flows);

} // namespace paddock::workspace
