#pragma once

#include "guest/flows/feature_cache.hpp"
#include "guest/flows/transport.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::guest {

/// What the guest of `where` advertises ([G] 16.8): remembered in `cache`, or asked for with one `healthz` within the
/// bound of a control request and `until`. A failure is not remembered and proves that nothing was started by asking: of a
/// caller that is cancelled it is `withdrawn`. A guest that is retiring is a failure, unless `where` is pinned: which guest it
/// is comes first, and only the guest can say. `cache` and `time` outlive the call.
boost::asio::awaitable<result<std::vector<std::string>>> features_of(flow_time& time, transport_options with, feature_cache& cache,
                                                                     endpoint where, deadline until);

[[nodiscard]] bool has_feature(const std::vector<std::string>& all, std::string_view wanted);

/// Why a pinned request must not be sent to a guest with the features `all`: it would ignore the pin and serve ([G] 18.7).
[[nodiscard]] std::optional<failure> lacks_pin(const endpoint& where, const std::vector<std::string>& all);

} // namespace paddock::guest
