#pragma once

#include "audit/sources.hpp"
#include "egress/manifests.hpp"
#include "egress/policy_object.hpp"

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <optional>
#include <string>
#include <vector>

namespace paddock::audit {

/// What of a pod's egress is asked.
struct egress_question {
  egress::policy_object named; // what the configuration means
  egress::judged_pod pod;
};

/// Whether the named object is applied, and whether all policies that select the pod stay within what it allows.
struct egress_report {
  egress::manifests_verdict judged;              // of a cluster without places
  std::vector<egress::unread_collection> unread; // of a cluster

  [[nodiscard]] bool within() const {
    return unread.empty() && judged.within();
  }
};

/// Judges files as a server that held their objects ([E] 3.12.1). Each finding has the line of what its path says.
[[nodiscard]] tl::expected<egress_report, egress::manifests_refused> judge_files(const std::vector<source>& files,
                                                                                 const egress_question& asked);

/// The error that a host would end with; nothing where the report is within.
[[nodiscard]] std::optional<egress::egress_error> refusal_of(const egress_report& x, const egress_question& asked);

/// `{within, named, difference?, union, findings, examined, unread, ignored}`.
[[nodiscard]] nlohmann::json to_json(const egress_report& x);
/// A line each for the verdict, the named object, and every finding and ignored document.
[[nodiscard]] std::string to_text(const egress_report& x, const egress_question& asked);

} // namespace paddock::audit
