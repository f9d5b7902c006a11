#pragma once

#include "egress/enumeration.hpp"
#include "egress/policy_reader.hpp"
#include "k8s/flows/api.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>

namespace paddock::egress {

/// Reads one collection to its end, page by page, and keeps one page at a time. A list whose token ran out between two pages
/// begins again, twice at most. `to` outlives the call; what it took counts only after a success. The failure is `already_gone`
/// only where the first page is: the collection is not served.
boost::asio::awaitable<k8s::result<void>> read_collection(k8s::api& on, policy_collection of, policy_reader& to, deadline until);

/// Reads the policies of a namespace: the core ones, then under engine cilium Cilium's ([E] 3.3). The first collection that is
/// not served or may not be listed ends it and is the answer; every other failure of a request is one.
boost::asio::awaitable<k8s::result<std::optional<unread_collection>>>
read_policies(k8s::api& on, std::string name_space, policy_engine engine, policy_reader& to, deadline until);

} // namespace paddock::egress
