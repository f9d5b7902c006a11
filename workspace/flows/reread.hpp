#pragma once

#include "workspace/flows/verbs.hpp"

namespace paddock::workspace {

/// The notice of [W] 3.8: reads the Sandbox, and where somebody else suspended it ends the session (`suspending` after it), whose
/// pod the next bind must see replaced; its terminals are let go. A failure is that of the read, or `replaced`; it changes nothing.
/// @pre the session runs
boost::asio::awaitable<transition<done>> notice(world& on, id which, session before, deadline until);

/// What is known of a command whose cancellation is not confirmed ([W] 6.5): asks the agent of the session for its health, then looks at
/// the Sandbox and its pod, each for at most five seconds. The second look is for a session that runs only. Writes nothing.
boost::asio::awaitable<cancellation_unconfirmed> look_after(world& on, id which, session now, guest::cancellation_unknown what);

} // namespace paddock::workspace
