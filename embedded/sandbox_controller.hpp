#pragma once

#include "base/time.hpp"
#include "k8s/call.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace paddock::embedded {

/// What one pass over a Sandbox looks at ([C] 4.5-4.7).
struct sandbox_view {
  nlohmann::json sandbox;
  /// Every pod that the Sandbox controls, and the one of the name that its pod has or would have.
  std::vector<nlohmann::json> pods;
  std::optional<nlohmann::json> service;        // of the Sandbox's name
  std::map<std::string, nlohmann::json> claims; // of its volumeClaimTemplates, by name; absent ones are left out
};

/// One write on a child, or the annotation that names the pod.
struct sandbox_write {
  enum class of { claim, pod, annotation, service, sandbox };
  of what = of::pod;
  k8s::call call;
  friend bool operator==(const sandbox_write&, const sandbox_write&) = default;
};

/// What a pass does before it reports. `errors` are the reasons for which something was left undone: a name that is
/// taken by a stranger. They do not stop the writes.
struct sandbox_plan {
  std::vector<sandbox_write> writes; // in this order; an annotation is written only if the pod's write before it succeeded
  std::vector<std::string> errors;
  bool report = true;                               // false: the pass ends with the writes (an expired Sandbox that is deleted)
  std::optional<std::chrono::milliseconds> revisit; // look again after so long
};

/// The writes of one pass, decided from `seen` alone. A terminating Sandbox gets none and no report.
[[nodiscard]] sandbox_plan plan_sandbox(const sandbox_view& seen, time_source::wall_clock::time_point now);

/// `seen` after `write` was answered by `answer`: a created or patched child stands as answered; one whose DELETE was
/// answered stays as it was until its end is seen.
void apply_answer(sandbox_view& seen, const sandbox_write& write, const nlohmann::json& answer);

/// The merge patch of the Sandbox's status that reports `seen` with `errors`, or nothing when it already says so.
/// Conditions keep the order of their first appearance, `lastTransitionTime` moves only with `status`.
[[nodiscard]] std::optional<k8s::call> report_sandbox(const sandbox_view& seen, const std::vector<std::string>& errors,
                                                      time_source::wall_clock::time_point now);

/// The name of the Sandbox's pod: the annotation's, else its own.
[[nodiscard]] std::string pod_name_of(const nlohmann::json& sandbox);

/// Whether `pod` is controlled by `sandbox`, by uid.
[[nodiscard]] bool controls(const nlohmann::json& sandbox, const nlohmann::json& child);

} // namespace paddock::embedded
