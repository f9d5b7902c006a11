#pragma once

// For a program that has an actor system of its own. This header includes CAF; the others hardly do.

#include "client/node.hpp"
#include "messages/error.hpp"
#include "messages/interfaces.hpp"
#include "remoting/actor_config.hpp"

namespace paddock::client {

/// A node in the actor system of the program. `register_messages` comes before that system, whose configuration is an `actor_config` or
/// derived from one; type ids of the program's own begin at `first_plugin_type_id`.
struct actor_access {
  /// As `remote_node::connect`. The system outlives the answer and all that came of it. With TLS, `how.tls` must be what the
  /// system was configured with.
  [[nodiscard]] static result<remote_node> connect(caf::actor_system& in, const options& how);
  /// The node itself, for requests that do not wait: messages/interfaces.hpp has all that it takes. A handle that is asked for
  /// something and gone is what `node_gone` says.
  [[nodiscard]] static const node_actor& actor_of(const remote_node& x);
};

} // namespace paddock::client
