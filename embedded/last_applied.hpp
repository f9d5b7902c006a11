#pragma once

#include "embedded/managed_fields.hpp"

namespace paddock::embedded {

/// Applies as `apply_fields` does. For the manager `kubectl`, whose client applied by itself once and left its configuration in an
/// annotation: fields that are as that configuration says are no conflict, and the annotation is kept up to date.
[[nodiscard]] api_result<applied> apply_as_kubectl(const resource_kind& kind, const json& live, const managed_fields& known,
                                                   const json& config, const field_author& who, bool force);

} // namespace paddock::embedded
