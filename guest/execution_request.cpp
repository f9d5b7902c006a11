#include "guest/execution_request.hpp"

#include "guest/execution_registry.hpp"
#include "guest/paths.hpp"

#include <cmath>
#include <cstdlib>

namespace paddock::guest {

namespace {

using nlohmann::json;

constexpr double default_timeout_ms = 300'000;
constexpr std::uint64_t default_output_bytes = 104'857'600;
constexpr double max_safe = 9'007'199'254'740'991;

const json& member(const json& object, const char* name) {
  static const auto absent = json(json::value_t::discarded);
  auto at = object.find(name);
  return at == object.end() ? absent : *at;
}

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace

std::optional<double> number_of(const json& value) {
  if (value.is_number())
    return value.get<double>();
  if (!value.is_string())
    return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  auto* end = static_cast<char*>(nullptr);
  auto number = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size())
    return std::nullopt;
  return number;
}

std::optional<std::uint64_t> offset_of(const json& value) {
  auto number = number_of(value);
  if (!number || !(*number >= 0) || *number > max_safe || std::floor(*number) != *number)
    return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

tl::expected<execution_request, std::string> read_execution_request(const json& body, const std::string& workspace,
                                                                    std::uint64_t max_timeout_ms) {
  auto refused = [](std::string text) { return tl::unexpected{std::move(text)}; };
  auto result = execution_request{};
  if (!body.is_object())
    return refused("missing_command");
  const auto& program = member(body, "command");
  if (!program.is_string() || program.get_ref<const std::string&>().empty())
    return refused("missing_command");
  result.program = program.get<std::string>();
  const auto& id = member(body, "executionId");
  if (!id.is_discarded()) {
    if (!id.is_string() || !is_execution_id(id.get_ref<const std::string&>()))
      return refused("invalid_execution_id");
    result.id = id.get<std::string>();
  }
  const auto& retain = member(body, "retainOutput");
  result.retain = retain.is_boolean() && retain.get<bool>();
  if (result.retain && !result.id)
    return refused("retain_requires_execution_id");
  const auto& directory = member(body, "cwd");
  auto wanted = directory.is_string() ? directory.get<std::string>() : std::string{};
  auto confined = confine(wanted, workspace, {workspace});
  if (!confined)
    return refused("invalid_cwd: " + confined.error());
  result.directory = confined->path;
  const auto& timeout = member(body, "timeoutMs");
  auto milliseconds = timeout.is_discarded() ? std::optional{default_timeout_ms} : number_of(timeout);
  if (!milliseconds || !std::isfinite(*milliseconds) || !(*milliseconds > 0) || *milliseconds > static_cast<double>(max_timeout_ms))
    return refused("invalid_timeout: timeoutMs must be a finite number in (0, " + std::to_string(max_timeout_ms)
                   + "] (NAMZU_SANDBOX_MAX_TIMEOUT_MS)");
  // A ceiling of a year keeps the sum with a clock in range.
  result.timeout = std::chrono::microseconds{static_cast<std::int64_t>(std::ceil(std::min(*milliseconds, 31'536'000'000.0) * 1000))};
  if (const auto& arguments = member(body, "args"); arguments.is_array())
    for (const auto& argument : arguments)
      result.arguments.push_back(text_of(argument));
  if (const auto& environment = member(body, "env"); environment.is_object())
    for (const auto& [name, value] : environment.items())
      result.environment.emplace(name, text_of(value));
  auto cap = number_of(member(body, "maxOutputBytes")).value_or(0);
  if (std::isnan(cap) || cap == 0 || cap > max_safe)
    result.max_output_bytes = default_output_bytes;
  else
    result.max_output_bytes = cap < 0 ? 0 : static_cast<std::uint64_t>(cap);
  const auto& encoding = member(body, "outputEncoding");
  result.output_as_base64 = encoding.is_string() && encoding.get_ref<const std::string&>() == "base64";
  const auto& streamed = member(body, "stdinStream");
  result.input_stream = streamed.is_boolean() && streamed.get<bool>();
  if (const auto& input = member(body, "stdin"); input.is_string() && !result.input_stream)
    result.input = input.get<std::string>();
  return result;
}

} // namespace paddock::guest
