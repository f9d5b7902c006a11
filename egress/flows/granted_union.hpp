#pragma once

#include "egress/allowance.hpp"
#include "egress/flows/cluster.hpp"
#include "egress/policy_document.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace paddock::egress {

/// Judges all policies that select a pod against what the configuration allows and what was just written for it together
/// ([E] 3.11, `verifyUnionWith`). Lists both collections whatever engine is configured: what was written is Cilium's. Nothing is
/// remembered, and nothing sent under `named-object-only`.
boost::asio::awaitable<result<void>> verify_granted_union(cluster& on, verification how, allowance baseline, policy_object granted,
                                                          judged_pod pod, std::string subject, deadline until);

} // namespace paddock::egress
