#pragma once

#include "egress/manifests.hpp"

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::audit {

/// A kind of object that is looked for in files.
struct object_kind {
  std::string_view group; // empty: core
  std::string_view version;
  std::string_view kind;
  bool namespaced = true;
};

/// One that was found. The object stands in the manifests and lives as long.
struct found_object {
  egress::manifest_place place;
  std::string_view kind;
  std::string name_space; // empty: of none, or it says none
  std::string name;
  const nlohmann::json* object = nullptr;
};

struct found_objects {
  std::vector<found_object> all; // in the order of the files
  std::vector<egress::ignored_manifest> ignored;
};

/// The objects of these kinds; Lists are taken apart, and what is of another kind is listed. Refused: what is no object of Kubernetes,
/// one of these kinds in another version, and two of one kind, namespace and name; one without a namespace is in `name_space`.
[[nodiscard]] tl::expected<found_objects, egress::manifests_refused>
find_objects(const std::vector<egress::manifest>& in, std::span<const object_kind> kinds, std::string_view name_space);

} // namespace paddock::audit
