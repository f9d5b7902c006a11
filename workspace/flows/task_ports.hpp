#pragma once

#include "base/flows/flow_group.hpp"
#include "workspace/flows/tasks.hpp"
#include "workspace/task_ports.hpp"

#include <memory>

namespace paddock::workspace {

/// The steps of task sandboxes as flows of `flows`. As `workspace/flows/ports.hpp` says of the others; `on` outlives the port.
[[nodiscard]] std::unique_ptr<task_port> make_tasks(task_world& on, flow_group& flows);

} // namespace paddock::workspace
