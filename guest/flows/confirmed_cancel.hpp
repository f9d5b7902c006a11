#pragma once

#include "guest/flows/transport.hpp"
#include "guest/host_replies.hpp"
#include "guest/host_work_replies.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace paddock::guest {

/// Cancels an execution until that is confirmed or the window of [G] 20.2 is spent, in attempts of at most `control`;
/// `judge` says what a reply means. Success: the process group is gone. Failure is what `judge` took for final, or
/// `cancellation_unknown`: the command may still be running. Throws `operation_aborted` when it is cancelled.
boost::asio::awaitable<result<acknowledgement>> confirmed_cancel(flow_time& time, transport_options with, endpoint where,
                                                                 std::string execution_id, cancel_judge judge);

} // namespace paddock::guest
