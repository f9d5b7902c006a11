#pragma once

#include "base/flows/sleep.hpp"
#include "embedded/flows/process.hpp"

#include <filesystem>
#include <memory>

namespace paddock::embedded {

/// Writes what the process says to `file` as `embedded/pod_log.hpp` describes, up to the end of its last writer. The file is cut
/// at 1 MiB: the older half is kept behind `.1`.
boost::asio::awaitable<void> keep_log(flow_time& time, std::shared_ptr<process> from, std::filesystem::path file);

/// Removes the oldest logs of a container beyond two, and the oldest folders of pods beyond 200.
void trim_logs(const std::filesystem::path& logs);
void trim_container_logs(const std::filesystem::path& container);

} // namespace paddock::embedded
