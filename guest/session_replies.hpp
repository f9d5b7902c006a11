#pragma once

#include "guest/command.hpp"
#include "guest/identity.hpp"
#include "guest/session_registry.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace paddock::guest {

// What the guest says of terminals and sessions: payloads with the fields in the order of [G] 8 and 9.

/// The summary row of [G] 9.1. It never holds the environment.
struct session_summary {
  std::string id;
  session_kind kind = session_kind::terminal;
  std::string command;
  std::vector<std::string> arguments;
  std::int64_t started_at_ms = 0;
  std::optional<std::int64_t> last_input_at_ms;
  std::optional<std::int64_t> last_output_at_ms;
  std::uint64_t next_offset = 0;
  std::uint64_t dropped_bytes = 0;
  session_state state = session_state::running;
  bool attached = false;
  session_exit exit{}; // exited only
};

[[nodiscard]] std::string sessions_reply(std::span<const session_summary> all);
[[nodiscard]] std::string detached_reply(const session_summary& x, pid_t pid);
/// `signalled` only when a signal was sent.
[[nodiscard]] std::string killed_reply(const session_summary& x, std::optional<std::size_t> signalled);
[[nodiscard]] std::string spawn_failed_reply(std::string_view message);
[[nodiscard]] std::string invalid_offset_event(std::uint64_t next_offset);

/// What a stream says of itself in `ready`: present when both sides agreed on it.
struct stream_terms {
  std::optional<std::chrono::milliseconds> heartbeat;
  bool as_base64 = false;
};

[[nodiscard]] std::string terminal_ready_event(const guest_boot_id& boot, const stream_terms& terms);
[[nodiscard]] std::string session_ready_event(const guest_boot_id& boot, const session_summary& x, std::uint64_t from,
                                              std::uint64_t dropped, const stream_terms& terms);

/// `bytes` decoded on their own as UTF-8 with replacement, or as base64.
[[nodiscard]] std::string terminal_data_event(std::string_view bytes, bool as_base64);
[[nodiscard]] std::string session_data_event(stream which, std::string_view bytes, std::uint64_t offset, bool as_base64);

/// `next_offset` on a session stream only.
[[nodiscard]] std::string exit_event(const session_exit& how, std::optional<std::uint64_t> next_offset);
/// `reason` is `superseded` or `slow_reader`.
[[nodiscard]] std::string detached_event(std::string_view reason);

} // namespace paddock::guest
