#pragma once

#include "egress/egress_config.hpp"
#include "egress/members.hpp"

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::egress {

/// Whether a selector chooses a pod ([E] 3.5).
struct selection {
  enum class answer : std::uint8_t { no, yes, unknown };
  answer is = answer::no;
  unreadable why{}; // of `unknown`: where below the selector
};

/// A label selector of Kubernetes against the labels of a pod; null, empty or absent (a null pointer) it chooses every pod.
[[nodiscard]] selection selects(const nlohmann::json* selector, const label_map& pod);

/// A Cilium selector against the labels of a pod and its namespace. Keys that Cilium overwrites or ignores make it unknown
/// ([E] H8): the namespace of other pods, and the labels that follow from a service account or a namespace.
[[nodiscard]] selection selects_in_cilium(const nlohmann::json* selector, const label_map& pod, std::string_view name_space);

/// The key of a label without its source; nothing where the source is neither `k8s` nor `any` ([E] 3.5).
[[nodiscard]] std::optional<std::string_view> cilium_key(std::string_view key);

inline constexpr std::string_view cilium_namespace_key = "io.kubernetes.pod.namespace";
/// Whether Cilium makes the label up itself, and not from the pod's; the namespace's name apart.
[[nodiscard]] bool is_derived_key(std::string_view key);

/// A selector that chooses other pods, as what it demands of them. Keys and values stand in the object that was read.
struct label_demands {
  std::vector<std::pair<std::string_view, std::string_view>> labels; // sorted
  const nlohmann::json* expressions = nullptr;                       // a list, or null
};
[[nodiscard]] tl::expected<label_demands, unreadable> read_demands(const nlohmann::json& selector);

/// Whether what `inner` chooses is proved to be a part of what `outer` chooses ([E] 3.9.1). Nothing demanded at all is
/// absent; an absent `outer` chooses everything, an absent `inner` is a part of nothing less.
[[nodiscard]] bool is_narrower(const std::optional<label_demands>& outer, const std::optional<label_demands>& inner);

} // namespace paddock::egress
