#include "workspace/lease.hpp"

#include <algorithm>
#include <cmath>

namespace paddock::workspace {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr auto longest = milliseconds{30'000};
constexpr auto shortest = milliseconds{1};
constexpr auto first_pause = milliseconds{1'000};
constexpr auto most_doublings = 5; // beyond which every pause is longer than the longest

milliseconds rounded(double ms) {
  return std::max(shortest, milliseconds{std::llround(ms)});
}

} // namespace

milliseconds jittered(milliseconds base, double chance) {
  return rounded(static_cast<double>(base.count()) * (0.9 + 0.2 * chance));
}

milliseconds renewal_interval(seconds lease) {
  return milliseconds{lease} / 2;
}

milliseconds renewal_bound(seconds lease) {
  return std::min(longest, rounded(static_cast<double>(renewal_interval(lease).count()) / 4));
}

milliseconds pause_after_failure(seconds lease, int failures) {
  const auto cap = std::clamp(milliseconds{lease} / 20, shortest, longest);
  return std::min(cap, first_pause * (1 << std::min(failures - 1, most_doublings)));
}

} // namespace paddock::workspace
