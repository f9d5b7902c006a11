#pragma once

#include "embedded/rbac_authorizer.hpp"

namespace paddock::embedded {

/// Whether the user may write that role or binding: it must hold every right that it hands out, or the verb `escalate` on
/// the role, or `bind` on the role that is bound. `old` is null for a create. `what` is the request, already allowed.
/// Other kinds are never refused.
[[nodiscard]] api_result<void> check_grant(const rbac_authorizer& rights, const user_info& who, const access_attributes& what,
                                           const resource_kind& kind, const json& object, const json* old);

} // namespace paddock::embedded
