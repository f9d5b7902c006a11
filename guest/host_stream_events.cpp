#include "guest/host_stream_events.hpp"

#include "base/base64.hpp"
#include "guest/envelope.hpp"
#include "guest/heartbeat.hpp"
#include "guest/host_replies.hpp"
#include "guest/reply_fields.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace paddock::guest {

namespace {

using nlohmann::json;

constexpr auto session_codes =
  std::array<std::string_view, 8>{"unknown_session",  "invalid_session_id", "invalid_offset", "session_exists",
                                  "session_capacity", "missing_command",    "spawn_failed",   "agent_retiring"};

stream_events::broken protocol(std::string text) {
  return {failure{protocol_failure{text}}, std::move(text)};
}

// A word of the guest that goes into what callers see.
std::string word_in(const json& object, const char* name, std::string otherwise) {
  constexpr std::size_t longest = 64;
  const auto* text = fields::text(object, name);
  return text == nullptr || text->empty() || text->size() > longest ? std::move(otherwise) : *text;
}

session_position position_in(const json& frame) {
  return {word_in(frame, "kind", "terminal"), word_in(frame, "state", "running"), fields::offset(frame, "fromOffset").value_or(0),
          fields::offset(frame, "droppedBytes").value_or(0), fields::offset(frame, "nextOffset").value_or(0)};
}

} // namespace

failure stream_refusal(const json& frame, const std::optional<std::string>& session) {
  // Both shapes are refused in the same words.
  auto reply = json::object();
  reply["ok"] = false;
  for (const auto* name : {"error", "message", "guestBootId"})
    if (const auto found = frame.find(name); found != frame.end())
      reply[name] = *found;
  const auto* text = fields::text(frame, "error");
  const auto is_code = text != nullptr && std::ranges::find(session_codes, *text) != session_codes.end();
  if (session && is_code) {
    auto told = *text;
    if (const auto end = fields::offset(frame, "nextOffset"))
      told += ": the log ends at byte " + std::to_string(*end);
    return session_refused{*session, *text, std::move(told)};
  }
  auto refusal = refusal_in(reply);
  return refusal ? std::move(*refusal) : failure{protocol_failure{"a refusal that refuses nothing"}};
}

stream_events::event stream_events::take(std::string_view payload) {
  if (state_ == state::over || payload.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return nothing{};
  auto frame = parse_payload(payload);
  auto got = frame && frame->is_object() ? read(*frame) : event{protocol("a frame that is no JSON object")};
  if (asked_.session && goes_back(got))
    got = protocol("a session that goes back in its log");
  if (auto* end = std::get_if<ended>(&got); end != nullptr && state_ == state::opening) {
    auto text = "it ended before it was ready"
                + (asked_.what == asked_stream::kind::terminal ? ", with exit code " + std::to_string(end->how.exit_code) : std::string{});
    got = broken{failure{command_failed{text}}, text};
  }
  if (std::holds_alternative<ended>(got) || std::holds_alternative<broken>(got)) {
    state_ = state::over;
    early_ = {};
  }
  return got;
}

bool stream_events::goes_back(const event& x) {
  auto place = std::optional<std::uint64_t>{};
  if (const auto* start = std::get_if<opened>(&x))
    place = start->resume_at;
  else if (const auto* output = std::get_if<stream_output>(&x))
    place = output->next_offset;
  else if (const auto* end = std::get_if<ended>(&x))
    place = end->next_offset;
  if (!place)
    return false;
  return *place < std::exchange(reached_, *place);
}

stream_events::event stream_events::read(json& frame) {
  const auto* type = fields::text(frame, "type");
  if (type == nullptr) {
    const auto ok = frame.find("ok");
    if (ok != frame.end() && ok->is_boolean() && !ok->get<bool>())
      return refused(frame);
    return protocol("a frame without a type");
  }
  const auto terminal = asked_.what == asked_stream::kind::terminal;
  if (*type == "data")
    return output(frame);
  if (*type == "ready")
    return ready(frame);
  if (*type == "error")
    return refused(frame);
  if (terminal && *type == "exit")
    return exit(frame);
  if (terminal && *type == "detached") {
    auto text = "detached by the guest: " + word_in(frame, "reason", "no reason given");
    return broken{failure{lost{text}}, std::move(text)};
  }
  if (!terminal && *type == "end")
    return ended{};
  return nothing{};
}

stream_events::event stream_events::ready(const json& frame) {
  if (state_ != state::opening)
    return nothing{};
  auto x = opened{};
  x.boot = boot_in(frame);
  if (asked_.session) {
    // A guest that took it for a terminal of this connection would kill the program with it.
    const auto* session = fields::text(frame, "sessionId");
    if (session == nullptr || *session != *asked_.session)
      return protocol("a session was asked for, and the answer does not name it");
    x.position = position_in(frame);
    x.resume_at = fields::offset(frame, "fromOffset");
  }
  x.heartbeat = armed_heartbeat(asked_.heartbeat, frame);
  const auto* encoding = fields::text(frame, "encoding");
  bytes_ = asked_.bytes && encoding != nullptr && *encoding == "base64";
  x.bytes = bytes_;
  state_ = state::open;
  for (auto early = std::exchange(early_, {}); !early.empty();) {
    auto one = early.pop();
    if (!decode(one.bytes))
      return protocol("data of malformed base64");
    x.early.push(std::move(one));
  }
  return x;
}

stream_events::event stream_events::output(json& frame) {
  const auto found = frame.find("data");
  auto* data = found == frame.end() ? nullptr : found->get_ptr<std::string*>();
  if (data == nullptr)
    return protocol("a data frame without data");
  auto x = stream_output{std::move(*data), fields::offset(frame, "nextOffset")};
  if (state_ == state::opening) {
    early_.push(std::move(x));
    early_.keep_newest(asked_.waiting_bytes);
    return nothing{};
  }
  if (!decode(x.bytes))
    return protocol("data of malformed base64");
  return x;
}

stream_events::event stream_events::exit(const json& frame) {
  return ended{{fields::small_integer(frame, "exitCode").value_or(-1), fields::small_integer(frame, "signal")},
               fields::offset(frame, "nextOffset")};
}

stream_events::event stream_events::refused(const json& frame) const {
  const auto* error = fields::text(frame, "error");
  auto text = error == nullptr ? std::string{"the guest gave no reason"} : fields::bounded(*error);
  return broken{stream_refusal(frame, asked_.session), std::move(text)};
}

bool stream_events::decode(std::string& data) const {
  if (asked_.what != asked_stream::kind::tcp && !bytes_)
    return true;
  auto raw = from_base64(data);
  if (!raw)
    return false;
  data = std::move(*raw);
  return true;
}

} // namespace paddock::guest
