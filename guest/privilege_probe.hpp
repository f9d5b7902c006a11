#pragma once

#include "guest/command.hpp"
#include "guest/failure.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::guest {

// The privilege probe ([E] 6.4): before a guest is handed out, `cat /proc/self/status` must show that its processes have no
// capabilities and can gain none.

inline constexpr std::string_view probe_program = "cat";
inline constexpr std::string_view probe_argument = "/proc/self/status";

/// The probe's own clock, beside that of readiness.
[[nodiscard]] std::chrono::milliseconds probe_budget(std::chrono::milliseconds ready_timeout);

/// What the probe came to.
struct probe_outcome {
  result<command_end> end = command_end{};
  std::string out;
  std::string err;
  bool out_overflown = false;                       // there was more than `out` keeps
  std::optional<std::chrono::milliseconds> expired; // its clock ran out first: so long it was
};

/// Why a guest is not handed out.
struct probe_refusal {
  std::string reason; // probe-failed, unreadable-output, privileged
  std::string text;
};

/// Names the sandbox, and of a privileged guest everything that it has too much.
[[nodiscard]] std::optional<probe_refusal> judge_probe(const std::string& sandbox_name, const probe_outcome& seen);

} // namespace paddock::guest
