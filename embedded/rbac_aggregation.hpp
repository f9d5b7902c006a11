#pragma once

#include "embedded/store.hpp"

namespace paddock::embedded {

/// Writes the rules of every ClusterRole with an `aggregationRule` that are not those of the roles it selects, and of those that they
/// select in turn. What only roles that aggregate one another have is nobody's: a second call has nothing to write. Answers whether
/// anything was written.
bool aggregate_roles(store& objects);

} // namespace paddock::embedded
