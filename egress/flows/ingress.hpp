#pragma once

#include "egress/flows/cluster.hpp"
#include "egress/ingress.hpp"

#include <boost/asio/awaitable.hpp>

namespace paddock::egress {

/// Proves that nobody but the host reaches the agent port ([E] 6.2). Sends nothing under `'unverified'`. Nothing is
/// remembered.
boost::asio::awaitable<result<void>> verify_ingress(cluster& on, ingress_config how, policy_engine engine, ingress_question asked,
                                                    deadline until);

} // namespace paddock::egress
