#pragma once

#include "workspace/flows/verbs.hpp"

namespace paddock::workspace {

/// Brings the guest to rest before its pod goes ([W] 3.4 steps 4 and 5): the quiesce, then the flush, where they are asked for. What cannot
/// be done in this image is noted and holds nothing up, and neither does a flush that could not be asked for. A failure means that
/// the guest was asked and what was asked is not confirmed, or that the caller withdrew: nothing may be written then. A flush that
/// does not reach the guest may find out that somebody else has suspended the workspace; the session says so then.
boost::asio::awaitable<transition<done>> bring_to_rest(world& on, id which, session now, suspend_options how, deadline until);

} // namespace paddock::workspace
