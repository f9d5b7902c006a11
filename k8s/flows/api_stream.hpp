#pragma once

#include "k8s/flows/api.hpp"

#include <functional>
#include <string_view>

namespace paddock::k8s {

/// An API server that can also be watched.
class streaming_api : public api {
public:
  /// A GET whose 2xx answer goes to `on_bytes` piece by piece, on the lane of the caller; when that answers false the
  /// connection is closed and the call ends well. Over by `until`; without a byte for `silence` it ends as `api_timeout`. The
  /// client's bound per request is that of its credential only.
  virtual boost::asio::awaitable<result<void>> stream(call what, std::function<bool(std::string_view)> on_bytes,
                                                      time_source::clock::duration silence, deadline until) = 0;
};

} // namespace paddock::k8s
