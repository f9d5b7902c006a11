#pragma once

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::egress {

// Objects in files, as they would stand in an API server.

/// Where an object stands.
struct manifest_place {
  std::string file;
  std::size_t line = 0; // of the document
  std::string item{};   // in a List: `items[3]`
};
[[nodiscard]] std::string to_string(const manifest_place& x); // `a.yaml:12 items[3]`

/// One document of a file.
struct manifest {
  manifest_place place;
  nlohmann::json object;
};

/// What is in the files besides what is looked for.
struct ignored_manifest {
  manifest_place place;
  std::string kind;
  std::string name; // may be empty
  std::string why;
};

/// What makes the files unfit: nothing of them is used.
struct manifests_refused {
  manifest_place place;
  std::string problem;
};

/// A kind of object that is looked for in files.
struct object_kind {
  std::string_view group; // empty: core
  std::string_view version;
  std::string_view kind;
  bool namespaced = true;
};

/// One that was found. The object stands in the manifests and lives as long.
struct found_object {
  manifest_place place;
  std::string_view kind;
  std::string name_space; // empty: of none
  std::string name;
  const nlohmann::json* object = nullptr;
};

struct found_objects {
  std::vector<found_object> all; // in the order of the files
  std::vector<ignored_manifest> ignored;
};

/// The objects of these kinds; Lists are taken apart, and what is of another kind is listed, with `why_not`. Refused: what is no object of
/// Kubernetes, one of these kinds in another version, and two of one kind, namespace and name; one without a namespace is in `name_space`.
[[nodiscard]] tl::expected<found_objects, manifests_refused> find_objects(const std::vector<manifest>& in,
                                                                          std::span<const object_kind> kinds, std::string_view name_space,
                                                                          std::string_view why_not = "not looked for");

} // namespace paddock::egress
