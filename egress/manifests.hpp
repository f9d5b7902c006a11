#pragma once

#include "egress/manifest_objects.hpp"
#include "egress/union_check.hpp"

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paddock::egress {

// Policies from files, judged without a cluster ([E] 3.12.1).

struct manifest_finding {
  manifest_place place;
  finding what;
};

/// The named object among the manifests ([E] 3.2).
struct named_manifest {
  enum class state : std::uint8_t { applied, not_applied, drifted };
  state is = state::not_applied;
  std::optional<std::string> difference; // of `drifted`
};
[[nodiscard]] std::string_view to_string(named_manifest::state x); // `not-applied`

struct manifests_verdict {
  named_manifest named;
  std::optional<union_refused::cause> refusal; // of the union check; nothing: it passes
  std::vector<examined_policy<egress_verdict>> examined;
  std::vector<manifest_finding> findings;
  std::vector<ignored_manifest> ignored;

  /// The named object is applied as it is configured, and the union check passes.
  [[nodiscard]] bool within() const {
    return named.is == named_manifest::state::applied && !refusal;
  }
};

/// Judges what an API server would hold if it held these objects. Both engines' policies count whatever the configuration's engine.
/// Without a namespace an object is in the pod's. Lists are taken apart.
[[nodiscard]] tl::expected<manifests_verdict, manifests_refused> judge_manifests(const std::vector<manifest>& all, allowance allowed,
                                                                                 judged_pod pod);

} // namespace paddock::egress
