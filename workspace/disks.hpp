#pragma once

#include "workspace/failure.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace paddock::workspace {

/// The block-disk rule ([W] 1.9): there is at least one claim, every claim is named and of mode `Block`, no container mounts
/// it as a file system, and some container or init container has it as a device. `source` says in the failure what was
/// inspected. A pod spec of an unexpected shape names no disk.
[[nodiscard]] result<void> check_block_disks(const nlohmann::json& claims, const nlohmann::json& pod_template, const std::string& source);

/// The same-disks rule of a refresh ([W] 1.9): the template declares no claim that the Sandbox lacks.
[[nodiscard]] result<void> check_same_disks(const nlohmann::json& of_template, const nlohmann::json& of_sandbox, const std::string& source);

/// Both rules for a refresh of a Sandbox with the claims `of_sandbox` from a template, the same disks first.
[[nodiscard]] result<void> check_refreshed_disks(const nlohmann::json& of_template, const nlohmann::json& pod_template,
                                                 const nlohmann::json& of_sandbox, const std::string& source);

[[nodiscard]] std::string template_source(const std::string& template_name, const std::string& name_space);
[[nodiscard]] std::string sandbox_source(const std::string& sandbox_name, const std::string& name_space);
[[nodiscard]] std::string refresh_source(const std::string& template_name, const std::string& name_space, const std::string& sandbox_name);

} // namespace paddock::workspace
