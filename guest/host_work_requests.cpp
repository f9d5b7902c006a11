#include "guest/host_work_requests.hpp"

#include "base/utf8.hpp"
#include "guest/host_stream_requests.hpp"

#include <algorithm>

namespace paddock::guest {

namespace {

using nlohmann::ordered_json;

tl::unexpected<failure> invalid(std::string text) {
  return tl::unexpected{failure{invalid_argument{std::move(text)}}};
}

tl::unexpected<failure> no_session() {
  return invalid("a session id has 1 to 64 characters: a letter or digit, then letters, digits, '.', '_' or '-'");
}

} // namespace

result<std::string> reserve_named_frame(const endpoint& where, const std::string& execution_id) {
  return request_frame(where, "reserve-execution", ordered_json{{"executionId", execution_id}});
}

result<std::string> attach_frame(const endpoint& where, const std::string& execution_id, std::uint64_t from_offset, bool bytes) {
  auto body = ordered_json{{"executionId", execution_id}, {"fromOffset", from_offset}};
  if (bytes)
    body["outputEncoding"] = "base64";
  return request_frame(where, "attach-execution", std::move(body));
}

result<std::string> list_sessions_frame(const endpoint& where) {
  return request_frame(where, "list-sessions", std::nullopt);
}

result<std::string> start_detached_frame(const endpoint& where, const session_start& what) {
  if (!is_session_id(what.session))
    return no_session();
  if (!is_utf8(what.program))
    return not_text("command_not_text", "the program");
  auto body = ordered_json{{"sessionId", what.session}, {"command", what.program}};
  if (auto good = put_arguments(body, what.arguments, what.directory, what.environment); !good)
    return tl::unexpected{std::move(good.error())};
  return request_frame(where, "start-detached", std::move(body));
}

result<std::string> kill_session_frame(const endpoint& where, const std::string& session, const std::optional<std::string>& signal) {
  if (!is_session_id(session))
    return no_session();
  auto body = ordered_json{{"sessionId", session}};
  if (signal) {
    if (!is_utf8(*signal))
      return not_text("signal_not_text", "the signal");
    body["signal"] = *signal;
  }
  return request_frame(where, "kill-session", std::move(body));
}

result<std::string> read_session_frame(const endpoint& where, const std::string& session, std::uint64_t from_offset, bool bytes) {
  if (!is_session_id(session))
    return no_session();
  auto body = ordered_json{{"sessionId", session}, {"fromOffset", from_offset}, {"follow", false}};
  if (bytes)
    body["encoding"] = "base64";
  return request_frame(where, "attach-session", std::move(body));
}

result<std::string> quiesce_frame(const endpoint& where, const quiesce_request& how) {
  auto body = ordered_json::object();
  if (how.grace)
    body["graceMs"] = how.grace->count();
  if (how.idle_only)
    body["idleOnly"] = true;
  return request_frame(where, "quiesce", std::move(body));
}

result<std::string> flush_frame(const endpoint& where, std::optional<std::chrono::milliseconds> bound) {
  auto body = ordered_json::object();
  if (bound)
    body["timeoutMs"] = bound->count();
  return request_frame(where, "flush", std::move(body));
}

} // namespace paddock::guest
