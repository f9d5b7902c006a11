#pragma once

#include "embedded/admission_policies.hpp"

namespace paddock::embedded {

/// What the expressions of a policy look at. Null stands for null.
struct policy_input {
  const json& request;
  const json* object = nullptr;
  const json* old = nullptr;
  const json* params = nullptr;
  const json* name_space = nullptr;
};

/// One validation that does not hold, or cannot be evaluated.
struct policy_verdict {
  std::string message;
  std::string reason; // empty: Invalid
};

/// How many steps the expressions of one policy may take for one write, whatever number of bindings and parameters it is asked under.
inline constexpr std::int64_t policy_cost = 1'000'000;

/// `request` as policies see it.
[[nodiscard]] json request_of(const admission_request& what, const std::string& name);

/// Why the write is not admitted, in the order of the validations; none: it is, or the policy is not about it. What cannot
/// be evaluated counts against the write unless the policy ignores failures; so does all that is left once `cost` is used up.
[[nodiscard]] std::vector<policy_verdict> evaluate_policy(const admission_policy& policy, const policy_input& input, cel::budget& cost);

} // namespace paddock::embedded
