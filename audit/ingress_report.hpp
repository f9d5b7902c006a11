#pragma once

#include "audit/sources.hpp"
#include "egress/ingress.hpp"

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <optional>
#include <string>
#include <vector>

namespace paddock::audit {

/// Whether nobody but the host reaches the agent port of a pod.
struct ingress_report {
  std::optional<egress::egress_error> refused;
  std::vector<egress::ignored_manifest> ignored{}; // of files
};

/// Judges files as a server that held their objects. The pod must be closed by the policies of `engine`, and open by none of either
/// engine.
[[nodiscard]] tl::expected<ingress_report, egress::manifests_refused>
check_ingress_in(const std::vector<source>& files, egress::policy_engine engine, const egress::ingress_question& asked);

/// The commands that mend it; as with `fence_report`.
[[nodiscard]] std::vector<std::string> remedy_of(const ingress_report& x, const egress::ingress_question& asked);

/// `{closed, agentPort, reason?, message?, details?, mend?, ignored}`.
[[nodiscard]] nlohmann::json to_json(const ingress_report& x, const egress::ingress_question& asked);
[[nodiscard]] std::string to_text(const ingress_report& x, const egress::ingress_question& asked);

} // namespace paddock::audit
