#pragma once

#include "egress/manifests.hpp"

#include <tl/expected.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::audit {

/// A text that was read, and what its file is called.
struct source {
  std::string name;
  std::string text;
};

/// The documents of all, in their order. In an object of a kind that is judged, in a List too, a scalar that YAML 1.1 and 1.2 read
/// differently refuses everything; elsewhere it does not matter.
[[nodiscard]] tl::expected<std::vector<egress::manifest>, egress::manifests_refused>
read_manifests(const std::vector<source>& all, std::span<const std::string_view> judged_kinds);

/// Moves each finding from the line of its document to that of what its path says.
void point_at_lines(std::vector<egress::manifest_finding>& findings, const std::vector<source>& all);

/// `a.yaml:12: is not YAML: …`
[[nodiscard]] std::string to_string(const egress::manifests_refused& x);

} // namespace paddock::audit
