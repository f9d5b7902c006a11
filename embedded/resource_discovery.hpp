#pragma once

#include "embedded/resource.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <span>
#include <string>

namespace paddock::embedded {

/// What the server says about the kinds it serves: `/api`, `/apis`, `/apis/GROUP`, `/api/v1` and `/apis/GROUP/VERSION`; also
/// `/openapi/v3` and what it points to, which names each kind's PATCH and its parameters (kubectl looks there whether the
/// server checks fields itself) and describes no schema.
/// Nothing: another path.
[[nodiscard]] std::optional<nlohmann::ordered_json> discover(std::span<const std::string> segments);

} // namespace paddock::embedded
