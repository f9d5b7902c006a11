#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <unistd.h>

// What the kernel says of the memory of the test's own process, in which the agent of an `agent_world` runs as well.
namespace paddock::test {

/// Whether the figures are the program's own. A sanitizer keeps what is freed: under one, growth says nothing.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr auto memory_is_measured = false;
#else
inline constexpr auto memory_is_measured = true;
#endif

inline std::size_t resident_bytes() {
  auto in = std::ifstream{"/proc/self/statm"};
  auto all = std::size_t{0};
  auto resident = std::size_t{0};
  in >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// The most that was resident at once since `forget_peak`.
inline std::size_t peak_bytes() {
  auto status = std::ifstream{"/proc/self/status"};
  for (auto line = std::string{}; std::getline(status, line);)
    if (line.starts_with("VmHWM:"))
      return std::stoul(line.substr(6)) * 1024;
  return 0;
}

inline void forget_peak() {
  std::ofstream{"/proc/self/clear_refs"} << "5";
}

} // namespace paddock::test
