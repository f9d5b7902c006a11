#pragma once

#include "egress/flows/cluster.hpp"
#include "egress/per_sandbox_write.hpp"

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <string>
#include <vector>

namespace paddock::egress {

/// What the writes of per-sandbox policies ask beside the API server. Outlives the calls.
struct per_sandbox_checks {
  /// That the fence holds: anew, or from memory. Asked before every write.
  std::function<boost::asio::awaitable<result<void>>(deadline)> fence;
  /// That all policies which select the pod allow no more than the configuration and what was just written ([E] 3.11). Empty:
  /// nobody judges.
  std::function<boost::asio::awaitable<result<void>>(policy_object, deadline)> union_check;
};

/// What a grant came to.
struct grant_end {
  result<void> answer;
  bool landed = false; // the cluster has taken the write, or the deletion; whether it may have, `policy_write_unknown` says
};

/// Lets the sandbox reach `allowed_hosts` beside what the configuration lets it reach, instead of what it was granted before; an
/// empty list takes every grant away ([E] 5.4). Calls for one owner must not overlap.
///
/// A success proves that the policy stands as it was meant and, where that is asked, that no other policy makes it wider. A
/// failure of what landed leaves the policy where it is, unless it is `owner_replaced`. No write is sent twice. Whether the owner
/// still stands is asked after a write also when the caller has withdrawn or `until` has passed; that and taking the policy back are
/// bounded by a second each.
boost::asio::awaitable<grant_end> set_network_policy(cluster& on, const per_sandbox_checks& checks, grant_target whose,
                                                     std::vector<std::string> allowed_hosts, deadline until);

/// Removes what predecessors of the same name were granted, and leaves the owner's own policy as it is ([E] 5.8). Answers with
/// the names of the removed policies. After a failure some of them may still stand.
boost::asio::awaitable<result<std::vector<std::string>>> reverify_per_sandbox_egress(cluster& on, const per_sandbox_checks& checks,
                                                                                     grant_target whose, deadline until);

} // namespace paddock::egress
