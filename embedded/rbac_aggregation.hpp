#pragma once

#include "embedded/store.hpp"

namespace paddock::embedded {

/// Writes the rules of every ClusterRole with an `aggregationRule` that are not those of the roles it selects. A role
/// selects at most what stood in the store before the call, so one that selects another that aggregates needs a second.
/// Answers whether anything was written.
bool aggregate_roles(store& objects);

} // namespace paddock::embedded
