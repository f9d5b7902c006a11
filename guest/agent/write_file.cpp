// `write-file`, whole body ([G] 7.4).

#include "base/base64.hpp"
#include "base/random.hpp"
#include "guest/agent/file_access.hpp"
#include "guest/agent/process.hpp"
#include "guest/envelope.hpp"
#include "guest/file_request.hpp"
#include "guest/frame.hpp"
#include "guest/replies.hpp"
#include "guest/write_part.hpp"

#include <cerrno>
#include <fcntl.h>

namespace paddock::guest {

namespace {

using nlohmann::json;

// Removes a temporary unless it was given its final name.
class temporary {
public:
  temporary(int directory, const std::string& name) : directory_(directory), name_(name) {
  }
  ~temporary() {
    if (!kept_)
      ::unlinkat(directory_, name_.c_str(), 0);
  }
  temporary(const temporary&) = delete;
  temporary& operator=(const temporary&) = delete;
  void keep() {
    kept_ = true;
  }

private:
  int directory_;
  const std::string& name_;
  bool kept_ = false;
};

// Absent: written and durable. Otherwise the error text; the target is untouched unless only its entry could not be synced.
std::optional<std::string> write_durably(const confined_file& target, std::string_view bytes, const file_calls& calls) {
  auto directory = target.parent.get();
  auto name = temporary_name(target.name, new_uuid());
  auto file = unique_fd{::openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666)};
  if (!file)
    return system_message(errno, "open", name);
  auto cleanup = temporary{directory, name};
  // Before the write, so that nobody else reads what the target keeps to itself.
  if (auto error = keep_mode(calls, file.get(), target))
    return error;
  auto written = calls.write(file.get(), bytes.data(), bytes.size(), 0);
  if (written < 0)
    return system_message(errno, "write", name);
  struct stat is;
  if (::fstat(file.get(), &is) != 0)
    return system_message(errno, "stat", name);
  if (static_cast<std::size_t>(written) != bytes.size() || static_cast<std::size_t>(is.st_size) != bytes.size())
    return short_write(static_cast<std::uint64_t>(written), bytes.size(), static_cast<std::uint64_t>(is.st_size));
  // And once more, because a write by an ordinary user drops the set-user-ID and set-group-ID bits.
  if (auto error = keep_mode(calls, file.get(), target))
    return error;
  if (calls.sync(file.get()) != 0)
    return system_message(errno, "fsync", name);
  if (::close(file.release()) != 0)
    return system_message(errno, "close", name);
  auto error = put_in_place(calls, directory, name, target);
  // After a rename that name stands for nothing, so removing it is right in either case.
  if (!error)
    cleanup.keep();
  return error;
}

std::string write_whole(const write_surroundings& with, const std::string& path, std::string_view bytes) {
  auto target = resolve_target(with, path);
  if (!target)
    return to_frame(refusal(target.error()));
  if (auto error = write_durably(*target, bytes, with.calls))
    return to_frame(refusal(*error));
  return to_frame(write_file_reply(with.boot, bytes.size()));
}

const json& member(const json& value, const char* name) {
  static const auto none = json{};
  if (!value.is_object())
    return none;
  auto at = value.find(name);
  return at == value.end() ? none : *at;
}

// The content in bytes. `bulk`: what the mark in its place stands for. `held` keeps what had to be copied.
tl::expected<std::optional<std::string_view>, std::string> content_of(const json& body, std::optional<std::span<char>> bulk,
                                                                      std::string& held) {
  const auto& content = member(body, "content");
  if (!content.is_string())
    return std::nullopt;
  auto text = bulk ? std::string_view{bulk->data(), bulk->size()} : std::string_view{content.get_ref<const std::string&>()};
  if (!wants_base64(body))
    return text;
  if (!bulk)
    held.resize(text.size());
  auto* to = bulk ? bulk->data() : held.data();
  auto size = decode_base64(to, text);
  if (!size)
    return tl::unexpected{std::string{"write_invalid_base64"}};
  return std::string_view{to, *size};
}

} // namespace

std::string write_file(const write_surroundings& with, lifted_payload message) {
  auto refused = [](std::string_view text) { return to_frame(refusal(text)); };
  auto parsed = parse_payload(message.text()).value_or(json{});
  // Only base64 is taken as it stands; text may hold anything.
  auto lifted = message.stands_for_bulk(member(member(parsed, "body"), "content")) && wants_base64(member(parsed, "body"));
  if (message.lifted() && !lifted)
    parsed = parse_payload(message.whole()).value_or(json{});
  static const auto none = json::object();
  const auto& body = member(parsed, "body").is_object() ? member(parsed, "body") : none;
  auto part = part_of(body);
  if (!part)
    return refused(part.error());
  auto path = text_member(body, "path");
  if (path.empty())
    return refused(missing_path_or_content);
  if (*part != nullptr && is_discard(**part))
    return discard_part(with, path);
  auto held = std::string{};
  auto content = content_of(body, lifted ? std::optional{message.bulk()} : std::nullopt, held);
  if (!content)
    return refused(content.error());
  if (*part != nullptr)
    return write_part(with, path, **part, *content);
  if (!*content)
    return refused(missing_path_or_content);
  return write_whole(with, path, **content);
}

} // namespace paddock::guest
