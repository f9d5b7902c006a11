#define CAF_SUITE seeds

#include "tests/sim/simulation.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <algorithm>
#include <chrono>
#include <string>

using namespace paddock::sim;

namespace {

constexpr std::uint64_t seeds = 2000;
constexpr auto bound = std::chrono::minutes{5}; // on a machine that is busy with other things

bool answered_well(const outcome& x, const std::string& verb) {
  return std::ranges::any_of(x.history, [&](const auto& line) { return line.ends_with(verb + " is answered well"); });
}

} // namespace

SCENARIO("a seed is one history") {
  for (const std::uint64_t seed : {3u, 20u, 57u, 700u}) {
    const auto first = run_seed(seed);
    const auto second = run_seed(seed);
    CHECK(first.history.size() > 10);
    CHECK(first.history == second.history);
  }
  CHECK(run_seed(3).history != run_seed(20).history);
}

SCENARIO("every invariant holds in every run") {
  const auto start = std::chrono::steady_clock::now();
  auto seed = std::uint64_t{1};
  auto opened = std::uint64_t{0};
  auto suspended = std::uint64_t{0};
  for (; seed <= seeds && std::chrono::steady_clock::now() - start < bound; ++seed) {
    const auto got = run_seed(seed);
    opened += answered_well(got, " open") || answered_well(got, " resume");
    suspended += answered_well(got, " suspend");
    if (got.violations.empty())
      continue;
    for (const auto& line : got.history)
      MESSAGE(line);
    CAF_FAIL("seed " << seed << ": " << got.violations.front().invariant << ": " << got.violations.front().what
                     << " (once more: scripts/sim --from " << seed << " --seeds 1)");
  }
  MESSAGE(seed - 1 << " seeds, a session in " << opened << ", a suspend in " << suspended);
  // A world in which nothing succeeds breaks no promise.
  CHECK(opened > seed / 4);
  CHECK(suspended > seed / 8);
}
