#define CAF_SUITE seeds

#include "tests/sim/simulation.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace paddock::sim;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t seeds = 500; // each takes several times as long
#else
constexpr std::uint64_t seeds = 2000;
#endif

/// Something that hosts are asked for, by how its name begins.
struct asked {
  std::string name;
  std::uint64_t one_in; // it is answered well in one run of so many at least
  std::uint64_t runs = 0;
};

bool answered_well(const outcome& x, const std::string& name) {
  return std::ranges::any_of(
    x.history, [&](const auto& line) { return line.ends_with(" is answered well") && line.find(" " + name) != std::string::npos; });
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
  auto all = std::vector<asked>{{"open", 4}, {"resume", 8}, {"suspend", 8}, {"remove", 8}, {"command-", 16}, {"pinned-", 32}};
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto got = run_seed(seed);
    for (auto& x : all)
      x.runs += answered_well(got, x.name);
    if (got.violations.empty())
      continue;
    for (const auto& line : got.history)
      MESSAGE(line);
    CAF_FAIL("seed " << seed << ": " << got.violations.front().invariant << ": " << got.violations.front().what
                     << " (once more: scripts/sim --from " << seed << " --seeds 1)");
  }
  // A world in which nothing succeeds breaks no promise.
  for (const auto& x : all) {
    MESSAGE(x.name << " was answered well in " << x.runs << " of " << seeds << " seeds");
    CHECK(x.runs > seeds / x.one_in);
  }
}
