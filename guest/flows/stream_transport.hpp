#pragma once

#include "guest/flows/stream_host.hpp"
#include "guest/flows/transport.hpp"

#include <memory>

namespace paddock::guest {

/// Terminals, sessions and connections to the guest's loopback, over real TCP ([G] 8-11, 17.4, 17.5, 19.4). The features of a
/// guest are asked for once an endpoint, before its first terminal or session; a failure to do so is the failure of the
/// open. Each stream stays on the executor of the coroutine that opened it, which must be a strand or have one thread.
/// `time` and the executors outlive the host and its streams; the streams may outlive the host, the opens may not.
///
/// With a guest that has `stream-bytes`, terminals and sessions carry bytes. With any other they carry text: output that was not
/// UTF-8 has U+FFFD in it, and so has input; a character that two writes share arrives whole.
[[nodiscard]] std::unique_ptr<stream_host> make_stream_host(flow_time& time, transport_options transport = {}, stream_options streams = {});

} // namespace paddock::guest
