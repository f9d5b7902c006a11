#include "embedded/claim_protection.hpp"

#include "embedded/garbage_collector.hpp"
#include "embedded/pod_facts.hpp"

#include <algorithm>

namespace paddock::embedded {

std::optional<k8s::call> protect_claim(const nlohmann::json& claim) {
  auto finalizers = value_in(claim, "/metadata/finalizers");
  if (!finalizers.is_array())
    finalizers = nlohmann::json::array();
  auto path = path_of(claim);
  if (terminating(claim) || !path || std::find(finalizers.begin(), finalizers.end(), nlohmann::json(claim_protection)) != finalizers.end())
    return std::nullopt;
  finalizers.push_back(claim_protection);
  auto metadata = nlohmann::json{{"uid", uid_of(claim)}, {"resourceVersion", text_in(claim, "/metadata/resourceVersion")}};
  metadata["finalizers"] = finalizers;
  return k8s::merge_patch(*path, nlohmann::json{{"metadata", metadata}});
}

std::optional<k8s::call> release_claim(const nlohmann::json& claim, const std::vector<nlohmann::json>& pods) {
  for (const auto& pod : pods) {
    auto used = claims_of(pod);
    // An ended pod holds no disk, and one without a node has none yet.
    if (namespace_of(pod) == namespace_of(claim) && !ended(pod) && !text_in(pod, "/spec/nodeName").empty()
        && std::find(used.begin(), used.end(), name_of(claim)) != used.end())
      return std::nullopt;
  }
  return without_finalizer(claim, claim_protection);
}

} // namespace paddock::embedded
