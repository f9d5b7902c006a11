#pragma once

#include "guest/flows/requests.hpp"
#include "guest/host_outcome.hpp"
#include "guest/host_requests.hpp"

namespace paddock::guest {

/// What one execution is about. The references live as long as the call.
struct execution_plan {
  endpoint where;
  command what;
  execution_form form;
  output_sink* output = nullptr;
  input_source* input = nullptr;             // fed as frames; null: none, or part of the form
  std::shared_ptr<execution_timing> spent{}; // added to when the execution ends; null: nobody asks
};

/// Reserves, executes and, when the caller withdraws, the time is up or the stream fails, cancels until that is confirmed
/// ([G] 20). The running coroutine must have `throw_if_cancelled(false)`. `began` is when the call began.
boost::asio::awaitable<result<execution>> run_execution(flow_time& time, transport_options with, execution_plan plan, deadline until,
                                                        time_source::clock::time_point began);

} // namespace paddock::guest
