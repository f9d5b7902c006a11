#pragma once

#include "egress/allowance.hpp"
#include "egress/members.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::egress {

/// Why a rule is not within an allowance.
enum class rule_reason : std::uint8_t {
  none,
  nothing_permitted, // the configuration permits no egress at all
  everywhere,        // no destination is named: every one is meant
  destination,       // an address block, or pods, beyond what is allowed, or on more ports
  entity,            // a Cilium entity
  host,              // a host name beyond the list, or on more ports or server names
  host_pattern,      // a pattern of host names
  dns_names,         // DNS of more names than the configuration's
  not_understood,    // nothing is known of what it allows
};
[[nodiscard]] std::string_view to_string(rule_reason x); // `host-pattern`

/// What one egress rule of a policy is to an allowance ([E] 3.9, 3.10).
struct rule_verdict {
  enum class answer : std::uint8_t { within, beyond, unknown };
  answer is = answer::within;
  rule_reason reason = rule_reason::none;
  unreadable where{}; // below the rule; `detail` is for people and follows the path in a sentence

  [[nodiscard]] static rule_verdict beyond(rule_reason why, std::string path, std::string detail);
  [[nodiscard]] static rule_verdict unknown(unreadable where);
};

/// The verdict is that of the first part, in the order of the specification, that is not within.
[[nodiscard]] rule_verdict judge_core_rule(const nlohmann::json& rule, const allowance& allowed);
/// `clusterwide`: of a policy that belongs to no namespace.
[[nodiscard]] rule_verdict judge_cilium_rule(const nlohmann::json& rule, const allowance& allowed, bool clusterwide = false);

} // namespace paddock::egress
