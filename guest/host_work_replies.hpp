#pragma once

#include "guest/calls.hpp"
#include "guest/host_replies.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace paddock::guest {

// What a host makes of the guest's words about work that outlives its caller ([G] 19). As in host_replies.hpp, unknown
// fields are ignored; refusals that have a type of their own (`named_refusal`) keep it.

// -- executions --------------------------------------------------------------------

struct named_reservation {
  std::string state = "reserved"; // reserved, starting, running, exited or terminal
  std::optional<guest_boot_id> boot{};
};

/// The answer to a reservation of `id`. A refusal, or the id of another, is a `protocol_failure`.
[[nodiscard]] result<named_reservation> read_named_reservation(const nlohmann::json& reply, const std::string& id);

struct retained_delta {
  stream which = stream::out;
  std::string bytes;
  std::uint64_t next_offset = 0;
};

/// Whether an execution that the guest shows in `state` has got its process: until then it may still end without one. What has
/// ended says so itself.
[[nodiscard]] bool at_work(std::string_view state);

struct attached_event {
  std::string state;
  std::uint64_t from_offset = 0;
  std::uint64_t dropped_bytes = 0;
};

struct attach_result_event {
  std::string outcome; // completed, cancelled or failed
  bool started = false;
  std::optional<command_end> end{};
  std::optional<std::string> error{};
  std::uint64_t next_offset = 0;
};

using retained_event = std::variant<retained_delta, command_end, attached_event, attach_result_event>;

/// One event of an execution that keeps a log, from `execute` or from an attach. A delta without a place in the log is a
/// `protocol_failure`; with `bytes` every delta must be base64. An `error` event is `command_failed`.
[[nodiscard]] result<retained_event> read_retained_event(const nlohmann::json& event, bool bytes);

/// As `read_retained_event` on an attach stream, where an `error` event refuses the attach: `not_attachable` with the
/// reason of [G] 19.2, and the state when the guest names one.
[[nodiscard]] result<retained_event> read_attach_event(const nlohmann::json& event, const std::string& id, bool bytes);

/// Whether an `execute` failed because its reservation is used: somebody else has started the command ([G] 6.3).
[[nodiscard]] bool lost_start_race(const failure& x);
/// Whether an observation that failed so may be taken up again ([G] 19.1): the connection was lost, or never came about.
[[nodiscard]] bool worth_attaching_again(const failure& x);

/// Not an acknowledgement, and no reason to give up either.
struct cancel_again {
  std::string text;
};
using cancel_verdict = std::variant<acknowledgement, cancel_again, failure>;
using cancel_judge = cancel_verdict (*)(const nlohmann::json& reply, const std::string& id);

/// [G] 20.2: a whole acknowledgement, or again.
[[nodiscard]] cancel_verdict judge_reconciling_cancel(const nlohmann::json& reply, const std::string& id);
/// [G] 19.3: a known state is enough; an execution that the guest does not know is `not_attachable`, and that, a refused
/// token and a pin that does not match are final.
[[nodiscard]] cancel_verdict judge_plain_cancel(const nlohmann::json& reply, const std::string& id);

// -- sessions ----------------------------------------------------------------------

/// A refusal of a session call ([G] 19.4): `session_refused` with one of the known reasons, else `unknown`.
[[nodiscard]] failure session_refusal(const std::string& session, const refused& why);
/// The text of an `error` event of a session stream: a refusal only when it is one of the codes and nothing else.
[[nodiscard]] std::optional<failure> session_stream_refusal(const std::string& session, const std::string& text);

/// One row, read leniently; without a `sessionId` it is a `protocol_failure`.
[[nodiscard]] result<session_row> read_session_row(const nlohmann::json& x);
[[nodiscard]] result<std::vector<session_row>> read_sessions(const nlohmann::json& reply);
/// The answer to `start-detached` or `kill-session` of `session`.
[[nodiscard]] result<session_row> read_session_reply(const nlohmann::json& reply, const std::string& session);

/// Puts a session read together ([G] 19.4): `ready`, then the retained chunks.
class session_reader {
public:
  session_reader(std::string session, bool bytes) : session_(std::move(session)), bytes_(bytes) {
  }
  [[nodiscard]] result<void> take(const nlohmann::json& event);
  [[nodiscard]] bool ready() const noexcept {
    return ready_;
  }
  [[nodiscard]] const session_chunk& chunk() const noexcept {
    return chunk_;
  }
  [[nodiscard]] const std::optional<guest_boot_id>& boot() const noexcept {
    return boot_;
  }

private:
  [[nodiscard]] result<void> take_ready(const nlohmann::json& event);
  [[nodiscard]] result<void> take_data(const nlohmann::json& event);

  std::string session_;
  bool bytes_;
  bool ready_ = false;
  bool encoded_ = false;      // the guest has agreed to base64
  std::uint64_t reached_ = 0; // where the data so far ends in the log
  session_chunk chunk_;
  std::optional<guest_boot_id> boot_;
};

// -- quiesce and flush ---------------------------------------------------------------

[[nodiscard]] result<quiesce_report> read_quiesce(const nlohmann::json& reply);
[[nodiscard]] result<flush_report> read_flush(const nlohmann::json& reply);

} // namespace paddock::guest
