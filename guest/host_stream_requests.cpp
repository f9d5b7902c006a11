#include "guest/host_stream_requests.hpp"

#include "base/base64.hpp"
#include "base/utf8.hpp"
#include "guest/envelope.hpp"
#include "guest/features.hpp"
#include "guest/frame.hpp"
#include "guest/host_requests.hpp"

#include <algorithm>

namespace paddock::guest {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t longest_session_id = 64;

tl::unexpected<failure> invalid(std::string text) {
  return tl::unexpected{failure{invalid_argument{std::move(text)}}};
}

bool is_alphanumeric(char x) {
  return (x >= '0' && x <= '9') || (x >= 'A' && x <= 'Z') || (x >= 'a' && x <= 'z');
}

void put_form(ordered_json& body, const stream_form& form) {
  if (form.heartbeat.count() > 0)
    body["heartbeatMs"] = form.heartbeat.count();
  if (form.bytes)
    body["encoding"] = "base64";
}

void put_size(ordered_json& body, const window_size& size) {
  body["cols"] = size.columns;
  body["rows"] = size.rows;
}

constexpr auto no_window = "a window has 1 to 1000 columns and 1 to 1000 rows";
constexpr auto no_session_id = "a session id has 1 to 64 letters, digits, '.', '_' or '-', and begins with a letter or digit";

// How many bytes the sequence has that begins with `x`; 0: none begins so.
std::size_t sequence_length(char x) {
  const auto byte = static_cast<unsigned char>(x);
  if (byte < 0x80)
    return 1;
  if (byte >= 0xc2 && byte <= 0xdf)
    return 2;
  if (byte >= 0xe0 && byte <= 0xef)
    return 3;
  return byte >= 0xf0 && byte <= 0xf4 ? 4 : 0;
}

// Base64 needs no escape.
std::string base64_frame(std::string_view before, std::string_view piece) {
  return to_frame(std::string{before} + to_base64(piece) + R"("})");
}

} // namespace

bool is_window(const window_size& size) {
  const auto fits = [](int n) { return n >= 1 && n <= 1000; };
  return fits(size.columns) && fits(size.rows);
}

bool is_session_id(std::string_view text) {
  if (text.empty() || text.size() > longest_session_id || !is_alphanumeric(text.front()))
    return false;
  return std::ranges::all_of(text, [](char x) { return is_alphanumeric(x) || x == '.' || x == '_' || x == '-'; });
}

result<std::string> terminal_frame(const endpoint& where, const terminal_request& what, const stream_form& form) {
  if (what.session && !is_session_id(*what.session))
    return invalid(no_session_id);
  if (!is_window(what.size))
    return invalid(no_window);
  auto body = ordered_json::object();
  if (what.program) {
    if (what.program->empty())
      return invalid("the program of a terminal has no name");
    if (!is_utf8(*what.program))
      return not_text("command_not_text", "the program");
    body["command"] = *what.program;
  }
  if (auto good = put_arguments(body, what.arguments, what.directory, what.environment); !good)
    return tl::unexpected{std::move(good.error())};
  put_size(body, what.size);
  if (what.session) {
    body["sessionId"] = *what.session;
    body["persistent"] = true;
  }
  put_form(body, form);
  return request_frame(where, "terminal", std::move(body));
}

result<std::string> attach_session_frame(const endpoint& where, const session_attach& what, const stream_form& form) {
  if (!is_session_id(what.session))
    return invalid(no_session_id);
  if (what.size && !is_window(*what.size))
    return invalid(no_window);
  auto body = ordered_json{{"sessionId", what.session}, {"fromOffset", what.from_offset}};
  if (what.size)
    put_size(body, *what.size);
  put_form(body, form);
  return request_frame(where, "attach-session", std::move(body));
}

result<std::string> tcp_connect_frame(const endpoint& where, const std::string& host, int port, const stream_form& form) {
  if (host != "127.0.0.1" && host != "::1")
    return invalid("connections are restricted to the guest's loopback: 127.0.0.1 or ::1");
  if (port < 1 || port > 65535)
    return invalid("a port is a number from 1 to 65535");
  auto body = ordered_json{{"host", host}, {"port", port}};
  // Its data are base64 in any case.
  put_form(body, {false, form.heartbeat});
  return request_frame(where, "tcp-connect", std::move(body));
}

std::size_t unfinished_tail(std::string_view bytes) {
  const auto most = std::min<std::size_t>(3, bytes.size());
  for (auto n = std::size_t{1}; n <= most; ++n) {
    const auto tail = bytes.substr(bytes.size() - n);
    const auto length = sequence_length(tail.front());
    // A continuation byte: what it belongs to is further in front.
    if ((static_cast<unsigned char>(tail.front()) & 0xc0) == 0x80)
      continue;
    return length > n ? n : 0;
  }
  return 0;
}

std::string_view take_piece(std::string_view& rest, bool text) {
  auto piece = rest.substr(0, stream_bytes_piece);
  if (text && piece.size() < rest.size())
    piece.remove_suffix(unfinished_tail(piece));
  rest.remove_prefix(piece.size());
  return piece;
}

std::string input_frame(std::string_view piece, bool bytes) {
  if (bytes)
    return base64_frame(R"({"type":"input","data":")", piece);
  return to_frame(to_text(ordered_json{{"type", "input"}, {"data", std::string{piece}}}));
}

std::string resize_frame(const window_size& size) {
  auto x = ordered_json::object();
  x["type"] = "resize";
  put_size(x, size);
  return to_frame(to_text(x));
}

std::string kill_frame(const std::string& signal) {
  return to_frame(to_text(ordered_json{{"type", "kill"}, {"signal", signal}}));
}

std::string tcp_data_frame(std::string_view piece) {
  return base64_frame(R"({"type":"data","data":")", piece);
}

std::string tcp_end_frame() {
  return to_frame(R"({"type":"end"})");
}

std::string tcp_destroy_frame() {
  return to_frame(R"({"type":"destroy"})");
}

std::string heartbeat_frame() {
  return to_frame(R"({"type":"heartbeat"})");
}

} // namespace paddock::guest
