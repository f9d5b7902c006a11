#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace paddock::guest {

/// What is needed of /proc/PID/stat. `pid` and `start` together name one process: the number alone may be another's later.
struct proc_stat {
  pid_t pid = 0;
  std::string comm; // the kernel's short name: any bytes but NUL, parentheses and line feeds included
  char state = '?';
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  std::int64_t threads = 0;
  std::uint64_t start = 0; // in clock ticks since boot

  /// Nothing of it runs any more. A zombie leader with threads left is not over: its main thread has ended, its program
  /// has not.
  [[nodiscard]] bool over() const noexcept {
    return state == 'X' || state == 'x' || (state == 'Z' && threads <= 1);
  }

  [[nodiscard]] bool same_process(const proc_stat& other) const noexcept {
    return pid == other.pid && start == other.start;
  }
};

/// Reads the text of a /proc/PID/stat. Absent: it is not one, or is cut short.
[[nodiscard]] std::optional<proc_stat> read_proc_stat(std::string_view text);

/// The real uid that the text of a /proc/PID/status states.
[[nodiscard]] std::optional<uid_t> read_real_uid(std::string_view status);

} // namespace paddock::guest
