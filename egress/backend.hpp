#pragma once

#include "egress/ingress.hpp"
#include "egress/policy_object.hpp"

#include <cstdint>

namespace paddock::egress {

/// What a backend is configured to. Lives as long as what is made over it.
struct backend {
  egress_config how;
  policy_object baseline; // what `how` means for the backend's own template: the object that an operator applies
  ingress_config ingress{};
  std::uint16_t agent_port = 1024;
};

} // namespace paddock::egress
