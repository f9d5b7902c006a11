#pragma once

#include "guest/command.hpp"
#include "guest/failure.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace paddock::guest {

// What a host makes of the guest's words ([G] 3, 6, 16.5, 18.1, 20). Unknown fields are ignored everywhere; a field of the
// wrong type is never read as absent.

/// The refusals that have a type of their own, wherever a reply or an event carries them ([G] 18.1): an `error` that is
/// exactly `unauthorized`, `agent_retiring` or `guest_mismatch`.
[[nodiscard]] std::optional<failure> named_refusal(const nlohmann::json& x);

/// What a refusal (`ok` is not true) means: what `named_refusal` says,
/// anything else is `refused` with the code before the first `: `. A refusal without an error text is one too. Absent: the
/// reply is no refusal. A value that is no object with a boolean `ok` is a `protocol_failure`.
[[nodiscard]] std::optional<failure> refusal_in(const nlohmann::json& reply);

/// The fields of a `result` event, also inside an acknowledgement. A text says what is wrong.
[[nodiscard]] tl::expected<command_end, std::string> read_command_end(const nlohmann::json& x);

struct reservation {
  std::string execution_id;
  std::optional<guest_boot_id> boot; // absent: this guest reports none
};

/// Needs `ok` true, version 2, a well-formed id and a lease that ends; `protocol_failure` otherwise.
[[nodiscard]] result<reservation> read_reservation(const nlohmann::json& reply);

/// The confirmed end of an execution: the process group is gone.
struct acknowledgement {
  enum class outcome { cancelled, completed, failed };
  outcome state = outcome::cancelled;
  bool started = false;
  std::optional<command_end> end;
  std::optional<std::string> error;
};

[[nodiscard]] std::string_view to_string(acknowledgement::outcome x);

/// Anything but a well-formed acknowledgement is a text that says why it is none ([G] 20.2).
[[nodiscard]] tl::expected<acknowledgement, std::string> read_acknowledgement(const nlohmann::json& reply);

/// `ok` that is not true is an answer here, not a failure; a healthy guest of another version is a `protocol_failure`.
struct readiness {
  bool ok = false;
  bool retiring = false;
  int protocol_version = 0; // 0: not stated
  std::vector<std::string> features;
};

[[nodiscard]] result<readiness> read_health(const nlohmann::json& reply);

/// Output of one stream, as raw bytes.
struct delta {
  stream which = stream::out;
  std::string bytes;
};

using stream_event = std::variant<delta, command_end>;

/// One event of an execute stream. With `bytes` every delta must be base64; without, it is text. An `error` event is
/// `command_failed` (of a pin that does not match, `guest_mismatch`), a bare refusal what `refusal_in` says, every other violation
/// `protocol_failure`.
[[nodiscard]] result<stream_event> read_event(const nlohmann::json& event, bool bytes);

/// The event that `payload` is, when it is a delta of base64 exactly as our agent writes it: it is not taken apart as JSON, and
/// decoded where it is. Absent: it has another form, and is untouched.
[[nodiscard]] std::optional<result<delta>> lift_delta(std::string& payload);

/// The `guestBootId` of a reply, when it is a string with something in it.
[[nodiscard]] std::optional<guest_boot_id> boot_in(const nlohmann::json& reply);

/// The decoded content of a `read-file` reply, and the bytes that a `write-file` reply confirms.
[[nodiscard]] result<std::string> read_content(const nlohmann::json& reply);
[[nodiscard]] result<std::uint64_t> read_written(const nlohmann::json& reply, std::uint64_t sent);

} // namespace paddock::guest
