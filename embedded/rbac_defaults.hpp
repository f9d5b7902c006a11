#pragma once

#include "embedded/store.hpp"

namespace paddock::embedded {

/// Makes the roles and bindings that every cluster has (`cluster-admin`, `admin`, `edit`, `view`, `system:discovery` …), each
/// unless it exists, and fills in those that aggregate.
api_result<void> make_default_roles(store& objects, store::instant now);

} // namespace paddock::embedded
