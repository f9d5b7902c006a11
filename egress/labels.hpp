#pragma once

#include "egress/errors.hpp"

#include <string>
#include <string_view>

namespace paddock::egress {

// The labels that this host asks for on a pod, and what they may be ([E] 1.4, 2.1, 5.8).

/// A DNS-1123 label of at most 63 characters.
[[nodiscard]] bool is_profile(std::string_view text);

/// `name` or `prefix/name`, as a label key is written.
[[nodiscard]] bool is_label_key(std::string_view text);

/// All labels that a pod is asked to carry: that of the profile, if any, and `extra`. Refused when `extra` names the
/// profile's key. The template label is not among them: a claim's template carries it, and whoever creates a Sandbox sets it.
[[nodiscard]] result<label_map> pod_labels(const egress_config& config, const label_map& extra);

/// What the policy that the configuration means selects by: the template and, if any, the profile.
[[nodiscard]] label_map selected_labels(const egress_config& config, const std::string& template_name);

/// The label by which a per-sandbox policy selects the pod of `object_name`; none where per-sandbox egress is off.
[[nodiscard]] label_map per_sandbox_labels(const egress_config& config, const std::string& object_name);

/// `labels` without the per-sandbox one: what the configuration alone is judged by.
[[nodiscard]] label_map without_per_sandbox_label(const egress_config& config, label_map labels);

/// The name of the object that an operator applies: the configured one, or that of the template and the profile with `-egress`.
/// Refused when a profile makes it longer than a name may be.
[[nodiscard]] result<std::string> named_object_name(const egress_config& config, const std::string& template_name);

} // namespace paddock::egress
