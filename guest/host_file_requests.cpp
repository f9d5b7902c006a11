#include "guest/host_file_requests.hpp"

#include "base/base64.hpp"
#include "base/utf8.hpp"
#include "guest/frame.hpp"

#include <algorithm>
#include <string_view>

namespace paddock::guest {

namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t part_headroom = 1'024;
constexpr std::size_t longest_name = 96;        // characters of the target's name in the temporary's, in UTF-16 units
constexpr std::size_t longest_name_bytes = 200; // with the rest of the temporary's name it is 255

tl::unexpected<failure> invalid(std::string text) {
  return tl::unexpected{failure{invalid_argument{std::move(text)}}};
}

/// A request is written with no content and cut where the content goes. Quotes inside a text are escaped, so this is
/// found only there.
content_frame cut(const endpoint& where, ordered_json body) {
  constexpr auto hole = std::string_view{R"("content":"")"};
  // The content is base64 and never needs an escape.
  auto frame = request_frame(where, "write-file", std::move(body));
  if (!frame)
    return {std::string(frame_header_size, '0'), std::string(request_ceiling, ' ')};
  const auto at = frame->find(hole) + hole.size() - 1;
  return {frame->substr(0, at), frame->substr(at)};
}

/// The front of `text`, cut between two characters.
std::string_view cut_to(std::string_view text, std::size_t units, std::size_t bytes) {
  auto end = std::size_t{0};
  while (end < text.size()) {
    const auto lead = static_cast<unsigned char>(text[end]);
    const auto length = lead < 0x80 ? 1u : lead < 0xe0 ? 2u : lead < 0xf0 ? 3u : 4u;
    const auto cost = length == 4 ? 2u : 1u;
    if (units < cost || end + length > bytes)
      break;
    units -= cost;
    end = std::min<std::size_t>(end + length, text.size());
  }
  return text.substr(0, end);
}

} // namespace

result<void> check_path(const std::string& path) {
  if (path.empty())
    return invalid("the path is empty");
  if (path.find('\0') != std::string::npos)
    return invalid("the path holds a NUL");
  if (!is_utf8(path))
    return not_text("path_not_text", "the path");
  return {};
}

result<std::string> read_stream_frame(const endpoint& where, const std::string& path, std::optional<std::uint64_t> offset,
                                      std::optional<std::uint64_t> length) {
  if (auto good = check_path(path); !good)
    return tl::unexpected{std::move(good.error())};
  auto body = ordered_json{{"path", path}};
  if (offset.value_or(0) > largest_safe_integer || length.value_or(0) > largest_safe_integer)
    return invalid("an offset or a length is beyond 2^53");
  if (offset)
    body["offset"] = *offset;
  if (length)
    body["length"] = *length;
  return request_frame(where, "read-file-stream", std::move(body));
}

std::uint64_t content_frame::size_with(std::uint64_t n) const {
  return before.size() - frame_header_size + after.size() + (n + 2) / 3 * 4;
}

std::uint64_t content_frame::room() const {
  const auto around = size_with(0);
  return around >= request_ceiling ? 0 : (request_ceiling - around) / 4 * 3;
}

void seal(std::string& frame) {
  frame.replace(0, frame_header_size, frame_header(static_cast<std::uint32_t>(frame.size() - frame_header_size)));
}

content_frame whole_write(const endpoint& where, const std::string& path) {
  return cut(where, ordered_json{{"path", path}, {"content", ""}, {"encoding", "base64"}});
}

content_frame part_write(const endpoint& where, const std::string& temporary, std::uint64_t offset,
                         const std::optional<std::string>& rename_to) {
  auto part = ordered_json{{"offset", offset}, {"final", rename_to.has_value()}};
  if (rename_to)
    part["renameTo"] = *rename_to;
  return cut(where, ordered_json{{"path", temporary}, {"content", ""}, {"encoding", "base64"}, {"part", std::move(part)}});
}

result<std::string> discard_frame(const endpoint& where, const std::string& temporary) {
  auto part = ordered_json{{"discard", true}};
  return request_frame(where, "write-file",
                       ordered_json{{"path", temporary}, {"content", ""}, {"encoding", "base64"}, {"part", std::move(part)}});
}

std::string temporary_path(const std::string& target, const std::string& uuid) {
  const auto slash = target.rfind('/');
  const auto name_at = slash == std::string::npos ? 0 : slash + 1;
  const auto name = cut_to(std::string_view{target}.substr(name_at), longest_name, longest_name_bytes);
  return target.substr(0, name_at) + ".namzu-write-" + uuid + "-" + std::string{name} + ".part";
}

std::uint64_t part_size(const endpoint& where, const std::string& temporary, const std::string& target, std::uint64_t largest_offset,
                        std::optional<std::uint64_t> configured) {
  const auto around = part_write(where, temporary, largest_offset, target).size_with(0) + part_headroom;
  if (around >= request_ceiling)
    return 0;
  const auto most = (request_ceiling - around) / 4 * 3;
  return std::min(most, std::max<std::uint64_t>(configured.value_or(most), 1));
}

} // namespace paddock::guest
