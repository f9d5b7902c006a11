#pragma once

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace paddock::guest {

// What a host asks of terminals and sessions, as the guest takes it ([G] 8, 9). A failure is the whole error text for the wire.

/// `sessionId` of `body`. Absent: there is none, or none of that syntax.
[[nodiscard]] std::optional<std::string> session_id_in(const nlohmann::json& body);

struct terminal_size {
  std::uint16_t columns = 80;
  std::uint16_t rows = 24;
};

/// The size in an object with `cols` and `rows`, integers in [1, 1000]. A failure names the first that is not.
[[nodiscard]] tl::expected<terminal_size, std::string> read_terminal_size(const nlohmann::json& object);

/// A program of a terminal or a detached one.
struct session_program {
  std::string program;
  std::vector<std::string> arguments;
  std::string directory; // absolute, within the workspace by its text
  std::map<std::string, std::string> environment;
};

/// The body of `terminal`.
struct terminal_opening {
  session_program run; // TERM included
  terminal_size size;
  std::optional<std::string> session; // persistent, under this id
  std::optional<std::chrono::milliseconds> heartbeat;
  bool as_base64 = false; // `feature::stream_bytes`
};

/// `body` may be any JSON. The order of the checks: the body itself, the size, the directory, the session id.
[[nodiscard]] tl::expected<terminal_opening, std::string> read_terminal_opening(const nlohmann::json& body, const std::string& workspace);

/// Whether the body of `start-detached` names a program.
[[nodiscard]] bool names_program(const nlohmann::json& body);
/// The program of `start-detached`; it names one. A failure is the one of its directory.
[[nodiscard]] tl::expected<session_program, std::string> read_detached_program(const nlohmann::json& body, const std::string& workspace);

/// The body of `attach-session`, but for the id.
struct attach_opening {
  std::optional<std::uint64_t> from = 0; // absent: not an offset
  bool follow = true;
  std::optional<terminal_size> size;
  std::optional<std::chrono::milliseconds> heartbeat;
  bool as_base64 = false;
};

[[nodiscard]] attach_opening read_attach_opening(const nlohmann::json& body);

/// The number of one of the four signals that a host may send ([G] 8.2); `fallback` for anything else, or nothing.
[[nodiscard]] int signal_in(const nlohmann::json& object, int fallback);

// -- later frames of a terminal or an attachment -----------------------------------------------------------------------------

struct terminal_input {
  std::string bytes;
};
struct terminal_kill {
  int signal = 0;
};
/// Absent in the variant: a heartbeat, a frame that cannot be read, a type that is not known, a value that is not allowed.
using terminal_event = std::variant<std::monostate, terminal_input, terminal_size, terminal_kill>;

[[nodiscard]] terminal_event read_terminal_event(std::string_view payload, bool as_base64);

} // namespace paddock::guest
