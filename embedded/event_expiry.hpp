#pragma once

#include "embedded/store.hpp"

namespace paddock::embedded {

/// Takes away the Events that are older than an hour, as every API server does.
void expire_events(store& objects, store::instant now);

} // namespace paddock::embedded
