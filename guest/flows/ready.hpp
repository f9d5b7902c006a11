#pragma once

#include "base/flows/sleep.hpp"
#include "guest/flows/host.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>

namespace paddock::guest {

/// Asks until the guest is ready ([G] 16.8), every `interval`, each time for at most 15 s. A guest of another version is
/// `protocol_failure` at once; when `timeout` passes first, `lost` names it and the last failure. A caller that is
/// cancelled gets `withdrawn`. `time` and `guest` outlive the call. The transitions of a workspace do not wait with this one yet.
boost::asio::awaitable<result<health>> wait_for_ready(flow_time& time, host& guest, endpoint where, std::chrono::milliseconds timeout,
                                                      std::chrono::milliseconds interval = std::chrono::milliseconds{50});

} // namespace paddock::guest
