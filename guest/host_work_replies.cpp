#include "guest/host_work_replies.hpp"

#include "base/base64.hpp"
#include "guest/features.hpp"
#include "guest/reply_fields.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

namespace paddock::guest {

namespace {

using nlohmann::json;

tl::unexpected<failure> protocol(std::string text) {
  return tl::unexpected{failure{protocol_failure{std::move(text)}}};
}

template <std::size_t N>
std::string known_or(const std::array<std::string_view, N>& known, std::string_view code) {
  return std::ranges::find(known, code) == known.end() ? std::string{"unknown"} : std::string{code};
}

constexpr auto attach_reasons =
  std::array<std::string_view, 5>{"unknown_execution", "output_not_retained", "invalid_offset", "invalid_execution_id", "agent_retiring"};
constexpr auto session_reasons =
  std::array<std::string_view, 8>{"unknown_session",  "invalid_session_id", "invalid_offset", "session_exists",
                                  "session_capacity", "missing_command",    "spawn_failed",   "agent_retiring"};
constexpr auto outcomes = std::array<std::string_view, 3>{"completed", "cancelled", "failed"};

std::string text_or(const json& x, const char* name, std::string other = {}) {
  const auto* text = fields::text(x, name);
  return text == nullptr ? other : fields::bounded(*text);
}

result<retained_event> read_attached(const json& event) {
  const auto from = fields::offset(event, "fromOffset");
  if (!from)
    return protocol("`attached` without a valid fromOffset");
  return attached_event{text_or(event, "state"), *from, fields::offset(event, "droppedBytes").value_or(0)};
}

result<retained_event> read_attach_result(const json& event) {
  auto x = attach_result_event{};
  x.outcome = text_or(event, "outcome");
  if (std::ranges::find(outcomes, x.outcome) == outcomes.end())
    return protocol("`attach_result` without a valid outcome");
  const auto started = fields::flag(event, "started");
  if (!started)
    return protocol("`attach_result` without a valid started");
  x.started = *started;
  const auto next = fields::offset(event, "nextOffset");
  if (!next)
    return protocol("`attach_result` without a valid nextOffset");
  x.next_offset = *next;
  if (const auto* error = fields::text(event, "error"))
    x.error = fields::bounded(*error);
  if (const auto* end = fields::field(event, "result")) {
    auto read = read_command_end(*end);
    if (!read)
      return protocol("`attach_result` with " + read.error());
    x.end = std::move(*read);
  }
  return x;
}

/// What the `code` of a refusal means when the guest has no such op at all.
bool is_unknown_op(const refused& x) {
  return x.code == "unknown_op";
}

} // namespace

// -- executions --------------------------------------------------------------------

result<named_reservation> read_named_reservation(const json& reply, const std::string& id) {
  auto got = read_reservation(reply);
  if (!got) {
    if (const auto* why = std::get_if<refused>(&got.error()))
      return protocol("the reservation was refused: " + why->text);
    return tl::unexpected{std::move(got.error())};
  }
  if (got->execution_id != id)
    return protocol("the reservation is of another execution than was asked for");
  return named_reservation{text_or(reply, "state", "reserved"), std::move(got->boot)};
}

bool at_work(std::string_view state) {
  return state != "reserved" && state != "starting" && state != "terminal";
}

result<retained_event> read_retained_event(const json& event, bool bytes) {
  const auto* type = fields::text(event, "type");
  if (type != nullptr && *type == "attached")
    return read_attached(event);
  if (type != nullptr && *type == "attach_result")
    return read_attach_result(event);
  auto got = read_event(event, bytes);
  if (!got)
    return tl::unexpected{std::move(got.error())};
  if (auto* end = std::get_if<command_end>(&*got)) {
    end->lossy = !bytes;
    return std::move(*end);
  }
  const auto next = fields::offset(event, "nextOffset");
  if (!next)
    return protocol("a delta of a retained execution without a valid nextOffset");
  auto& output = std::get<delta>(*got);
  return retained_delta{output.which, std::move(output.bytes), *next};
}

result<retained_event> read_attach_event(const json& event, const std::string& id, bool bytes) {
  auto got = read_retained_event(event, bytes);
  if (got)
    return got;
  auto code = std::optional<std::string>{};
  if (const auto* why = std::get_if<command_failed>(&got.error()))
    code = why->text;
  else if (const auto* bare = std::get_if<refused>(&got.error()))
    code = bare->code;
  else if (std::holds_alternative<retiring>(got.error()))
    code = "agent_retiring";
  if (!code)
    return got;
  auto state = std::optional<std::string>{};
  if (const auto* text = fields::text(event, "state"))
    state = fields::bounded(*text);
  return tl::unexpected{failure{not_attachable{id, known_or(attach_reasons, *code), std::move(state)}}};
}

bool lost_start_race(const failure& x) {
  const auto* why = std::get_if<command_failed>(&x);
  return why != nullptr && why->text.starts_with("execution_not_reserved");
}

bool worth_attaching_again(const failure& x) {
  return std::holds_alternative<lost>(x) || std::holds_alternative<dial_failed>(x);
}

cancel_verdict judge_reconciling_cancel(const json& reply, const std::string& /*id*/) {
  auto got = read_acknowledgement(reply);
  if (!got)
    return cancel_again{std::move(got.error())};
  return std::move(*got);
}

cancel_verdict judge_plain_cancel(const json& reply, const std::string& id) {
  if (auto refusal = refusal_in(reply)) {
    if (std::holds_alternative<unauthorized>(*refusal) || std::holds_alternative<guest_mismatch>(*refusal))
      return *refusal;
    if (const auto* why = std::get_if<refused>(&*refusal))
      if (why->code == "unknown_execution" || why->code == "invalid_execution_id")
        return failure{not_attachable{id, why->code, std::nullopt}};
    return cancel_again{to_string(*refusal)};
  }
  auto whole = read_acknowledgement(reply);
  if (whole)
    return std::move(*whole);
  // The state alone confirms it: what else is said of the end is read through an attach.
  auto x = acknowledgement{};
  const auto state = text_or(reply, "state");
  if (state == "completed")
    x.state = acknowledgement::outcome::completed;
  else if (state == "failed")
    x.state = acknowledgement::outcome::failed;
  else if (state != "cancelled")
    return cancel_again{std::move(whole.error())};
  x.started = fields::flag(reply, "started").value_or(true);
  return x;
}

// -- sessions ----------------------------------------------------------------------

failure session_refusal(const std::string& session, const refused& why) {
  return session_refused{session, known_or(session_reasons, why.code), why.text};
}

std::optional<failure> session_stream_refusal(const std::string& session, const std::string& text) {
  if (std::ranges::find(session_reasons, text) == session_reasons.end())
    return std::nullopt;
  return failure{session_refused{session, text, text}};
}

result<session_row> read_session_row(const json& x) {
  const auto* id = fields::text(x, "sessionId");
  if (id == nullptr)
    return protocol("a session without a sessionId");
  auto row = session_row{};
  row.session = fields::bounded(*id);
  if (text_or(x, "kind") == "detached")
    row.kind = "detached";
  row.command = text_or(x, "command");
  if (const auto* all = fields::field(x, "args"); all != nullptr && all->is_array())
    for (const auto& one : *all)
      if (const auto* text = one.get_ptr<const std::string*>())
        row.arguments.push_back(*text);
  row.started_at = fields::integer(x, "startedAt").value_or(0);
  row.last_input_at = fields::integer(x, "lastInputAt");
  row.last_output_at = fields::integer(x, "lastOutputAt");
  row.next_offset = fields::offset(x, "nextOffset").value_or(0);
  row.dropped_bytes = fields::offset(x, "droppedBytes").value_or(0);
  if (text_or(x, "state") == "exited")
    row.state = "exited";
  row.attached = fields::flag(x, "attached").value_or(false);
  row.exit_code = fields::small_integer(x, "exitCode");
  row.signal = fields::small_integer(x, "signal");
  row.pid = fields::integer(x, "pid");
  row.signalled = fields::offset(x, "signalled");
  return row;
}

result<std::vector<session_row>> read_sessions(const json& reply) {
  if (auto refusal = refusal_in(reply)) {
    if (const auto* why = std::get_if<refused>(&*refusal))
      return protocol("list-sessions was refused: " + why->text);
    return tl::unexpected{std::move(*refusal)};
  }
  const auto* all = fields::field(reply, "sessions");
  if (all == nullptr || !all->is_array())
    return protocol("list-sessions without sessions");
  auto rows = std::vector<session_row>{};
  for (const auto& one : *all) {
    auto row = read_session_row(one);
    if (!row)
      return tl::unexpected{std::move(row.error())};
    rows.push_back(std::move(*row));
  }
  return rows;
}

result<session_row> read_session_reply(const json& reply, const std::string& session) {
  if (auto refusal = refusal_in(reply)) {
    if (const auto* why = std::get_if<refused>(&*refusal))
      return tl::unexpected{session_refusal(session, *why)};
    return tl::unexpected{std::move(*refusal)};
  }
  return read_session_row(reply);
}

result<void> session_reader::take(const json& event) {
  const auto* type = fields::text(event, "type");
  if (type == nullptr) {
    auto refusal = refusal_in(event);
    const auto* why = refusal ? std::get_if<refused>(&*refusal) : nullptr;
    if (why != nullptr)
      return tl::unexpected{session_refusal(session_, *why)};
    if (refusal)
      return tl::unexpected{std::move(*refusal)};
    return protocol("an event of a session without a type");
  }
  if (*type == "error") {
    const auto text = text_or(event, "error");
    if (text == "guest_mismatch")
      return tl::unexpected{*named_refusal(event)};
    if (auto refusal = session_stream_refusal(session_, text))
      return tl::unexpected{std::move(*refusal)};
    return tl::unexpected{failure{refused{text.substr(0, text.find(": ")), text}}};
  }
  if (*type == "ready")
    return take_ready(event);
  if (*type == "data")
    return take_data(event);
  if (*type == "heartbeat")
    return {};
  return protocol("an event of an unknown type in a session that is read");
}

result<void> session_reader::take_ready(const json& event) {
  if (ready_)
    return protocol("a second `ready`");
  const auto next = fields::offset(event, "nextOffset");
  if (!next)
    return protocol("`ready` of a session without a valid nextOffset");
  ready_ = true;
  chunk_.next_offset = *next;
  chunk_.dropped_bytes = fields::offset(event, "droppedBytes").value_or(0);
  chunk_.exit_code = fields::small_integer(event, "exitCode");
  const auto killed = fields::small_integer(event, "signal").has_value();
  chunk_.status = text_or(event, "state") != "exited" ? "running" : (killed ? "killed" : "exited");
  encoded_ = bytes_ && text_or(event, "encoding") == "base64";
  boot_ = boot_in(event);
  return {};
}

result<void> session_reader::take_data(const json& event) {
  if (!ready_)
    return protocol("data of a session before `ready`");
  const auto* data = fields::text(event, "data");
  const auto next = fields::offset(event, "nextOffset");
  if (data == nullptr || !next)
    return protocol("data of a session without its text or its place in the log");
  if (*next < reached_)
    return protocol("data of a session that goes back in the log");
  if (encoded_) {
    auto raw = from_base64(*data);
    if (!raw)
      return protocol("data of a session of malformed base64");
    chunk_.bytes += *raw;
  } else {
    chunk_.bytes += *data;
  }
  reached_ = *next;
  chunk_.next_offset = *next;
  return {};
}

// -- quiesce and flush ---------------------------------------------------------------

result<quiesce_report> read_quiesce(const json& reply) {
  if (auto refusal = refusal_in(reply)) {
    const auto* why = std::get_if<refused>(&*refusal);
    if (why == nullptr)
      return tl::unexpected{std::move(*refusal)};
    if (is_unknown_op(*why))
      return tl::unexpected{failure{unsupported{std::string{feature::quiesce}}}};
    return tl::unexpected{failure{quiesce_unconfirmed{why->code, why->text}}};
  }
  auto x = quiesce_report{};
  x.scope = text_or(reply, "scope") == "pid-namespace" ? "pid-namespace" : "owned-sessions";
  x.grace_ms = fields::offset(reply, "graceMs").value_or(0);
  x.rounds = fields::offset(reply, "rounds").value_or(0);
  if (const auto* all = fields::field(reply, "stopped"); all != nullptr && all->is_array())
    for (const auto& one : *all)
      if (const auto pid = fields::integer(one, "pid"))
        x.stopped.push_back({*pid, text_or(one, "command"), text_or(one, "signal")});
  return x;
}

result<flush_report> read_flush(const json& reply) {
  if (auto refusal = refusal_in(reply)) {
    const auto* why = std::get_if<refused>(&*refusal);
    if (why == nullptr)
      return tl::unexpected{std::move(*refusal)};
    if (is_unknown_op(*why) || why->code.starts_with("flush_unsupported"))
      return tl::unexpected{failure{unsupported{std::string{feature::flush}}}};
    return tl::unexpected{failure{flush_unconfirmed{why->code, why->text}}};
  }
  return flush_report{fields::offset(reply, "durationMs").value_or(0), text_or(reply, "workspace")};
}

} // namespace paddock::guest
