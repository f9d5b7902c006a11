// `read-file` ([G] 7.2).

#include "base/base64.hpp"
#include "base/utf8.hpp"
#include "guest/agent/file_access.hpp"
#include "guest/agent/process.hpp"
#include "guest/file_request.hpp"
#include "guest/frame.hpp"
#include "guest/replies.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>

namespace paddock::guest {

namespace {

using nlohmann::json;

constexpr auto frame_room = std::uint64_t{std::numeric_limits<std::uint32_t>::max()} - 4096; // for content and the rest
constexpr auto piece = std::size_t{192 * 1024};                                              // whole groups of base64

// The reply up to its content, and from there on. Field order is that of the reference.
std::string head(const guest_boot_id& boot) {
  return R"({"ok":true,"guestBootId":")" + boot.text() + R"(","content":")";
}

std::string tail(std::uint64_t size, bool as_base64, const wanted_range& wanted, std::uint64_t offset, std::uint64_t bytes) {
  auto text = R"(","sizeBytes":)" + std::to_string(size) + R"(,"encoding":")" + (as_base64 ? "base64" : "utf8") + '"';
  if (!wanted.whole())
    text += R"(,"offset":)" + std::to_string(offset) + R"(,"bytesRead":)" + std::to_string(bytes);
  return text + '}';
}

// `text` is UTF-8.
void append_escaped(std::string& to, std::string_view text) {
  constexpr auto digits = "0123456789abcdef";
  auto from = std::size_t{0};
  for (auto i = std::size_t{0}; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\')
      continue;
    to.append(text, from, i - from);
    from = i + 1;
    switch (c) {
      case '"': to += R"(\")"; break;
      case '\\': to += R"(\\)"; break;
      case '\b': to += R"(\b)"; break;
      case '\f': to += R"(\f)"; break;
      case '\n': to += R"(\n)"; break;
      case '\r': to += R"(\r)"; break;
      case '\t': to += R"(\t)"; break;
      default: to.append(R"(\u00)").append(1, digits[c >> 4]).append(1, digits[c & 15]);
    }
  }
  to.append(text, from);
}

// Calls `take` with the bytes from `offset` on, at most `limit` of them. 0, or an errno value.
template <class Take>
int each_piece(const readable_file& file, std::uint64_t offset, std::uint64_t limit, Take take) {
  if (file.content) {
    take(std::string_view{*file.content}.substr(static_cast<std::size_t>(std::min(offset, file.size)), static_cast<std::size_t>(limit)));
    return 0;
  }
  auto buffer = std::string(static_cast<std::size_t>(std::min<std::uint64_t>(limit, piece)), '\0');
  for (auto done = std::uint64_t{0}; done < limit;) {
    auto want = static_cast<std::size_t>(std::min<std::uint64_t>(limit - done, buffer.size()));
    auto n = read_at(file.fd.get(), buffer.data(), want, offset + done);
    if (!n)
      return n.error();
    take(std::string_view{buffer.data(), *n});
    done += *n;
    if (*n < want)
      return 0;
  }
  return 0;
}

} // namespace

std::string read_file(const agent_config& config, const guest_boot_id& boot, const file_calls& calls, const json& body) {
  auto refused = [](std::string_view text) { return to_frame(refusal(text)); };
  auto path = text_member(body, "path");
  if (path.empty())
    return refused("missing_path");
  auto as_base64 = wants_base64(body);
  if (!as_base64 && (body.contains("offset") || body.contains("length")))
    return refused("read_file_range_requires_base64: a range may cut a character; ask with encoding base64");
  auto wanted = read_range(body);
  if (!wanted)
    return refused(wanted.error());
  auto file = open_to_read(config, calls, path);
  if (!file)
    return refused(file.error().text);
  if (!wanted->whole())
    if (auto no = range_refusal(*wanted, file->size, config.read_file_range_bytes))
      return refused(*no);
  // A whole read goes to the end of the file, wherever that is by then; what it got is its size.
  auto most = as_base64 ? frame_room / 4 * 3 : frame_room;
  if (wanted->whole() && file->size > most)
    return refused(system_message(EFBIG, "read", path)); // no frame holds it, so none of it is read
  auto range = clamp(*wanted, file->size);
  auto limit = wanted->whole() ? most + 1 : range.length;
  auto expected = static_cast<std::size_t>(std::min(range.length, most));
  auto bytes = std::uint64_t{0};
  auto frame = std::string{};
  auto error = 0;
  if (as_base64) {
    frame = begin_frame(base64_size(expected) + 256);
    frame += head(boot);
    auto encoder = base64_encoder{};
    error = each_piece(*file, range.offset, limit, [&](std::string_view some) {
      bytes += some.size();
      encoder.add(frame, some);
    });
    encoder.finish(frame);
  } else {
    auto content = std::string{};
    content.reserve(expected);
    error = each_piece(*file, range.offset, limit, [&](std::string_view some) { content += some; });
    bytes = content.size();
    if (!is_utf8(content))
      content = to_utf8_with_replacement(content);
    frame = begin_frame(content.size() + 256);
    frame += head(boot);
    append_escaped(frame, content);
  }
  if (error != 0)
    return refused(system_message(error, "read", path));
  if (bytes > most || frame.size() > frame_room)
    return refused(system_message(EFBIG, "read", path));
  frame += tail(wanted->whole() ? bytes : file->size, as_base64, *wanted, range.offset, bytes);
  end_frame(frame);
  return frame;
}

} // namespace paddock::guest
