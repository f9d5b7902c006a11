#pragma once

#include "workspace/failure.hpp"
#include "workspace/pod_template.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace paddock::workspace {

/// Whether a standing Sandbox is what the configuration would have made ([W] 3.1.3 step 4), in this order: the template
/// label, the labels that the configuration adds, the runtime class. Under `refreshing` all but the template label may
/// differ, because the refresh writes them. What the object has and the configuration does not ask for is not looked at.
[[nodiscard]] result<void> check_configuration(const nlohmann::json& sandbox, const std::string& sandbox_name, const overlay& wanted,
                                               bool refreshing);

/// The template that a standing Sandbox was built from; absent for an object that this layer did not make.
[[nodiscard]] std::optional<std::string> template_of(const nlohmann::json& sandbox);

} // namespace paddock::workspace
