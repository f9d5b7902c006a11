#pragma once

#include "guest/identity.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace paddock::guest {

/// A program to run in the guest ([G] 6.3). `program` is found along the guest's PATH; it is not a shell line.
struct command {
  std::string program;
  std::vector<std::string> arguments;
  std::optional<std::string> directory;
  std::map<std::string, std::string> environment;
  std::optional<std::chrono::milliseconds> limit; // absent: the guest's default of five minutes
  bool with_input = false;                        // false: stdin is the null device
};

enum class stream : std::uint8_t { out = 1, err = 2 };

/// How a command ended. `exit_code` is -1 and `signal` a name when a signal ended it.
struct command_end {
  int exit_code = 0;
  std::optional<std::string> signal;
  bool timed_out = false;
  std::chrono::milliseconds took{0};
  bool out_truncated = false;
  bool err_truncated = false;
  bool lossy = false; // the guest speaks text only: bytes that are not UTF-8 arrived as U+FFFD
};

/// The guest that accepted a call.
struct accepted_by {
  std::optional<guest_boot_id> boot; // absent: this guest reports none
};

} // namespace paddock::guest
