#pragma once

#include <optional>
#include <string>
#include <vector>

namespace paddock::cli {

/// One verb as a completion script knows it.
struct verb_words {
  std::string name;
  std::vector<std::string> options; // `--timeout`, …
};

/// A completion script for `bash`, `zsh` or `fish`; nothing for another shell.
[[nodiscard]] std::optional<std::string> completion(const std::string& shell, const std::vector<verb_words>& verbs);

} // namespace paddock::cli
