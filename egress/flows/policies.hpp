#pragma once

#include "egress/errors.hpp"
#include "egress/flows/cluster.hpp"
#include "egress/policy_reader.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>

namespace paddock::egress {

/// Reads the policies of a namespace page by page: the core ones, then under engine cilium Cilium's ([E] 3.3). `to` outlives
/// the call. The first collection that is not served or may not be listed ends it and is the answer; every other failure of a
/// request is one.
boost::asio::awaitable<k8s::result<std::optional<unread_collection>>>
read_policies(cluster& on, std::string name_space, policy_engine engine, policy_reader& to, deadline until);

} // namespace paddock::egress
