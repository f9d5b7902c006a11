#pragma once

#include "egress/ingress.hpp"
#include "egress/policy_object.hpp"

#include <cstdint>
#include <string>

namespace paddock::egress {

/// What a backend is configured to. Lives as long as what is made over it.
struct backend {
  egress_config how;
  policy_object baseline; // what `how` means for the backend's own template: the object that an operator applies
  ingress_config ingress{};
  std::uint16_t agent_port = 1024;
};

/// One that is configured to nothing of egress: who reaches the agent port is all that is verified.
struct ingress_backend {
  std::string name_space;
  ingress_config ingress{};
  std::uint16_t agent_port = 1024;
};

} // namespace paddock::egress
