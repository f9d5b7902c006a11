#pragma once

#include "egress/fence.hpp"
#include "egress/flows/cluster.hpp"

#include <boost/asio/awaitable.hpp>

namespace paddock::egress {

/// Proves the fence anew ([E] 4): two GETs, four with permitted hosts, one after another. Nothing is remembered.
boost::asio::awaitable<result<void>> prove_fence(cluster& on, fence_question asked, deadline until);

} // namespace paddock::egress
