#pragma once

#include "guest/agent/unique_fd.hpp"

#include <tl/expected.hpp>

#include <functional>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace paddock::guest {

/// Opens the directory `path` below `directory` to pass through it, and never leaves `directory` on the way: openat2 with
/// RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS. -1 and errno on failure.
using open_beneath = std::function<int(int directory, const char* path)>;

/// The kernel's. Where it has none, it fails with ENOSYS and paths are walked component by component instead.
[[nodiscard]] int open_beneath_by_kernel(int directory, const char* path);

/// Where a path of a request leads, once its symlinks are resolved and it is known to be inside its root ([G] 7.1). It is
/// held by a descriptor: whoever works on `name` in `parent` and follows no link there stays inside, whatever becomes of
/// the names above. What stands under `name` may change at any time.
struct confined_file {
  unique_fd parent;                // O_PATH
  std::string name;                // one component; `.` when the path is the root or came back to a directory
  std::optional<struct stat> seen; // what stood there; absent: nothing, or a link that leads to nothing
  std::vector<unique_fd> grown;    // O_PATH, directories that got a new one inside; not durable yet
};

/// Why a path does not resolve. `text` is the whole error for the wire.
struct confine_failure {
  int error = 0; // an errno value, or 0: it is not allowed
  std::string text;
};

enum class parents { as_they_are, created };

/// Resolves `path` against the workspace and `roots`. With `parents::created` the directories above it are created, below
/// the root only, and none before it is known where it would come to be. Blocks.
[[nodiscard]] tl::expected<confined_file, confine_failure> resolve(const std::string& path, const std::string& workspace,
                                                                   const std::vector<std::string>& roots, parents how,
                                                                   const open_beneath& beneath);

} // namespace paddock::guest
