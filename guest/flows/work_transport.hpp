#pragma once

#include "guest/flows/transport.hpp"
#include "guest/flows/work_host.hpp"

#include <memory>

namespace paddock::guest {

/// The work of a host over real TCP, as `make_host` is for the plain calls: a fresh connection a request, and each call on
/// the executor of its coroutine. The features of a guest are asked for with a probe and remembered. A call that is
/// cancelled ends as `withdrawn` when no connection had been established and as `lost` otherwise, but where `work_host`
/// says more. A guest with `exec-bytes` is asked for raw output; of any other the end is `lossy`. `time` outlives it; the calls do
/// not.
[[nodiscard]] std::unique_ptr<work_host> make_work_host(flow_time& time, transport_options options = {}, work_options work = {});

} // namespace paddock::guest
