#define CAF_SUITE planted

#include "tests/sim/simulation.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <set>
#include <string>

using namespace paddock::sim;

namespace {

constexpr std::uint64_t most_seeds = 2000;

/// The first seed that finds it; 0: none does.
std::uint64_t found_by(const planted_bug& bug) {
  for (std::uint64_t seed = 1; seed <= most_seeds; ++seed)
    if (!run_seed(seed, &bug).violations.empty())
      return seed;
  return 0;
}

} // namespace

SCENARIO("each planted bug is found") {
  auto names = std::set<std::string>{};
  for (const auto& bug : planted_bugs()) {
    const auto name = std::string{bug.name};
    CHECK(names.insert(name).second);
    const auto seed = found_by(bug);
    MESSAGE(name << " (" << std::string{bug.breaks} << "): seed " << seed);
    if (seed == 0)
      CAF_ERROR("no seed up to " << most_seeds << " finds " << name);
  }
  CHECK(names.size() >= 18);
}
