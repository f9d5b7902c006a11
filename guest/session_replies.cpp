#include "guest/session_replies.hpp"

#include "base/base64.hpp"
#include "base/utf8.hpp"
#include "guest/envelope.hpp"

namespace paddock::guest {

namespace {

using object = nlohmann::ordered_json;

void put_exit(object& into, const session_exit& how) {
  into["exitCode"] = how.exit_code;
  if (how.signal)
    into["signal"] = *how.signal;
}

void put_summary(object& into, const session_summary& x) {
  into["sessionId"] = x.id;
  into["kind"] = to_string(x.kind);
  into["command"] = x.command;
  into["args"] = x.arguments;
  into["startedAt"] = x.started_at_ms;
  if (x.last_input_at_ms)
    into["lastInputAt"] = *x.last_input_at_ms;
  if (x.last_output_at_ms)
    into["lastOutputAt"] = *x.last_output_at_ms;
  into["nextOffset"] = x.next_offset;
  into["droppedBytes"] = x.dropped_bytes;
  into["state"] = to_string(x.state);
  into["attached"] = x.attached;
  if (x.state == session_state::exited)
    put_exit(into, x.exit);
}

void put_terms(object& into, const stream_terms& terms) {
  if (terms.heartbeat)
    into["heartbeatMs"] = terms.heartbeat->count();
  if (terms.as_base64)
    into["encoding"] = "base64";
}

std::string_view name_of(stream x) {
  return x == stream::out ? "stdout" : "stderr";
}

} // namespace

std::string sessions_reply(std::span<const session_summary> all) {
  auto rows = object::array();
  for (const auto& each : all) {
    auto row = object::object();
    put_summary(row, each);
    rows.push_back(std::move(row));
  }
  return to_text(object{{"ok", true}, {"sessions", std::move(rows)}});
}

std::string detached_reply(const session_summary& x, pid_t pid) {
  auto reply = object{{"ok", true}};
  put_summary(reply, x);
  reply["pid"] = pid;
  return to_text(reply);
}

std::string killed_reply(const session_summary& x, std::optional<std::size_t> signalled) {
  auto reply = object{{"ok", true}};
  put_summary(reply, x);
  if (signalled)
    reply["signalled"] = *signalled;
  return to_text(reply);
}

std::string spawn_failed_reply(std::string_view message) {
  return to_text(object{{"ok", false}, {"error", "spawn_failed"}, {"message", message}});
}

std::string invalid_offset_event(std::uint64_t next_offset) {
  return to_text(object{{"type", "error"}, {"error", "invalid_offset"}, {"nextOffset", next_offset}});
}

std::string terminal_ready_event(const guest_boot_id& boot, const stream_terms& terms) {
  auto event = object{{"type", "ready"}, {"guestBootId", boot.text()}};
  put_terms(event, terms);
  return to_text(event);
}

std::string session_ready_event(const guest_boot_id& boot, const session_summary& x, std::uint64_t from, std::uint64_t dropped,
                                const stream_terms& terms) {
  auto event = object{
    {"type", "ready"}, {"guestBootId", boot.text()}, {"sessionId", x.id}, {"kind", to_string(x.kind)}, {"state", to_string(x.state)}};
  if (x.state == session_state::exited)
    put_exit(event, x.exit);
  event["fromOffset"] = from;
  event["droppedBytes"] = dropped;
  event["nextOffset"] = x.next_offset;
  put_terms(event, terms);
  return to_text(event);
}

std::string terminal_data_event(std::string_view bytes, bool as_base64) {
  if (!as_base64)
    return to_text(object{{"type", "data"}, {"data", to_utf8_with_replacement(bytes)}});
  auto text = std::string{};
  text.reserve(base64_size(bytes.size()) + 40);
  return text.append(R"({"type":"data","data":")").append(to_base64(bytes)).append(R"("})");
}

std::string session_data_event(stream which, std::string_view bytes, std::uint64_t offset, bool as_base64) {
  auto next = offset + bytes.size();
  if (!as_base64)
    return to_text(object{
      {"type", "data"}, {"stream", name_of(which)}, {"data", to_utf8_with_replacement(bytes)}, {"offset", offset}, {"nextOffset", next}});
  auto text = std::string{};
  text.reserve(base64_size(bytes.size()) + 120);
  text.append(R"({"type":"data","stream":")").append(name_of(which)).append(R"(","data":")").append(to_base64(bytes));
  return text.append(R"(","offset":)").append(std::to_string(offset)).append(R"(,"nextOffset":)").append(std::to_string(next)).append("}");
}

std::string exit_event(const session_exit& how, std::optional<std::uint64_t> next_offset) {
  auto event = object{{"type", "exit"}};
  put_exit(event, how);
  if (next_offset)
    event["nextOffset"] = *next_offset;
  return to_text(event);
}

std::string detached_event(std::string_view reason) {
  return to_text(object{{"type", "detached"}, {"reason", reason}});
}

} // namespace paddock::guest
