#pragma once

#include "k8s/flows/api.hpp"

namespace paddock::egress {

/// What the flows act on. Lives as long as the program.
struct cluster {
  k8s::api& api;
  const time_source& time;
};

} // namespace paddock::egress
