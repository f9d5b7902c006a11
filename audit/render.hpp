#pragma once

#include "egress/per_sandbox_policy.hpp"
#include "egress/translate.hpp"

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::audit {

/// What the objects are made for.
struct render_question {
  egress::policy_target target;
  std::vector<std::string> resolved{};        // hosts of a policy of kind resolver
  std::vector<egress::policy_owner> owners{}; // of per-sandbox policies
  std::vector<std::string> granted{};         // the hosts of each of them
};

/// `[claim/]NAME=UID`: the Sandbox, or with `claim/` the SandboxClaim, for which a per-sandbox policy is written.
[[nodiscard]] tl::expected<egress::policy_owner, std::string> read_owner(std::string_view text);

/// The object that an operator applies, and behind it the policies that a host would write for the owners. Refused as the
/// configuration is; also where there are owners and no per-sandbox egress.
[[nodiscard]] egress::result<std::vector<egress::policy_object>> render(const egress::egress_config& config, const render_question& asked);

/// YAML documents, or one JSON document, which is a List where there are several objects.
[[nodiscard]] std::string to_yaml(const std::vector<egress::policy_object>& all);
[[nodiscard]] nlohmann::json to_json(const std::vector<egress::policy_object>& all);

} // namespace paddock::audit
