#pragma once

#include <string>
#include <sys/types.h>

namespace paddock::embedded {

// How the processes that a program leaves behind are known: by a variable of their environment and, as root, by a supplementary
// group, which a program without privileges cannot lay down.

/// The variable; its value is `FAMILY.NUMBER.`.
inline constexpr auto mark_variable = "PADDOCK_PROCESS_TREE";

/// A mark that no other process of this machine has.
[[nodiscard]] std::string new_mark(const std::string& family);

/// A supplementary group that no other process of this program has, while this lives. Each family has a range of them.
class group_lease {
public:
  group_lease() = default;
  /// None where this process may not give any.
  [[nodiscard]] static group_lease take(const std::string& family);
  ~group_lease();
  group_lease(group_lease&& other) noexcept;
  group_lease& operator=(group_lease&& other) noexcept;
  /// 0: none.
  [[nodiscard]] gid_t get() const noexcept {
    return group_;
  }

private:
  explicit group_lease(gid_t group) : group_(group) {
  }
  gid_t group_ = 0;
};

/// Whether the process has the supplementary group; never for 0.
[[nodiscard]] bool has_group(pid_t process, gid_t group);

/// Kills every process that carries the group or, where there is none (0), the mark, and those that they start meanwhile.
void end_marked(const std::string& mark, gid_t group);

/// Kills what programs of `family` left behind when their owner ended without ending them: by mark and by group, so that one
/// that cleared its environment is found, too. Only while nobody of that family is wanted.
void end_family(const std::string& family);

} // namespace paddock::embedded
