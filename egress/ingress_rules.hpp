#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace paddock::egress {

/// What one ingress rule does to a port ([E] 6.2): it admits everyone, it does not, or nobody can tell.
struct ingress_rule {
  enum class effect : std::uint8_t { closed, open, unknown };
  effect is = effect::closed;
  std::string detail; // of the other two: why, and where below the rule
};

[[nodiscard]] ingress_rule judge_core_ingress(const nlohmann::json& rule, std::uint16_t agent_port);
[[nodiscard]] ingress_rule judge_cilium_ingress(const nlohmann::json& rule, std::uint16_t agent_port);

} // namespace paddock::egress
