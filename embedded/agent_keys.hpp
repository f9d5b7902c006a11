#pragma once

namespace paddock::embedded::agent_keys {

// Labels and annotations of the agent-sandbox controllers ([C] 4.4).

inline constexpr auto name_hash = "agents.x-k8s.io/sandbox-name-hash";
inline constexpr auto template_hash = "agents.x-k8s.io/sandbox-template-ref-hash"; // of the template's name
inline constexpr auto pool_hash = "agents.x-k8s.io/warm-pool-sandbox";             // of the pool's name
inline constexpr auto pod_content = "agents.x-k8s.io/sandbox-pod-template-hash";
inline constexpr auto template_content = "agents.x-k8s.io/sandbox-template-hash";
inline constexpr auto launch_type = "agents.x-k8s.io/launch-type";
inline constexpr auto created_by = "agents.x-k8s.io/created-by";
inline constexpr auto claim_uid = "agents.x-k8s.io/claim-uid";
inline constexpr auto adoptable = "agents.x-k8s.io/adoptable";

inline constexpr auto pod_name = "agents.x-k8s.io/pod-name";
inline constexpr auto template_name = "agents.x-k8s.io/sandbox-template-ref";
inline constexpr auto sandbox_name = "agents.x-k8s.io/sandbox-name"; // on a claim: the Sandbox that it was given
inline constexpr auto first_observed = "agents.x-k8s.io/controller-first-observed-at";
inline constexpr auto first_ready = "agents.x-k8s.io/claim-first-ready-at";
inline constexpr auto propagated_labels = "agents.x-k8s.io/propagated-labels";
inline constexpr auto propagated_annotations = "agents.x-k8s.io/propagated-annotations";
inline constexpr auto safe_to_evict = "cluster-autoscaler.kubernetes.io/safe-to-evict";

} // namespace paddock::embedded::agent_keys
