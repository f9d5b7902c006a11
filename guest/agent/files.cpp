#include "guest/agent/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace paddock::guest {

namespace {

// Pieces as a copying program writes them: of one large write the page cache takes its largest folios, whose memory is cold.
ssize_t write_in_pieces(int fd, const char* bytes, std::size_t size, off_t at) {
  constexpr auto piece = std::size_t{128 * 1024};
  auto done = std::size_t{0};
  do {
    const auto n = ::pwrite(fd, bytes + done, std::min(piece, size - done), at + static_cast<off_t>(done));
    if (n < 0)
      return done > 0 ? static_cast<ssize_t>(done) : n;
    if (n == 0)
      break;
    done += static_cast<std::size_t>(n);
  } while (done < size);
  return static_cast<ssize_t>(done);
}

} // namespace

file_calls::file_calls() :
  write(write_in_pieces),
  set_mode([](int fd, mode_t mode) { return ::fchmod(fd, mode); }),
  sync([](int fd) { return ::fsync(fd); }),
  rename([](int from, const char* old_name, int to, const char* new_name) { return ::renameat(from, old_name, to, new_name); }),
  beneath(open_beneath_by_kernel) {
}

// -- parts -------------------------------------------------------------------------------------------------------------

parts_in_flight::claim parts_in_flight::take(std::string which) {
  auto result = claim{};
  auto lock = std::lock_guard{mutex_};
  if (!taken_.insert(which).second)
    return result;
  result.of_ = this;
  result.which_ = std::move(which);
  return result;
}

parts_in_flight::claim::claim(claim&& other) noexcept : of_(std::exchange(other.of_, nullptr)), which_(std::move(other.which_)) {
}

parts_in_flight::claim::~claim() {
  if (of_ == nullptr)
    return;
  auto lock = std::lock_guard{of_->mutex_};
  of_->taken_.erase(which_);
}

// -- directories -------------------------------------------------------------------------------------------------------

int make_directories(const std::string& directory) {
  struct stat is;
  if (::stat(directory.c_str(), &is) == 0)
    return S_ISDIR(is.st_mode) ? 0 : ENOTDIR;
  if (errno != ENOENT)
    return errno;
  for (auto slash = directory.find('/', 1);; slash = directory.find('/', slash + 1)) {
    auto part = directory.substr(0, slash);
    if (::mkdir(part.c_str(), 0777) != 0 && errno != EEXIST)
      return errno;
    if (slash == std::string::npos)
      break;
  }
  if (::stat(directory.c_str(), &is) != 0)
    return errno;
  return S_ISDIR(is.st_mode) ? 0 : ENOTDIR;
}

} // namespace paddock::guest
