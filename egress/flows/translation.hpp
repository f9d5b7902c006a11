#pragma once

#include "base/time.hpp"
#include "egress/translate.hpp"

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <string>
#include <vector>

namespace paddock::egress {

/// The hosts of a policy of kind `resolver`, as the embedding program says them.
using resolver = std::function<boost::asio::awaitable<result<std::vector<std::string>>>(deadline)>;

/// The object that a configuration means, once for a backend. `resolve` is asked once, and only for a policy of kind `resolver` that can be
/// enforced; it may be empty for every other kind. After a failure nothing is remembered.
boost::asio::awaitable<result<policy_object>> translate_resolved(egress_config how, policy_target target, resolver resolve, deadline until);

} // namespace paddock::egress
