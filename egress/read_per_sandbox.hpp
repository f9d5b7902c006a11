#pragma once

#include "egress/errors.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace paddock::egress {

/// Reads `config.egress.perSandbox` and checks it in the order of [E] 1.6. `profile_key` is the key under which the profile is
/// written, where there is one.
[[nodiscard]] result<per_sandbox_egress> read_per_sandbox(const nlohmann::json& object, const std::optional<std::string>& profile_key);

} // namespace paddock::egress
