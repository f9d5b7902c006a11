#pragma once

#include "audit/egress_report.hpp"
#include "audit/fence_report.hpp"
#include "audit/ingress_report.hpp"
#include "egress/flows/cluster.hpp"

#include <boost/asio/awaitable.hpp>

namespace paddock::audit {

// The same questions to a cluster. Nothing is written; a failure is one that says nothing about the answer.

/// One GET of the named object, then the policies of the namespace, page by page, under `engine`.
boost::asio::awaitable<egress::result<egress_report>> judge_cluster(egress::cluster& on, egress::policy_engine engine,
                                                                    egress_question asked, deadline until);

/// The objects of the fence, then the permitted hosts if there are any.
boost::asio::awaitable<egress::result<fence_report>> check_fence_of(egress::cluster& on, egress::fence_question asked, deadline until);

boost::asio::awaitable<egress::result<ingress_report>> check_ingress_of(egress::cluster& on, egress::policy_engine engine,
                                                                        egress::ingress_question asked, deadline until);

} // namespace paddock::audit
