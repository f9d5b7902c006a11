#include "guest/file_request.hpp"

#include "guest/execution_request.hpp"

#include <algorithm>

namespace paddock::guest {

using nlohmann::json;

tl::expected<wanted_range, std::string> read_range(const json& body) {
  auto result = wanted_range{};
  if (auto offset = body.find("offset"); offset != body.end()) {
    result.offset = offset_of(*offset);
    if (!result.offset)
      return tl::unexpected{std::string{"read_file_invalid_offset: offset must be a non-negative safe integer"}};
  }
  if (auto length = body.find("length"); length != body.end()) {
    result.length = offset_of(*length);
    if (!result.length)
      return tl::unexpected{std::string{"read_file_invalid_length: length must be a non-negative safe integer"}};
  }
  return result;
}

clamped_range clamp(const wanted_range& wanted, std::uint64_t size) {
  auto offset = wanted.offset.value_or(0);
  auto rest = offset >= size ? 0 : size - offset;
  return {offset, std::min(wanted.length.value_or(rest), rest)};
}

std::optional<std::string> range_refusal(const wanted_range& wanted, std::uint64_t size, std::uint64_t limit) {
  auto length = wanted.length.value_or(clamp(wanted, size).length);
  if (length <= limit)
    return std::nullopt;
  return "read_file_range_too_large: " + std::to_string(length) + " bytes requested, limit " + std::to_string(limit)
         + " (NAMZU_AGENT_READ_FILE_RANGE_BYTES); read-file-stream has no limit";
}

std::string text_member(const json& body, const char* name) {
  auto at = body.find(name);
  return at != body.end() && at->is_string() ? at->get<std::string>() : std::string{};
}

bool wants_base64(const json& body) {
  return text_member(body, "encoding") == "base64";
}

} // namespace paddock::guest
