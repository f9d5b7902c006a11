#pragma once

#include "audit/sources.hpp"
#include "egress/fence.hpp"

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <optional>
#include <string>
#include <vector>

namespace paddock::audit {

/// Whether the fence bounds what a host writes for single sandboxes, and the permitted hosts can be read.
struct fence_report {
  std::optional<egress::egress_error> missing;     // the first that is not as it has to be
  std::vector<egress::ignored_manifest> ignored{}; // of files
};

/// Judges files as a server that held their objects.
[[nodiscard]] tl::expected<fence_report, egress::manifests_refused> check_fence_in(const std::vector<source>& files,
                                                                                   const egress::fence_question& asked);

/// The commands that mend it, in a clone of this repository. A line that begins with # says what is to be changed before.
[[nodiscard]] std::vector<std::string> remedy_of(const fence_report& x, const egress::fence_question& asked);

/// `{proved, objects, reason?, message?, details?, mend?, ignored}`.
[[nodiscard]] nlohmann::json to_json(const fence_report& x, const egress::fence_question& asked);
[[nodiscard]] std::string to_text(const fence_report& x, const egress::fence_question& asked);

} // namespace paddock::audit
