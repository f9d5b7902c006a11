#pragma once

#include "egress/errors.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace paddock::egress {

/// Whether a narrowing may change anything: what cannot be read counts as active, so that it is refused and not passed over.
[[nodiscard]] bool may_be_active(const nlohmann::json& object);

/// Refuses a narrowing that is no object or has members that are not known.
[[nodiscard]] result<void> check_narrowing_members(const nlohmann::json& object, const std::string& field);

/// Reads a narrowing and checks it ([E] 1.5). `field` is its path below `config.egress`.
[[nodiscard]] result<narrowing> read_narrowing(const nlohmann::json& object, const std::string& field);

} // namespace paddock::egress
