#pragma once

#include "egress/per_sandbox_write.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paddock::egress {

// What the policy of one owner is meant to be, and what stands instead ([W] P8).

struct meant_policy {
  std::vector<std::string> allowed_hosts; // in lower case; none: there is to be no policy
  std::optional<policy_object> object{};  // of `allowed_hosts`, where there are any
};

/// What a call for these hosts means. One bad entry refuses it ([E] 5.4, steps 1 and 2); nothing is sent to find out.
[[nodiscard]] result<meant_policy> meaning_of(const grant_target& whose, const std::vector<std::string>& allowed_hosts);

/// What stands under the owner's name.
struct standing_policy {
  enum class verdict : std::uint8_t { as_meant, differs, never_meant };
  verdict is = verdict::as_meant;
  std::string text{}; // of `differs`: what does; for people
};

/// Compares what stands with what was last meant. While nothing was meant, any object is `never_meant`: who wrote it is not known.
[[nodiscard]] standing_policy judge_standing(const std::optional<meant_policy>& meant, const std::optional<nlohmann::json>& live);

/// The entries of a call that would let a pod reach the hosts which this policy names.
[[nodiscard]] std::vector<std::string> hosts_of(const nlohmann::json& policy);

} // namespace paddock::egress
