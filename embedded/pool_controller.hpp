#pragma once

#include "base/time.hpp"
#include "k8s/call.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace paddock::embedded {

/// What one pass over a SandboxWarmPool looks at.
struct pool_view {
  nlohmann::json pool;
  std::optional<nlohmann::json> sandbox_template; // that it names
  std::vector<nlohmann::json> members;            // the Sandboxes that it controls
};

struct pool_plan {
  std::vector<k8s::call> writes;
  std::optional<k8s::call> report;                  // the patch of the pool's status; absent: it says so already
  std::optional<std::chrono::milliseconds> revisit; // a member may have to be replaced then
  std::string fault;                                // why no member can be made; empty: they can
};

/// How many members one pass makes; more are the next one's.
inline constexpr std::size_t most_new_members = 100;

/// One pass ([C] 4.9): outdated members of a pool that recreates go, members that were not ready for five minutes go unless no
/// node takes them, then the number is brought to `replicas`: of too many the ones not ready go first, then the newest; too few
/// counts terminating ones as there, and a pass makes a hundred at most. The status says what was seen before. None for a terminating pool.
[[nodiscard]] pool_plan plan_pool(const pool_view& seen, time_source::wall_clock::time_point now);

} // namespace paddock::embedded
