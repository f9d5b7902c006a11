#pragma once

#include "guest/envelope.hpp"
#include "guest/identity.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace paddock::guest {

/// The ops of [G] 1.6, whether or not this guest does them.
enum class op {
  healthz,
  reserve_execution,
  execute,
  cancel_execution,
  attach_execution,
  read_file,
  read_file_stream,
  write_file,
  terminal,
  attach_session,
  start_detached,
  list_sessions,
  kill_session,
  tcp_connect,
  quiesce,
  flush,
  unknown,
};

[[nodiscard]] op op_of(const envelope& x);

/// What the guest may still do.
struct standing {
  guest_boot_id boot;
  bool retiring = false;  // the fence is up
  bool quiescing = false; // the quiesce gate is up
};

/// One frame, and how the answer ends after it.
struct stop {
  std::string payload;
  bool with_terminator = false;
};

/// The checks between the credential gate and the op itself, in their order ([G] 4, 5.3): the pin, the fence (which
/// `cancel-execution` passes), the quiesce gate. Absent: the op may be done. The op has no effect otherwise.
[[nodiscard]] std::optional<stop> refuse(const envelope& x, const standing& now);

} // namespace paddock::guest
