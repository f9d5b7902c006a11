#pragma once

#include "egress/enumeration.hpp"
#include "egress/union_check.hpp"
#include "k8s/flows/api.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace paddock::egress {

/// One GET of the object that an operator applies, judged ([E] 3.2). Nothing is created or repaired.
boost::asio::awaitable<result<void>> verify_named_object(k8s::api& on, policy_object wanted, deadline until);

/// Lists the policies of the pod's namespace, page by page, and judges what selects it ([E] 3.3 to 3.11). Ends at the first
/// collection that cannot be listed. A list whose token ran out between two pages begins again, twice at most. Keeps one page at a
/// time. `subject` names in the error what is checked.
boost::asio::awaitable<result<void>> verify_union(k8s::api& on, policy_engine engine, allowance allowed, judged_pod pod,
                                                  std::string subject, deadline until);

} // namespace paddock::egress
