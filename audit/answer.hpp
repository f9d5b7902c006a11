#pragma once

#include "egress/errors.hpp"
#include "egress/manifest_objects.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace paddock::audit {

// What the reports have in common.

/// The namespace that the files in deploy/egress are written for.
inline constexpr std::string_view shipped_namespace = "namzu-sandboxes";

/// What of a file in deploy/egress is another in this configuration; nothing where both are the same.
struct adaptation {
  std::string shipped;
  std::string wanted;
};
/// The command that applies the file, behind a line with # for each change that is to be made before.
[[nodiscard]] std::vector<std::string> apply_shipped(const std::string& file, const std::vector<adaptation>& all);

/// A row `{file, line, kind, name, reason}` for each.
[[nodiscard]] nlohmann::json to_json(const std::vector<egress::ignored_manifest>& all);

/// Adds `reason`, `message`, `details` and `mend`.
void add_refusal(nlohmann::json& to, const egress::egress_error& why, const std::vector<std::string>& remedy);
/// Appends a line for each that is ignored and for each command.
void append_lines(std::string& to, const std::vector<egress::ignored_manifest>& ignored, const std::vector<std::string>& remedy);

} // namespace paddock::audit
