#pragma once

#include "k8s/flows/api.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace paddock::k8s {

/// Sends one request, unless the caller has withdrawn or `until` has passed: then nothing is sent and the failure says so.
boost::asio::awaitable<result<answer>> ask(api& server, const time_source& time, call what, deadline until);

/// The body of a read. An answer without one is a failure: an object that cannot be read is not acted on.
boost::asio::awaitable<result<nlohmann::json>> read(api& server, const time_source& time, std::string path, deadline until);

[[nodiscard]] inline bool is_gone(const failure& x) {
  return std::holds_alternative<already_gone>(x);
}

} // namespace paddock::k8s
