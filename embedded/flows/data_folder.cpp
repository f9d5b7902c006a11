#include "embedded/flows/data_folder.hpp"

#include "base/hash.hpp"
#include "base/random.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace paddock::embedded {

namespace fs = std::filesystem;

namespace {

/// ` (process N)`, as the holder wrote it into the lock file.
std::string holder(int lock) {
  auto text = std::array<char, 16>{};
  auto n = ::pread(lock, text.data(), text.size(), 0);
  auto said = std::string{text.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0))};
  said.resize(std::min(said.find_first_not_of("0123456789"), said.size()));
  return said.empty() ? std::string{} : " (process " + said + ")";
}

} // namespace

tl::expected<std::unique_ptr<data_folder>, std::string> data_folder::open(const std::optional<fs::path>& wanted) {
  auto result = std::unique_ptr<data_folder>{new data_folder};
  if (auto error = wanted ? result->take(*wanted) : result->make(); !error.empty())
    return tl::unexpected{error};
  for (const auto* name : {"disks", "logs", "pods", "trash"}) {
    auto failed = std::error_code{};
    fs::create_directory(result->path_ / name, failed);
    if (failed)
      return tl::unexpected{result->cannot("write", failed.message())};
  }
  if (auto error = result->try_out(); !error.empty())
    return tl::unexpected{error};
  // What pods of an earlier run kept beside their disks; whoever takes the disks empties the trash.
  auto ignored = std::error_code{};
  for (const auto& left : fs::directory_iterator{result->path_ / "pods", ignored})
    fs::rename(left.path(), result->path_ / "trash" / (left.path().filename().string().substr(0, 64) + "." + new_name_suffix(8)), ignored);
  return result;
}

data_folder::~data_folder() {
  if (lock_ >= 0)
    ::close(lock_);
  auto ignored = std::error_code{};
  if (temporary_)
    fs::remove_all(path_, ignored);
}

std::string data_folder::lost_objects(const std::string& name) const {
  auto error = std::error_code{};
  auto file = path_ / name;
  auto there = fs::exists(file, error) && fs::file_size(file, error) > 0;
  if (there || fs::is_empty(path_ / "disks", error) || error)
    return {};
  return file.string() + " is missing or empty, and " + (path_ / "disks").string()
         + " holds the disks of its workspaces: put a copy of it in its place, or move the disks away to begin anew";
}

tl::expected<bool, std::string> data_folder::keep_for(const std::string& cluster) const {
  auto file = path_ / "cluster";
  auto known = std::string{};
  if (auto in = std::ifstream{file}; in && !std::getline(in, known) && !in.eof())
    return tl::unexpected{cannot("read", file.string())};
  if (known == cluster)
    return true;
  auto error = std::error_code{};
  auto disks = !fs::is_empty(path_ / "disks", error) || error;
  if (!known.empty() && disks)
    return tl::unexpected{cannot("use", "its disks are those of another cluster (" + known + "; this one is " + cluster
                                          + "): give each cluster a folder of its own, or remove the file " + file.string()
                                          + " if they are one and the same")};
  // Whole or not at all.
  auto next = path_ / "cluster.next";
  {
    auto out = std::ofstream{next, std::ios::trunc};
    out << cluster << "\n";
    out.flush();
    if (!out)
      return tl::unexpected{cannot("write", next.string())};
  }
  fs::rename(next, file, error);
  if (error)
    return tl::unexpected{cannot("write", error.message())};
  return !disks;
}

std::string data_folder::family() const {
  return to_hex(sha256(path_.string())).substr(0, 16);
}

std::string data_folder::cannot(const std::string& what, const std::string& why) const {
  return "cannot " + what + " the folder " + path_.string() + ": " + why;
}

std::string data_folder::make() {
  auto error = std::error_code{};
  auto name = (fs::temp_directory_path(error) / "paddock-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    return "cannot make a temporary folder " + name + ": " + std::strerror(errno);
  path_ = name;
  temporary_ = true;
  return {};
}

std::string data_folder::take(const fs::path& wanted) {
  auto error = std::error_code{};
  path_ = fs::absolute(wanted, error);
  fs::create_directories(path_, error);
  if (error)
    return cannot("make", error.message());
  // One name for one folder, however it was written.
  path_ = fs::canonical(path_, error);
  if (error)
    return cannot("use", error.message());
  if (!fs::is_directory(path_, error))
    return cannot("use", "it is not a folder");
  fs::permissions(path_, fs::perms::owner_all, error);
  if (error)
    return cannot("protect", error.message());
  lock_ = ::open((path_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_ < 0)
    return cannot("write", std::strerror(errno));
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0)
    return cannot("use", errno == EWOULDBLOCK ? "another cluster runs on it" + holder(lock_) : std::strerror(errno));
  auto own = std::to_string(::getpid()) + "\n";
  if (::ftruncate(lock_, 0) != 0 || ::pwrite(lock_, own.data(), own.size(), 0) != static_cast<ssize_t>(own.size()))
    return cannot("write", std::strerror(errno));
  return {};
}

/// Whether a write gets to the disk.
std::string data_folder::try_out() {
  auto probe = path_ / "probe";
  auto fd = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0)
    return cannot("write", std::strerror(errno));
  auto bytes = std::array<char, 65536>{};
  auto written = ::write(fd, bytes.data(), bytes.size());
  auto error = written < 0 ? errno : written < static_cast<ssize_t>(bytes.size()) ? ENOSPC : 0;
  if (error == 0 && ::fsync(fd) != 0)
    error = errno;
  ::close(fd);
  ::unlink(probe.c_str());
  return error == 0 ? std::string{} : cannot("write", std::strerror(error));
}

std::string check_guest(const fs::path& program) {
  if (program.empty())
    return "no guest program is given";
  struct stat info {};
  if (::stat(program.c_str(), &info) != 0)
    return "the guest program " + program.string() + ": " + std::strerror(errno);
  if (!S_ISREG(info.st_mode) || ::access(program.c_str(), X_OK) != 0)
    return "the guest program " + program.string() + " cannot be executed";
  return {};
}

} // namespace paddock::embedded
