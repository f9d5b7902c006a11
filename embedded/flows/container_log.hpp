#pragma once

#include "base/flows/sleep.hpp"
#include "embedded/flows/process.hpp"

#include <filesystem>
#include <memory>
#include <set>
#include <vector>

namespace paddock::embedded {

/// Writes what the process says to `file` as `embedded/pod_log.hpp` describes, up to the end of its last writer. The file is cut
/// at 1 MiB: the older half is kept behind `.1`.
boost::asio::awaitable<void> keep_log(flow_time& time, std::shared_ptr<process> from, std::filesystem::path file);

/// The oldest folders of pods beyond 200, but none that is `in_use`: somebody may follow what it says.
[[nodiscard]] std::vector<std::filesystem::path> old_logs(const std::filesystem::path& logs,
                                                          const std::multiset<std::filesystem::path>& in_use);
/// The oldest logs of a container beyond two.
[[nodiscard]] std::vector<std::filesystem::path> old_container_logs(const std::filesystem::path& container);

} // namespace paddock::embedded
