#define CAF_SUITE planted

#include "tests/sim/simulation.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <algorithm>
#include <set>
#include <string>

using namespace paddock::sim;

namespace {

constexpr std::uint64_t most_seeds = 2000;

/// The first seed that finds it by the invariant it names; 0: none does.
std::uint64_t found_by(const planted_bug& bug) {
  for (std::uint64_t seed = 1; seed <= most_seeds; ++seed) {
    const auto got = run_seed(seed, &bug);
    if (std::ranges::find(got.violations, bug.shows, &violation::invariant) != got.violations.end())
      return seed;
  }
  return 0;
}

} // namespace

SCENARIO("each planted bug is found by the invariant that it breaks") {
  auto names = std::set<std::string>{};
  for (const auto& bug : planted_bugs()) {
    const auto name = std::string{bug.name};
    CHECK(names.insert(name).second);
    const auto seed = found_by(bug);
    MESSAGE(name << " (" << std::string{bug.breaks} << "): seed " << seed);
    if (seed == 0)
      CAF_ERROR("no seed up to " << most_seeds << " finds " << name << " by '" << std::string{bug.shows} << "'");
  }
  CHECK(names.size() >= 35);
}
