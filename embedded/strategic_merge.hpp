#pragma once

#include "embedded/status.hpp"
#include "embedded/type_schema.hpp"

namespace paddock::embedded {

/// A strategic merge patch applied to an object of a built-in type, all or nothing. Beyond RFC 7386: lists whose type says so are
/// merged, by the merge key of their items or by value; the directives `$patch` (replace, delete, merge), `$retainKeys`,
/// `$deleteFromPrimitiveList/FIELD` and `$setElementOrder/FIELD`.
[[nodiscard]] api_result<json> apply_strategic_merge(const type_schema& schema, json object, const json& patch);

} // namespace paddock::embedded
