#pragma once

#include "guest/flows/feature_cache.hpp"
#include "guest/flows/transport.hpp"

#include <boost/asio/awaitable.hpp>

namespace paddock::guest {

/// Whether a request may be sent to `where`: always, unless it is pinned and the guest does not advertise `pinned-guest`,
/// because such a guest would ignore the pin and serve ([G] 5.3, 18.7). `unsupported`, or what the probe failed with, then
/// proves that nothing but the probe was sent. An endpoint without a pin is not probed.
boost::asio::awaitable<result<void>> pinnable(flow_time& time, transport_options with, feature_cache& cache, endpoint where,
                                              deadline until);

} // namespace paddock::guest
