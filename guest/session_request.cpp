#include "guest/session_request.hpp"

#include "base/base64.hpp"
#include "guest/envelope.hpp"
#include "guest/execution_request.hpp"
#include "guest/heartbeat.hpp"
#include "guest/host_stream_requests.hpp"
#include "guest/paths.hpp"

#include <cmath>
#include <csignal>

namespace paddock::guest {

namespace {

using nlohmann::json;

constexpr std::string_view default_program = "/bin/sh";
constexpr std::string_view default_term = "xterm-256color";
constexpr double largest_side = 1000;

const json& member(const json& object, const char* name) {
  static const auto absent = json(json::value_t::discarded);
  if (!object.is_object())
    return absent;
  auto at = object.find(name);
  return at == object.end() ? absent : *at;
}

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool is_true(const json& value) {
  return value.is_boolean() && value.get<bool>();
}

bool asks_for_base64(const json& body) {
  const auto& encoding = member(body, "encoding");
  return encoding.is_string() && encoding.get_ref<const std::string&>() == "base64";
}

std::optional<std::uint16_t> side_of(const json& value) {
  auto number = number_of(value);
  if (!number || !(*number >= 1) || *number > largest_side || std::floor(*number) != *number)
    return std::nullopt;
  return static_cast<std::uint16_t>(*number);
}

tl::expected<session_program, std::string> read_program(const json& body, const std::string& workspace) {
  auto result = session_program{};
  const auto& directory = member(body, "cwd");
  auto confined = confine(directory.is_string() ? directory.get<std::string>() : std::string{}, workspace, {workspace});
  if (!confined)
    return tl::unexpected{confined.error()};
  result.directory = confined->path;
  const auto& program = member(body, "command");
  result.program = program.is_string() && !program.get_ref<const std::string&>().empty() ? program.get<std::string>() : default_program;
  if (const auto& arguments = member(body, "args"); arguments.is_array())
    for (const auto& argument : arguments)
      result.arguments.push_back(text_of(argument));
  if (const auto& environment = member(body, "env"); environment.is_object())
    for (const auto& [name, value] : environment.items())
      result.environment.emplace(name, text_of(value));
  return result;
}

} // namespace

std::optional<std::string> session_id_in(const json& body) {
  const auto& id = member(body, "sessionId");
  if (!id.is_string() || !is_session_id(id.get_ref<const std::string&>()))
    return std::nullopt;
  return id.get<std::string>();
}

tl::expected<terminal_size, std::string> read_terminal_size(const json& object) {
  auto columns = side_of(member(object, "cols"));
  if (!columns)
    return tl::unexpected{std::string{"cols must be an integer in [1, 1000]"}};
  auto rows = side_of(member(object, "rows"));
  if (!rows)
    return tl::unexpected{std::string{"rows must be an integer in [1, 1000]"}};
  return terminal_size{*columns, *rows};
}

tl::expected<terminal_opening, std::string> read_terminal_opening(const json& body, const std::string& workspace) {
  if (!body.is_object())
    return tl::unexpected{std::string{"missing_terminal_options"}};
  auto result = terminal_opening{};
  auto size = read_terminal_size(body);
  if (!size)
    return tl::unexpected{size.error()};
  result.size = *size;
  auto run = read_program(body, workspace);
  if (!run)
    return tl::unexpected{run.error()};
  result.run = std::move(*run);
  result.run.environment.emplace("TERM", default_term);
  if (is_true(member(body, "persistent"))) {
    result.session = session_id_in(body);
    if (!result.session)
      return tl::unexpected{std::string{"invalid_session_id"}};
  }
  result.heartbeat = accepted_heartbeat(body);
  result.as_base64 = asks_for_base64(body);
  return result;
}

bool names_program(const json& body) {
  const auto& program = member(body, "command");
  return program.is_string() && !program.get_ref<const std::string&>().empty();
}

tl::expected<session_program, std::string> read_detached_program(const json& body, const std::string& workspace) {
  return read_program(body, workspace);
}

attach_opening read_attach_opening(const json& body) {
  auto result = attach_opening{};
  if (const auto& from = member(body, "fromOffset"); !from.is_discarded())
    result.from = offset_of(from);
  const auto& follow = member(body, "follow");
  result.follow = !follow.is_boolean() || follow.get<bool>();
  if (auto size = read_terminal_size(body))
    result.size = *size;
  result.heartbeat = accepted_heartbeat(body);
  result.as_base64 = asks_for_base64(body);
  return result;
}

int signal_in(const json& object, int fallback) {
  const auto& name = member(object, "signal");
  if (!name.is_string())
    return fallback;
  const auto& text = name.get_ref<const std::string&>();
  if (text == "SIGTERM")
    return SIGTERM;
  if (text == "SIGKILL")
    return SIGKILL;
  if (text == "SIGINT")
    return SIGINT;
  if (text == "SIGHUP")
    return SIGHUP;
  return fallback;
}

terminal_event read_terminal_event(std::string_view payload, bool as_base64) {
  // Bulk input in its usual form is not worth parsing.
  constexpr auto head = std::string_view{R"({"type":"input","data":")"};
  constexpr auto tail = std::string_view{"\"}"};
  if (as_base64 && payload.starts_with(head) && payload.ends_with(tail) && payload.size() >= head.size() + tail.size())
    if (auto bytes = from_base64(payload.substr(head.size(), payload.size() - head.size() - tail.size())))
      return terminal_input{std::move(*bytes)};
  auto message = parse_payload(payload);
  if (!message)
    return std::monostate{};
  const auto& type = member(*message, "type");
  if (!type.is_string())
    return std::monostate{};
  if (type == "input") {
    const auto& data = member(*message, "data");
    if (!data.is_string())
      return std::monostate{};
    if (!as_base64)
      return terminal_input{data.get<std::string>()};
    if (auto bytes = from_base64(data.get_ref<const std::string&>()))
      return terminal_input{std::move(*bytes)};
    return std::monostate{};
  }
  if (type == "resize") {
    if (auto size = read_terminal_size(*message))
      return *size;
    return std::monostate{};
  }
  if (type == "kill")
    return terminal_kill{signal_in(*message, SIGTERM)};
  return std::monostate{};
}

} // namespace paddock::guest
