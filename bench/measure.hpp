#pragma once

// What benchmarks share: time, quantiles, memory of a process, a folder of their own.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <unistd.h>
#include <vector>

namespace paddock::bench {

using clock_type = std::chrono::steady_clock;

[[noreturn]] inline void give_up(const std::string& why) {
  std::cerr << "bench: " << why << '\n';
  std::_Exit(1);
}

inline double seconds_since(clock_type::time_point start) {
  return std::chrono::duration<double>(clock_type::now() - start).count();
}

/// The value at `share` (0 to 1) of the sorted figures.
inline double quantile(std::vector<double> all, double share) {
  std::sort(all.begin(), all.end());
  return all[std::min(all.size() - 1, static_cast<std::size_t>(share * static_cast<double>(all.size())))];
}

/// A line of /proc/PID/status in KiB, as `VmRSS` or `VmHWM`.
inline std::uint64_t status_kib(pid_t pid, const std::string& field) {
  auto in = std::ifstream{"/proc/" + std::to_string(pid) + "/status"};
  for (auto line = std::string{}; std::getline(in, line);)
    if (line.starts_with(field + ":"))
      return std::stoull(line.substr(field.size() + 1));
  return 0;
}

/// Forgets the peak, so that `VmHWM` is the peak from now on.
inline void forget_peak(pid_t pid) {
  std::ofstream{"/proc/" + std::to_string(pid) + "/clear_refs"} << "5";
}

class temporary_folder {
public:
  temporary_folder() {
    auto name = (std::filesystem::temp_directory_path() / "paddock-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      give_up("mkdtemp");
    path_ = name;
  }
  ~temporary_folder() {
    auto failed = std::error_code{};
    std::filesystem::remove_all(path_, failed);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const {
    return path_;
  }

private:
  std::filesystem::path path_;
};

inline std::filesystem::path own_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

} // namespace paddock::bench
