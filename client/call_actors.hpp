#pragma once

#include "client/call.hpp"
#include "messages/interfaces.hpp"

namespace paddock::client {

/// Puts what a CALL sends into `to`. Told that nothing is wanted, which its own `running_call` does, it says `call_silent`.
[[nodiscard]] sink_actor spawn_sink(caf::actor_system& in, std::shared_ptr<inbox> to);

/// A call that runs: `of` sends to `sink`, and when it is gone, and with it maybe the whole node, `to` hears `call_gone`. The system goes
/// on until the last call has been destroyed; `alive` is what keeps it.
[[nodiscard]] std::unique_ptr<running_call> watched_call(caf::actor_system& in, call_actor of, sink_actor sink, std::shared_ptr<inbox> to,
                                                         std::shared_ptr<const void> alive);

} // namespace paddock::client
