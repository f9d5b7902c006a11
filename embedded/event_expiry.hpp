#pragma once

#include "embedded/store.hpp"

namespace paddock::embedded {

/// Takes away Events that are older than an hour, as every API server does, and of more than 10,000 the oldest: at most 100, so that a
/// request does not wait long. True: there are more.
[[nodiscard]] bool expire_events(store& objects, store::instant now);

} // namespace paddock::embedded
