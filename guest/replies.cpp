#include "guest/replies.hpp"

#include "base/base64.hpp"
#include "base/utf8.hpp"
#include "guest/envelope.hpp"
#include "guest/features.hpp"
#include "guest/frame.hpp"

namespace paddock::guest {

namespace {

using object = nlohmann::ordered_json;

object to_json(const execution_result& x) {
  auto result = object{{"exitCode", x.exit_code}, {"timedOut", x.timed_out}, {"durationMs", x.duration_ms}};
  if (x.signal)
    result["signal"] = *x.signal;
  result["stdoutTruncated"] = x.out_truncated;
  result["stderrTruncated"] = x.err_truncated;
  return result;
}

const char* type_of(stream which) {
  return which == stream::out ? "stdout_delta" : "stderr_delta";
}

// Nothing in base64 needs an escape, and this is the path of bulk data. Without the last brace.
void append_delta(std::string& to, stream which, std::string_view bytes) {
  to.append(R"({"type":")").append(type_of(which)).append(R"(","data":")");
  auto encoder = base64_encoder{};
  encoder.add(to, bytes);
  encoder.finish(to);
  to.append(R"(","encoding":"base64")");
}

} // namespace

std::string refusal(std::string_view error) {
  return to_text(object{{"ok", false}, {"error", error}});
}

std::string error_event(std::string_view error) {
  return to_text(object{{"type", "error"}, {"error", error}});
}

std::string healthz_reply(bool retiring, std::span<const std::string_view> features) {
  auto reply = object{{"ok", !retiring}, {"protocolVersion", protocol_version}, {"features", features}};
  if (retiring)
    reply["retiring"] = true;
  return to_text(reply);
}

std::string frame_too_large_refusal(std::uint64_t announced, std::uint64_t limit, bool authenticated) {
  return refusal("frame_too_large: announced " + std::to_string(announced) + " bytes, limit " + std::to_string(limit) + " ("
                 + (authenticated ? "NAMZU_AGENT_MAX_FRAME_BYTES" : "NAMZU_AGENT_MAX_PREAUTH_FRAME_BYTES") + ")");
}

std::string evicted_refusal(std::uint64_t limit) {
  return refusal("too_many_unauthenticated_connections: limit " + std::to_string(limit) + " (NAMZU_AGENT_MAX_PREAUTH_CONNECTIONS)");
}

std::string preauth_buffer_refusal(std::uint64_t limit) {
  return refusal("preauth_buffer_exhausted: limit " + std::to_string(limit) + " bytes (NAMZU_AGENT_MAX_PREAUTH_BUFFER_BYTES)");
}

std::string reservation_reply(const guest_boot_id& boot, const std::string& id, std::int64_t expires_at_ms,
                              std::optional<execution_state> state, std::optional<std::uint64_t> output_offset) {
  auto reply = object{{"ok", true},
                      {"guestBootId", boot.text()},
                      {"protocolVersion", protocol_version},
                      {"executionId", id},
                      {"leaseExpiresAt", expires_at_ms}};
  if (state)
    reply["state"] = to_string(*state);
  if (output_offset) {
    reply["retainedOutput"] = true;
    reply["outputOffset"] = *output_offset;
  }
  return to_text(reply);
}

std::string terminal_reply(const guest_boot_id& boot, const execution_end& end) {
  auto reply = object{{"ok", true}, {"guestBootId", boot.text()}, {"state", to_string(end.outcome)}, {"started", end.started}};
  if (end.result)
    reply["result"] = to_json(*end.result);
  if (end.error)
    reply["error"] = *end.error;
  return to_text(reply);
}

std::string cancel_refusal(const guest_boot_id& boot, std::string_view error, std::string_view message) {
  auto reply = object{{"ok", false}, {"guestBootId", boot.text()}, {"error", error}};
  if (!message.empty())
    reply["message"] = message;
  return to_text(reply);
}

std::string delta_event(stream which, std::string_view bytes, bool as_base64, std::optional<std::uint64_t> offset) {
  if (as_base64) {
    auto text = std::string{};
    text.reserve(base64_size(bytes.size()) + 140);
    append_delta(text, which, bytes);
    if (offset)
      text.append(R"(,"offset":)")
        .append(std::to_string(*offset))
        .append(R"(,"nextOffset":)")
        .append(std::to_string(*offset + bytes.size()));
    text += '}';
    return text;
  }
  auto event = object{{"type", type_of(which)}, {"data", to_utf8_with_replacement(bytes)}};
  if (offset) {
    event["offset"] = *offset;
    event["nextOffset"] = *offset + bytes.size();
  }
  return to_text(event);
}

std::string delta_frame(stream which, std::string_view bytes, bool as_base64) {
  if (!as_base64)
    return to_frame(delta_event(which, bytes, false));
  auto frame = std::string{};
  frame.reserve(frame_header_size + base64_size(bytes.size()) + 64);
  frame.assign(frame_header_size, '0');
  append_delta(frame, which, bytes);
  frame += '}';
  return frame.replace(0, frame_header_size, frame_header(static_cast<std::uint32_t>(frame.size() - frame_header_size)));
}

std::string result_event(const execution_result& x) {
  auto event = object{{"type", "result"}};
  event.update(to_json(x));
  return to_text(event);
}

std::string attached_event(const std::string& id, execution_state state, std::uint64_t from, std::uint64_t dropped) {
  return to_text(
    object{{"type", "attached"}, {"executionId", id}, {"state", to_string(state)}, {"fromOffset", from}, {"droppedBytes", dropped}});
}

std::string attach_result_event(const std::string& id, const execution_end& end, std::uint64_t next_offset) {
  auto event = object{{"type", "attach_result"}, {"executionId", id}, {"outcome", to_string(end.outcome)}, {"started", end.started}};
  if (end.result)
    event["result"] = to_json(*end.result);
  if (end.error)
    event["error"] = *end.error;
  event["nextOffset"] = next_offset;
  return to_text(event);
}

std::string output_not_retained_event(execution_state state) {
  return to_text(object{{"type", "error"}, {"error", "output_not_retained"}, {"state", to_string(state)}});
}

std::string read_file_reply(const guest_boot_id& boot, std::string_view content, std::uint64_t size, bool as_base64,
                            std::optional<file_range> range) {
  auto reply = object{{"ok", true}, {"guestBootId", boot.text()}};
  reply["content"] = as_base64 ? to_base64(content) : to_utf8_with_replacement(content);
  reply["sizeBytes"] = size;
  reply["encoding"] = as_base64 ? "base64" : "utf8";
  if (range) {
    reply["offset"] = range->offset;
    reply["bytesRead"] = content.size();
  }
  return to_text(reply);
}

std::string write_file_reply(const guest_boot_id& boot, std::uint64_t bytes_written) {
  return to_text(object{{"ok", true}, {"guestBootId", boot.text()}, {"bytesWritten", bytes_written}});
}

} // namespace paddock::guest
