#pragma once

#include <chrono>

namespace paddock::workspace {

// When the lease of a task sandbox is renewed ([C] 3.12). `chance` is uniform in [0, 1).

/// `base`, give or take a tenth; at least 1 ms.
[[nodiscard]] std::chrono::milliseconds jittered(std::chrono::milliseconds base, double chance);

/// Between two renewals that went well.
[[nodiscard]] std::chrono::milliseconds renewal_interval(std::chrono::seconds lease);

/// How long one renewal may take.
[[nodiscard]] std::chrono::milliseconds renewal_bound(std::chrono::seconds lease);

/// After so many renewals in a row that failed. @pre `failures` is at least 1
[[nodiscard]] std::chrono::milliseconds pause_after_failure(std::chrono::seconds lease, int failures);

} // namespace paddock::workspace
