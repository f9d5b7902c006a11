#pragma once

#include "embedded/store.hpp"

namespace paddock::embedded {

/// Gives the store the CustomResourceDefinitions of the custom kinds that are served: established, with the one version that is
/// served here.
void hold_definitions(store& objects, store::instant now);

} // namespace paddock::embedded
