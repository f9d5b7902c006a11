#pragma once

#include "base/time.hpp"
#include "k8s/call.hpp"
#include "k8s/failure.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>

namespace paddock::k8s {

/// A successful answer's body; nothing for 204, an empty body or one that is not JSON ([C] 2.4).
using answer = std::optional<nlohmann::json>;

/// The API server as flows see it. One `send` is one HTTP request, or none. Only a GET may go out a second time, and no request
/// a third for the same reason: when the connection was a reused one and ended before any byte of the answer, and when a 401
/// made a credential plug-in give another credential. Whatever else was sent is never sent again: where its answer is lost,
/// its outcome is unknown. No redirect and no `continue` is followed. Tests script their own (tests/support/scripted_api.hpp);
/// `k8s/flows/api_client.hpp` is the real one.
class api {
public:
  virtual ~api() = default;
  /// Over by `until`, and within the client's own bound per request, whichever comes first. A coroutine cancelled by its
  /// caller ends as `cancelled`.
  virtual boost::asio::awaitable<result<answer>> send(call what, deadline until) = 0;
};

} // namespace paddock::k8s
