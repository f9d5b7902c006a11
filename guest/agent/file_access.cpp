#include "guest/agent/file_access.hpp"

#include "guest/agent/process.hpp"
#include "guest/frame.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace paddock::guest {

namespace {

// What is no regular file, refused. A directory has an error of its own.
std::string irregular_message(mode_t mode, const char* call, const std::string& path) {
  auto text = system_message(S_ISDIR(mode) ? EISDIR : EINVAL, call, path);
  if (!S_ISDIR(mode))
    text.append(": not a regular file");
  return text;
}

// A pseudo-file may know no positions, so it is read from front to end.
tl::expected<std::string, int> read_pseudo_file(int fd) {
  auto content = std::string{};
  for (auto filled = std::size_t{0};;) {
    constexpr auto piece = std::size_t{64 * 1024};
    content.resize(std::max(filled + piece, content.size()));
    auto n = ::read(fd, content.data() + filled, content.size() - filled);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return tl::unexpected{errno};
    filled += static_cast<std::size_t>(n);
    if (filled > pseudo_file_limit)
      return tl::unexpected{EFBIG};
    if (n == 0) {
      content.resize(filled);
      return content;
    }
  }
}

// An O_PATH descriptor cannot be synced.
unique_fd to_sync(const unique_fd& directory) {
  return unique_fd{::openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
}

} // namespace

std::string begin_frame(std::size_t bytes) {
  auto frame = std::string{};
  frame.reserve(frame_header_size + bytes);
  frame.assign(frame_header_size, '0');
  return frame;
}

void end_frame(std::string& frame) {
  frame.replace(0, frame_header_size, frame_header(static_cast<std::uint32_t>(frame.size() - frame_header_size)));
}

tl::expected<readable_file, read_failure> open_to_read(const agent_config& config, const file_calls& calls, const std::string& path) {
  auto failed = [&path](int error, const char* call) { return tl::unexpected{read_failure{false, system_message(error, call, path)}}; };
  auto irregular = [&path](mode_t mode) { return tl::unexpected{read_failure{true, irregular_message(mode, "read", path)}}; };
  auto found = resolve(path, config.workspace, config.read_roots, parents::as_they_are, calls.beneath);
  if (!found)
    return tl::unexpected{read_failure{false, std::move(found.error().text)}};
  if (!found->seen)
    return failed(ENOENT, "open");
  if (!S_ISREG(found->seen->st_mode))
    return irregular(found->seen->st_mode);
  auto file = readable_file{};
  file.fd.reset(::openat(found->parent.get(), found->name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC));
  if (!file.fd)
    return failed(errno, "open");
  struct stat is;
  if (::fstat(file.fd.get(), &is) != 0)
    return failed(errno, "stat");
  if (!S_ISREG(is.st_mode))
    return irregular(is.st_mode);
  file.size = static_cast<std::uint64_t>(is.st_size);
  if (file.size > 0)
    return file;
  auto content = read_pseudo_file(file.fd.get());
  if (!content)
    return failed(content.error(), "read");
  file.size = content->size();
  file.content = std::move(*content);
  return file;
}

tl::expected<std::size_t, int> read_at(int fd, char* to, std::size_t size, std::uint64_t offset) {
  auto filled = std::size_t{0};
  while (filled < size) {
    auto n = ::pread(fd, to + filled, size - filled, static_cast<off_t>(offset + filled));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return tl::unexpected{errno};
    if (n == 0)
      break;
    filled += static_cast<std::size_t>(n);
  }
  return filled;
}

tl::expected<confined_file, std::string> resolve_target(const write_surroundings& with, const std::string& path) {
  auto found = resolve(path, with.config.workspace, with.config.write_roots, parents::created, with.calls.beneath);
  if (!found)
    return tl::unexpected{std::move(found.error().text)};
  // A device or a FIFO would be replaced by a file: nobody who writes to one means that.
  if (found->seen && !S_ISREG(found->seen->st_mode))
    return tl::unexpected{irregular_message(found->seen->st_mode, "open", path)};
  return std::move(*found);
}

std::optional<std::string> keep_mode(const file_calls& calls, int file, const confined_file& target) {
  struct stat is;
  if (::fstatat(target.parent.get(), target.name.c_str(), &is, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(is.st_mode))
    return std::nullopt;
  auto wanted = is.st_mode & 07777;
  if (calls.set_mode(file, wanted) != 0)
    return system_message(errno, "chmod", target.name);
  // Without the right to it, the kernel drops a set-group-ID bit and says nothing.
  if (::fstat(file, &is) != 0)
    return system_message(errno, "stat", target.name);
  if ((is.st_mode & 07777) != wanted)
    return system_message(EPERM, "chmod", target.name);
  return std::nullopt;
}

std::optional<std::string> put_in_place(const file_calls& calls, int directory, const std::string& name, const confined_file& target) {
  auto entry = to_sync(target.parent);
  if (!entry)
    return system_message(errno, "open", target.name);
  if (calls.rename(directory, name.c_str(), target.parent.get(), target.name.c_str()) != 0)
    return system_message(errno, "rename", target.name);
  if (calls.sync(entry.get()) != 0)
    return system_message(errno, "fsync", target.name);
  for (const auto& grown : target.grown) {
    auto above = to_sync(grown);
    if (!above || calls.sync(above.get()) != 0)
      return system_message(errno, "fsync", target.name);
  }
  return std::nullopt;
}

} // namespace paddock::guest
