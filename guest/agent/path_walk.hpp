#pragma once

#include "guest/agent/confine.hpp"

#include <tl/expected.hpp>

#include <string>

namespace paddock::guest {

struct path_walk_failure {
  bool escapes = false;
  int error = 0; // an errno value, unless it escapes
  const char* call = "open";
};

/// Resolves `below` from the directory `root` component by component, and no component is ever followed by the kernel. A
/// link is read and its text resolved here: what is outside the root is compared by its text alone and never touched, and
/// a path that comes back to the root by its real path or by `root_path` goes on from `root` itself. So a link may be
/// absolute, or climb above the root, as long as it names no link outside. `below` is normalised; empty is the root.
///
/// A path whose last component is a link to nothing inside the root is that link itself ([G] 7.1: the parent resolved,
/// and the last component). Work is bounded: 40 links, and as many steps as a path of such links can sensibly take.
[[nodiscard]] tl::expected<confined_file, path_walk_failure> walk_path(int root, const std::string& root_path, const std::string& below,
                                                                       bool make_parents);

} // namespace paddock::guest
