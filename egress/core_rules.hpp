#pragma once

#include "egress/policy_object.hpp"

#include <string>

namespace paddock::egress {

/// The NetworkPolicy of a kind that lists no hosts ([E] 2.2-2.5). Verification compares it exactly: what is composed here is
/// what operators have applied.
/// @pre `policy` is none of `static` and `resolver`
[[nodiscard]] policy_object compose(const egress_policy& policy, std::string name_space, std::string name, const label_map& selects);

} // namespace paddock::egress
