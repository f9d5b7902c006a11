#pragma once

#include "embedded/store.hpp"

#include <optional>
#include <span>
#include <string>

namespace paddock::embedded {

/// `/openapi/v3` and the documents that it points to, one for each group and version. They name each kind's PATCH and its parameters
/// (kubectl looks there whether the server checks fields itself) and describe no schema. Nothing: another path.
[[nodiscard]] std::optional<nlohmann::ordered_json> openapi_document(std::span<const std::string> segments, const store& objects);

} // namespace paddock::embedded
