#pragma once

#include "guest/agent/core.hpp"
#include "guest/quiesce.hpp"

#include <boost/asio/awaitable.hpp>
#include <tl/expected.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace paddock::guest {

struct quiesce_result {
  std::uint64_t rounds = 0;
  std::vector<quiesce_rounds::stopped_process> stopped;
};

/// What a quiesce would stop now. A failure says why the process table cannot be read.
[[nodiscard]] boost::asio::awaitable<tl::expected<std::vector<proc_stat>, std::string>> find_candidates(std::shared_ptr<agent_core> core);

/// The rounds of [G] 12.4, then the wait for what is known of executions and sessions to settle. The gate is up, and is
/// left as it is. A failure says which process is left, or what could not be read.
[[nodiscard]] boost::asio::awaitable<tl::expected<quiesce_result, std::string>>
stop_everything(std::shared_ptr<agent_core> core, std::chrono::milliseconds grace, std::chrono::steady_clock::time_point deadline);

} // namespace paddock::guest
