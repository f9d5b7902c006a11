#pragma once

#include "base/flows/flow_group.hpp"
#include "k8s/flows/api_stream.hpp"
#include "k8s/flows/watch.hpp"
#include "k8s/watch_port.hpp"

#include <memory>

namespace paddock::k8s {

/// The `watch_port` over an API server: one flow of `flows` a watch, under the asker's ticket, which no other flow of the group
/// may have. It calls back on the strand of `flows`. What it starts uses `options` but for what is watched. Close `flows`, then the
/// port, `over`, `time` and the group may go in this order.
[[nodiscard]] std::unique_ptr<watch_port> make_watches(streaming_api& over, flow_time& time, flow_group& flows, list_watch::random chance,
                                                       list_watch_options options = {});

/// Chance for the pauses of a program that runs; every thread has its own.
[[nodiscard]] double real_chance();

} // namespace paddock::k8s
