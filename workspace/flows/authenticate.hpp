#pragma once

#include "workspace/flows/verbs.hpp"

#include <map>
#include <string>

namespace paddock::workspace {

/// Whether `object`, which was read under the name, and the disks that stand are what the caller retained ([W] 3.16). Reads the claim of
/// each entry of `claims` and nothing else: one that does not exist is not there yet, and one that cannot be read is that failure.
boost::asio::awaitable<result<void>> authenticate(world& on, id which, sandbox_uid expected, std::map<std::string, claim_uid> claims,
                                                  nlohmann::json object, deadline until);

} // namespace paddock::workspace
