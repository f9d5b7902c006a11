#pragma once

#include "guest/command.hpp"
#include "guest/identity.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace paddock::guest {

// What a host asks of a guest beyond a plain command, and what it hears: values only. The flows that carry them are
// guest/flows/{file,stream,work}_host.hpp.

// -- files ---------------------------------------------------------------------------

/// The part of a file that is wanted. Both absent: the whole file.
struct file_part {
  std::optional<std::uint64_t> offset;
  std::optional<std::uint64_t> length;
};

/// What a read found: the whole file's size, and the part that was delivered.
struct file_read {
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::optional<guest_boot_id> boot{}; // of a reply only: frames of a stream carry none ([G] 5.1)
};

struct listed_file {
  std::string path;
  std::uint64_t size = 0;
};

/// What is walked ([G] 22.2). Judged on the host before anything is sent.
struct walk_request {
  std::string root;
  std::string pattern = "**/*";
  bool include_hidden = false;
  std::optional<std::uint64_t> max_depth;
  std::uint64_t max_entries = 0; // required
  std::uint64_t max_visited_entries = 20'000;
};

// -- terminals and sessions --------------------------------------------------------------

struct window_size {
  int columns = 80;
  int rows = 24;
};

/// What a terminal is opened with ([G] 8.1). `program` absent: the guest's shell.
struct terminal_request {
  std::optional<std::string> program;
  std::vector<std::string> arguments;
  std::optional<std::string> directory;
  std::map<std::string, std::string> environment;
  window_size size;
  std::optional<std::string> session; // a persistent terminal under this id ([G] 9.3)
};

struct session_attach {
  std::string session;
  std::uint64_t from_offset = 0;
  std::optional<window_size> size;
};

/// The first word of an attached session ([G] 9.4).
struct session_position {
  std::string kind;  // terminal or detached
  std::string state; // running or exited
  std::uint64_t from_offset = 0;
  std::uint64_t dropped_bytes = 0;
  std::uint64_t next_offset = 0;
};

/// How a stream ended. -1 without a signal: the guest did not say.
struct terminal_end {
  int exit_code = -1;
  std::optional<int> signal; // a number here ([G] 8.2)
};

// -- detached executions -------------------------------------------------------------------

struct detached_run {
  command what;
  std::optional<std::string> execution_id; // absent: minted here
  /// Leave it running once it has started: the answer is then `execution_detached`, with its id.
  bool leave = false;
};

struct attach_request {
  std::string execution_id;
  std::uint64_t from_offset = 0;
};

struct attached_end {
  std::string execution_id;
  std::string outcome; // completed, cancelled or failed
  bool started = true;
  command_end end;
  std::uint64_t next_offset = 0;
  std::uint64_t dropped_bytes = 0; // of the log, and never seen here
  std::optional<guest_boot_id> boot{};
};

// -- sessions ----------------------------------------------------------------------

struct session_row {
  std::string session;
  std::string kind = "terminal";
  std::string command;
  std::vector<std::string> arguments;
  std::int64_t started_at = 0; // epoch milliseconds, as the others
  std::optional<std::int64_t> last_input_at{};
  std::optional<std::int64_t> last_output_at{};
  std::uint64_t next_offset = 0;
  std::uint64_t dropped_bytes = 0;
  std::string state = "running";
  bool attached = false;
  std::optional<int> exit_code{};
  std::optional<int> signal{};
  std::optional<std::int64_t> pid{};        // of start-detached only
  std::optional<std::uint64_t> signalled{}; // of kill-session only
};

struct session_start {
  std::string session;
  std::string program;
  std::vector<std::string> arguments;
  std::optional<std::string> directory;
  std::map<std::string, std::string> environment;
};

struct session_chunk {
  std::string bytes;
  std::uint64_t next_offset = 0;
  std::uint64_t dropped_bytes = 0;
  std::string status; // running, exited or killed
  std::optional<int> exit_code{};
};

// -- quiesce and flush ---------------------------------------------------------------

struct quiesce_request {
  std::optional<std::chrono::milliseconds> grace;
  bool idle_only = false;
};

struct stopped_process {
  std::int64_t pid = 0;
  std::string command; // the kernel's short name
  std::string signal;
};

struct quiesce_report {
  std::vector<stopped_process> stopped;
  std::string scope; // pid-namespace or owned-sessions
  std::uint64_t grace_ms = 0;
  std::uint64_t rounds = 0;
};

struct flush_report {
  std::uint64_t duration_ms = 0;
  std::string workspace;
};

} // namespace paddock::guest
