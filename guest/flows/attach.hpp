#pragma once

#include "guest/flows/retained_sink.hpp"

#include <boost/asio/awaitable.hpp>

#include <memory>

namespace paddock::guest {

/// The request and the stream of one attach at the cursor of `of`.
[[nodiscard]] result<framed_stream> attach_stream(const endpoint& where, const observation& of);

/// `log_sink::enough` as a child.
boost::asio::awaitable<bool> until_enough(log_sink* of);

/// Stopped observing and did not cancel.
[[nodiscard]] failure detached_at(const observation& of, std::string text);

/// One attach ([G] 19.2), until the execution ends, `until` passes or the caller is cancelled, which stops the observing
/// only: `execution_detached`, as when the connection is lost after it had been attached. The running coroutine must have
/// `throw_if_cancelled(false)`.
boost::asio::awaitable<result<attached_end>> run_attach(flow_time& time, transport_options with, endpoint where,
                                                        std::shared_ptr<observation> of, deadline until);

} // namespace paddock::guest
