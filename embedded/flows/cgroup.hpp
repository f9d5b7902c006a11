#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace paddock::embedded {

/// A cgroup v2 for each container that has limits, below one of this program's own; only where this process may make them
/// (a delegated cgroup). Every cgroup of the tree ends with it.
class cgroup_tree {
public:
  /// Below the cgroup of this process. `family` names the tree; one that an earlier run left is ended, with what runs in it.
  static cgroup_tree open(const std::string& family);
  /// Below `parent`, which looks like a cgroup v2.
  static cgroup_tree below(const std::filesystem::path& parent, const std::string& family);
  cgroup_tree(cgroup_tree&& other) noexcept;
  cgroup_tree& operator=(cgroup_tree&&) = delete;
  ~cgroup_tree();

  /// Why limits cannot be enforced; empty: they can.
  [[nodiscard]] const std::string& fault() const noexcept {
    return fault_;
  }
  /// A new cgroup with these limits (cores, bytes; 0: none, as is more than a machine can have), or nothing: there is no limit, or none can
  /// be enforced.
  [[nodiscard]] std::optional<std::filesystem::path> make(const std::string& name, double cpu, double memory);
  /// Kills what runs in it and takes it away. False: what was killed has not left it yet; ask again soon.
  [[nodiscard]] bool remove(const std::filesystem::path& cgroup);

private:
  cgroup_tree() = default;
  std::filesystem::path root_; // empty: none
  std::string fault_;
};

} // namespace paddock::embedded
