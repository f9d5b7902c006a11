#pragma once

#include "base/time.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::embedded {

// The logs of a node's pods, for `GET pods/NAME/log` (docs/embedded.md):
// `logs/NAMESPACE_POD_UID/CONTAINER/RESTARTS.log`, with `.1` behind the older half of a long one. The file of the running
// container is the one with the highest number, the one before it is `previous=true`. Each line is
// `INSTANT stdout F TEXT`, as container runtimes write them; P instead of F: the text goes on in the next line.

/// The folder of a pod's logs below `logs`.
[[nodiscard]] std::filesystem::path log_folder(const std::filesystem::path& logs, const std::string& name_space, const std::string& pod,
                                               const std::string& uid);

/// The log of a container's `restarts`-th restart.
[[nodiscard]] std::filesystem::path log_file(const std::filesystem::path& pod_folder, const std::string& container, int restarts);

/// Makes lines of what a container writes. Both of its outputs come through one pipe and are called stdout.
class log_lines {
public:
  /// The lines that `bytes` complete, as they stand in the file. A line that grows beyond 16 KiB is cut into parts.
  [[nodiscard]] std::string take(std::string_view bytes, time_source::wall_clock::time_point now);
  /// What is left when the container has ended.
  [[nodiscard]] std::string finish(time_source::wall_clock::time_point now);

private:
  std::string rest_;
};

/// One line of such a file.
struct log_line {
  std::string_view instant;
  bool complete = true; // false: the text goes on in the next line
  std::string_view text;
};

/// Reads a line without its end; nothing for a line of another form (a file that was cut by a crash).
[[nodiscard]] std::optional<log_line> read_log_line(std::string_view line);

} // namespace paddock::embedded
