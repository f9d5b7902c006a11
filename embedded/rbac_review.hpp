#pragma once

#include "embedded/rbac_authorizer.hpp"

namespace paddock::embedded {

/// The answer to a SubjectAccessReview, a SelfSubjectAccessReview or a LocalSubjectAccessReview in `name_space`.
[[nodiscard]] api_result<json> review_access(const rbac_authorizer& rights, const user_info& who, const resource_kind& kind,
                                             const std::string& name_space, json review);

/// The answer to a SelfSubjectRulesReview: what the user may do in a namespace.
[[nodiscard]] api_result<json> review_rules(const rbac_authorizer& rights, const user_info& who, json review);

} // namespace paddock::embedded
