#pragma once

#include "embedded/pod_request.hpp"

namespace paddock::embedded {

/// The environment of one container: `envFrom` in order, then `env`, with `$(NAME)` expanded. The text of a failure names the
/// variable and what it takes that is not known here or does not exist.
[[nodiscard]] tl::expected<std::vector<std::pair<std::string, std::string>>, std::string>
container_environment(const nlohmann::json& pod, const nlohmann::json& container, const pod_place& where, const data_lookup& look);

} // namespace paddock::embedded
