#pragma once

#include <tl/expected.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace paddock::guest {

inline constexpr std::string_view path_escapes = "path escapes the workspace";
inline constexpr std::string_view symlink_escapes = "symlink escapes the workspace";

/// `path` with `.`, `..`, doubled and trailing slashes resolved by its text alone. `..` above `/` stays at `/`; a relative
/// path keeps the `..` it begins with. Empty gives `.`.
[[nodiscard]] std::string normalised(std::string_view path);

/// `path`, below `/` when it is relative, normalised.
[[nodiscard]] std::string absolute(std::string_view path);

/// Whether `path` is `root` or below it; both absolute and normalised.
[[nodiscard]] bool within(std::string_view root, std::string_view path);

/// A path of a request that passed the lexical check.
struct confined_path {
  std::string path; // absolute and normalised; its symlinks are not resolved yet
  std::string root; // what it was found within
};

/// The lexical half of [G] 7.1: a relative path belongs to the workspace, an absolute one to any of `roots`. A failure is
/// the whole text for the wire. A path with a NUL names nothing and is refused as an escape.
[[nodiscard]] tl::expected<confined_path, std::string> confine(std::string_view path, const std::string& workspace,
                                                               const std::vector<std::string>& roots);

} // namespace paddock::guest
