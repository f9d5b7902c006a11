#pragma once

#include "workspace/flows/verbs.hpp"

#include <boost/asio/awaitable.hpp>

#include <vector>

namespace paddock::workspace {

/// Every workspace of the namespace, in the server's order: one `GET SBC` and nothing else ([W] 3.11).
/// An answer that the server has cut short is a failure.
boost::asio::awaitable<result<std::vector<summary>>> list(world& on, deadline until);

/// One workspace: one `GET SB` and nothing else. 404 is `AlreadyGone`; an object under the name that is no workspace, for
/// want of the template label, is a `mismatch` of that label.
boost::asio::awaitable<result<summary>> get(world& on, id which, deadline until);

} // namespace paddock::workspace
