#pragma once

#include "tests/sim/judge.hpp"
#include "tests/sim/planted.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace paddock::sim {

/// What a run came to. The same seed and bug give the same outcome, to the last line of the history.
struct outcome {
  std::vector<violation> violations;
  std::vector<std::string> history;
};

/// Runs one seed to its end. `bug`: null is the code as it is.
[[nodiscard]] outcome run_seed(std::uint64_t seed, const planted_bug* bug = nullptr);

} // namespace paddock::sim
