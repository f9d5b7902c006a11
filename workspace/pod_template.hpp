#pragma once

#include "workspace/failure.hpp"
#include "workspace/settings.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace paddock::workspace {

/// The label of a workspace's pods that names the template it is built from ([W] 1.3).
inline constexpr const char* template_label = "sandbox.namzu.ai/template";

/// What is laid over a template's pod template ([W] 1.5). `labels` holds what the configuration adds beyond the template
/// label: that of the egress profile and the per-sandbox one.
struct overlay {
  std::string template_name;
  std::optional<std::string> runtime_class;
  egress::label_map labels;
  std::optional<std::pair<std::string, std::string>> egress_profile{}; // among the labels, as the next
  std::optional<std::pair<std::string, std::string>> per_sandbox{};
};

/// The overlay of the workspace `which` when it is made from `template_name` under `how`.
[[nodiscard]] overlay overlay_of(const settings& how, const id& which, std::string template_name);

/// `pod_template` under `what`. Members that are not understood are carried through. The same object goes into the create
/// body, into a refresh patch and into the hash.
[[nodiscard]] nlohmann::json lay_over(const nlohmann::json& pod_template, const overlay& what);

/// The labels that a pod of this pod template carries. What is no text is none.
[[nodiscard]] egress::label_map labels_of(const nlohmann::json& pod_template);

/// `sha256:` and 64 hex digits over the canonical form of an overlaid pod template ([W] 1.6).
[[nodiscard]] std::string hash_of(const nlohmann::json& overlaid);

/// A SandboxTemplate as this layer uses it.
struct usable_template {
  nlohmann::json pod_template; // overlaid
  std::string hash;
  nlohmann::json claims; // volumeClaimTemplates, verbatim; null where there are none
};

/// Reads a SandboxTemplate and lays `what` over it. Fails with `template_unusable` when it has no pod spec. Says nothing
/// about its disks: `disks.hpp` does.
[[nodiscard]] result<usable_template> read_template(const nlohmann::json& object, const overlay& what);

/// The body of the POST that creates a Sandbox ([W] 1.7). Without an epoch the object carries the hash alone.
[[nodiscard]] nlohmann::json create_body(const std::string& name, const std::string& name_space, const usable_template& from,
                                         std::optional<std::uint64_t> epoch);

} // namespace paddock::workspace
