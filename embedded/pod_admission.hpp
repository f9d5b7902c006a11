#pragma once

#include "embedded/object.hpp"

namespace paddock::embedded {

/// What the API server adds to a new pod that has its defaults: how long it bears a node that is not ready or cannot be reached, requests
/// where there are limits only, its priority, and the class of its resources. A later write is held against these, so they are never filled
/// in again.
void complete_pod(json& pod);

} // namespace paddock::embedded
