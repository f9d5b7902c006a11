#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace paddock {

/// The canonical text of `value` that the pod-template hash is taken over ([W] 1.6): compact, members sorted by key in
/// UTF-16 code-unit order with array-index keys ("0", "10") first in numeric order, numbers in the shortest form that
/// reads back as the same double, `-0` as `0`, only `"`, `\` and U+0000-U+001F escaped. Strings must be UTF-8; an
/// ill-formed one becomes U+FFFD as it would in the reference runtime.
[[nodiscard]] std::string canonical_json(const nlohmann::json& value);

} // namespace paddock
