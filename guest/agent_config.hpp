#pragma once

#include "base/secret.hpp"

#include <tl/expected.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace paddock::guest {

/// The variables of [G] 25 that this guest reads, under their names there. Sizes in bytes, times in milliseconds.
struct agent_config {
  using milliseconds = std::chrono::milliseconds;

  struct unix_listener {
    std::string path; // NAMZU_AGENT_UNIX_PATH
  };
  /// The listening socket that the process inherits as descriptor 3 (NAMZU_AGENT_VSOCK_PORT).
  struct inherited_listener {};
  struct tcp_listener {
    /// PADDOCK_GUEST_TCP_ADDRESS, an IPv4 address in digits. Ours: it lets many guests share one machine, each on a
    /// loopback address of its own.
    std::string address = "0.0.0.0";
    std::uint16_t port = 0; // NAMZU_AGENT_TCP_PORT; 0 asks the kernel
  };
  std::variant<unix_listener, inherited_listener, tcp_listener> listener = tcp_listener{};

  std::optional<secret> bind_token; // NAMZU_AGENT_BIND_TOKEN
  bool require_token = false;       // NAMZU_AGENT_REQUIRE_TOKEN

  std::string workspace = "/workspace";     // NAMZU_SANDBOX_WORKSPACE, absolute and normalised
  std::vector<std::string> read_roots;      // the workspace first, then NAMZU_SANDBOX_READ_ROOTS
  std::vector<std::string> write_roots;     // the workspace first, then NAMZU_SANDBOX_WRITE_ROOTS
  std::vector<std::string> environment;     // the agent's own, `NAME=value`; scrubbed before a child sees it
  std::optional<std::string> reseed_hook;   // NAMZU_AGENT_RESEED_HOOK
  std::optional<std::string> flush_command; // NAMZU_AGENT_FLUSH_COMMAND
  bool owned_sessions_only = false;         // NAMZU_AGENT_QUIESCE_SCOPE is owned-sessions

  std::uint64_t max_timeout_ms = 1'800'000;             // NAMZU_SANDBOX_MAX_TIMEOUT_MS
  std::uint64_t max_frame_bytes = 268'435'456;          // NAMZU_AGENT_MAX_FRAME_BYTES
  std::uint64_t max_preauth_frame_bytes = 8'388'608;    // NAMZU_AGENT_MAX_PREAUTH_FRAME_BYTES
  std::uint64_t max_preauth_connections = 64;           // NAMZU_AGENT_MAX_PREAUTH_CONNECTIONS
  std::uint64_t max_preauth_buffer_bytes = 33'554'432;  // NAMZU_AGENT_MAX_PREAUTH_BUFFER_BYTES
  milliseconds preauth_idle_timeout{10'000};            // NAMZU_AGENT_PREAUTH_IDLE_TIMEOUT_MS
  milliseconds preauth_deadline{10'000};                // NAMZU_AGENT_PREAUTH_DEADLINE_MS
  milliseconds refusal_flush_grace{1'000};              // NAMZU_AGENT_REFUSAL_FLUSH_GRACE_MS
  milliseconds execution_lease_ttl{30'000};             // NAMZU_AGENT_EXECUTION_LEASE_TTL_MS
  milliseconds execution_terminal_ttl{60'000};          // NAMZU_AGENT_EXECUTION_TERMINAL_TTL_MS
  milliseconds execution_retained_ttl{600'000};         // NAMZU_AGENT_EXECUTION_RETAINED_TTL_MS
  std::uint64_t execution_log_bytes = 1'048'576;        // NAMZU_AGENT_EXECUTION_LOG_BYTES
  std::uint64_t max_retained_output_logs = 32;          // NAMZU_AGENT_MAX_RETAINED_OUTPUT_LOGS
  std::uint64_t max_tracked_executions = 1'024;         // NAMZU_AGENT_MAX_TRACKED_EXECUTIONS
  milliseconds cancel_grace{250};                       // NAMZU_AGENT_CANCEL_GRACE_MS, may be 0
  milliseconds cancel_confirm_timeout{5'000};           // NAMZU_AGENT_CANCEL_CONFIRM_TIMEOUT_MS
  milliseconds quiesce_grace{1'000};                    // NAMZU_AGENT_QUIESCE_GRACE_MS, below the confirm timeout
  std::uint64_t read_file_range_bytes = 1'048'576;      // NAMZU_AGENT_READ_FILE_RANGE_BYTES
  std::uint64_t read_file_stream_chunk_bytes = 262'144; // NAMZU_AGENT_READ_FILE_STREAM_CHUNK_BYTES
  milliseconds quiesce_deadline{20'000};                // NAMZU_AGENT_QUIESCE_DEADLINE_MS
  std::uint64_t quiesce_max_rounds = 8;                 // NAMZU_AGENT_QUIESCE_MAX_ROUNDS
  milliseconds quiesce_settle{1'000};                   // NAMZU_AGENT_QUIESCE_SETTLE_MS
  std::uint64_t max_sessions = 16;                      // NAMZU_AGENT_MAX_SESSIONS
  std::uint64_t session_log_bytes = 1'048'576;          // NAMZU_AGENT_SESSION_LOG_BYTES
  milliseconds session_terminal_ttl{600'000};           // NAMZU_AGENT_SESSION_TERMINAL_TTL_MS
  milliseconds session_kill_confirm_timeout{5'000};     // NAMZU_AGENT_SESSION_KILL_CONFIRM_TIMEOUT_MS
  milliseconds flush_timeout{10'000};                   // NAMZU_AGENT_FLUSH_TIMEOUT_MS
  milliseconds shutdown_deadline{15'000};               // NAMZU_AGENT_SHUTDOWN_DEADLINE_MS

  /// No gate and no limits on unauthenticated peers ([G] 2.1).
  [[nodiscard]] bool open() const noexcept {
    return !bind_token && !require_token;
  }
};

/// Reads `environment`. A failure is the whole text for standard error; it names the variable, and never a token. It is
/// decided before any socket exists.
[[nodiscard]] tl::expected<agent_config, std::string> read_agent_config(std::vector<std::string> environment);

} // namespace paddock::guest
