#pragma once

#include "egress/flows/cluster.hpp"
#include "egress/permitted_hosts.hpp"

#include <boost/asio/awaitable.hpp>

namespace paddock::egress {

/// Reads what the operator permits, with one GET. Nothing is remembered: it may change between two grants.
boost::asio::awaitable<result<permitted_hosts>> read_permitted_hosts(cluster& on, object_reference which, deadline until);

} // namespace paddock::egress
