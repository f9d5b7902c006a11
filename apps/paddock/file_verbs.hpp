#pragma once

#include "apps/paddock/arguments.hpp"
#include "client/target.hpp"

#include <functional>

namespace paddock::cli {

/// A place in a guest.
struct remote {
  const client::target& at;
  std::string path;
};

[[nodiscard]] int cat(remote from, const arguments& args);
/// Lists the regular files below `from`; with `args.max_entries` 0 without a pattern and whole ([G] 22.1).
[[nodiscard]] int ls_files(remote from, const arguments& args);
/// One file, or with `args.recursive` a tree. `args.source` and `args.destination` name the local side: a path, or `-`.
[[nodiscard]] int copy_in(remote to, const arguments& args);
[[nodiscard]] int copy_out(remote from, const arguments& args);

} // namespace paddock::cli
