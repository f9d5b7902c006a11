#pragma once

#include "guest/flows/retained_sink.hpp"

#include <boost/asio/awaitable.hpp>

#include <memory>

namespace paddock::guest {

/// What one detached execution is about. The request has been checked, and the guest has `execution-attach`.
struct detached_plan {
  endpoint where;
  command what;
  bool leave = false;
  std::shared_ptr<observation> of;
};

/// [G] 19.1 from the reservation on. The running coroutine must have `throw_if_cancelled(false)`.
boost::asio::awaitable<result<attached_end>> run_detached(flow_time& time, transport_options with, work_options work, detached_plan plan,
                                                          deadline until);

/// The end of a run that was cancelled before anything started.
[[nodiscard]] attached_end never_started(const observation& of, std::optional<command_end> end);

} // namespace paddock::guest
