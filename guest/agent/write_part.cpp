// `write-file`, parts ([G] 7.5).

#include "guest/write_part.hpp"

#include "guest/agent/file_access.hpp"
#include "guest/agent/process.hpp"
#include "guest/envelope.hpp"
#include "guest/frame.hpp"
#include "guest/paths.hpp"
#include "guest/replies.hpp"

#include <cerrno>
#include <fcntl.h>

namespace paddock::guest {

namespace {

using object = nlohmann::ordered_json;

std::string refused(std::string_view text) {
  return to_frame(refusal(text));
}

// The same file whatever path led to it; taken while its directory is held, whose number nobody else can get then.
tl::expected<std::string, int> place_of(const confined_file& file) {
  struct stat is;
  if (::fstat(file.parent.get(), &is) != 0)
    return tl::unexpected{errno};
  return std::to_string(is.st_dev) + ":" + std::to_string(is.st_ino) + ":" + file.name;
}

// The temporary, open and of the size at which the part begins.
tl::expected<unique_fd, std::string> open_temporary(const confined_file& temporary, std::uint64_t offset) {
  auto flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC | (offset == 0 ? O_CREAT : 0);
  auto file = unique_fd{::openat(temporary.parent.get(), temporary.name.c_str(), flags, 0666)};
  if (!file && errno == ENOENT && offset != 0)
    return tl::unexpected{offset_mismatch(std::nullopt, offset)};
  if (!file)
    return tl::unexpected{system_message(errno, "open", temporary.name)};
  struct stat is;
  if (::fstat(file.get(), &is) != 0)
    return tl::unexpected{system_message(errno, "stat", temporary.name)};
  if (!S_ISREG(is.st_mode))
    return tl::unexpected{system_message(EINVAL, "open", temporary.name)};
  if (offset == 0 && is.st_size != 0 && ::ftruncate(file.get(), 0) != 0)
    return tl::unexpected{system_message(errno, "ftruncate", temporary.name)};
  if (auto size = static_cast<std::uint64_t>(is.st_size); offset != 0 && size != offset)
    return tl::unexpected{offset_mismatch(size, offset)};
  return file;
}

} // namespace

std::string write_part(const write_surroundings& with, const std::string& path, const nlohmann::json& part,
                       std::optional<std::string_view> content) {
  auto temporary = resolve_target(with, path);
  if (!temporary)
    return refused(temporary.error());
  auto wanted = read_data_part(part, content.has_value());
  if (!wanted)
    return refused(wanted.error());
  auto target = std::optional<confined_file>{};
  if (wanted->rename_to) {
    auto found = resolve_target(with, *wanted->rename_to);
    if (!found)
      return refused(found.error());
    target = std::move(*found);
  }
  auto place = place_of(*temporary);
  if (!place)
    return refused(system_message(place.error(), "stat", path));
  auto claim = with.parts.take(std::move(*place));
  if (!claim)
    return refused(part_in_flight);
  auto file = open_temporary(*temporary, wanted->offset);
  if (!file)
    return refused(file.error());
  auto written = with.calls.write(file->get(), content->data(), content->size(), static_cast<off_t>(wanted->offset));
  if (written < 0)
    return refused(system_message(errno, "write", temporary->name));
  // The device begins now and not with the sync at the end; a hint, so nothing depends on it.
  ::sync_file_range(file->get(), static_cast<off_t>(wanted->offset), written, SYNC_FILE_RANGE_WRITE);
  if (target) {
    if (auto error = keep_mode(with.calls, file->get(), *target))
      return refused(*error);
    if (with.calls.sync(file->get()) != 0)
      return refused(system_message(errno, "fsync", temporary->name));
  }
  struct stat is;
  if (::fstat(file->get(), &is) != 0)
    return refused(system_message(errno, "stat", temporary->name));
  if (::close(file->release()) != 0)
    return refused(system_message(errno, "close", temporary->name));
  auto size = static_cast<std::uint64_t>(is.st_size);
  if (static_cast<std::size_t>(written) != content->size() || size != wanted->offset + content->size())
    return refused(short_part(static_cast<std::uint64_t>(written), content->size(), wanted->offset, size));
  if (target)
    if (auto error = put_in_place(with.calls, temporary->parent.get(), temporary->name, *target))
      return refused(*error);
  return to_frame(to_text(object{{"ok", true}, {"guestBootId", with.boot.text()}, {"bytesWritten", content->size()}, {"sizeBytes", size}}));
}

std::string discard_part(const write_surroundings& with, const std::string& path) {
  auto done = [] { return to_frame(to_text(object{{"ok", true}, {"discarded", true}})); };
  auto confined = confine(path, with.config.workspace, with.config.write_roots);
  if (!confined)
    return refused(confined.error());
  if (!is_temporary_name(confined->path.substr(confined->path.rfind('/') + 1)))
    return refused(not_a_temp_file);
  auto found = resolve(path, with.config.workspace, with.config.write_roots, parents::as_they_are, with.calls.beneath);
  if (!found && found.error().error == ENOENT)
    return done();
  if (!found)
    return refused(found.error().text);
  if (!is_temporary_name(found->name))
    return refused(not_a_temp_file);
  if (::unlinkat(found->parent.get(), found->name.c_str(), 0) != 0 && errno != ENOENT)
    return refused(system_message(errno, "unlink", found->name));
  return done();
}

} // namespace paddock::guest
