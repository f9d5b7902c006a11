#pragma once

#include "workspace/flows/verbs.hpp"

namespace paddock::workspace {

/// The rest of an open of a workspace that runs already, after `prove_applied`: what `resume` does, and `prove_selected` before it
/// writes.
boost::asio::awaitable<transition<opened>> open_running(world& on, id which, open_options how, session before, deadline until);

} // namespace paddock::workspace
