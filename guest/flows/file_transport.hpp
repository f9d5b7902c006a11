#pragma once

#include "guest/flows/file_host.hpp"
#include "guest/flows/transport.hpp"

namespace paddock::guest {

/// The files of guests over real TCP. Whole files of guests without `read-file-stream`, listings and walks go through
/// `through`. Each call stays on the executor of its coroutine, which must be a strand or have one thread; any number may
/// run at once. `time` and `through` outlive it, and the calls do not. `take` and `next` must end when they are cancelled:
/// a call waits for them.
[[nodiscard]] std::unique_ptr<file_host> make_file_host(flow_time& time, host& through, transport_options with = {},
                                                        file_options files = {});

} // namespace paddock::guest
