#include "embedded/flows/process_mark.hpp"

#include "base/hash.hpp"
#include "embedded/flows/descriptor.hpp"

#include <algorithm>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <mutex>
#include <set>
#include <signal.h>
#include <sstream>
#include <sys/random.h>

namespace paddock::embedded {

namespace {

std::uint64_t random_number() {
  auto result = std::uint64_t{0};
  for (auto got = ssize_t{0}; got != sizeof result;)
    got = ::getrandom(&result, sizeof result, 0);
  return result;
}

// The supplementary groups of one family: a range of 2^16 that its name chooses.
constexpr auto group_base = gid_t{0x4000'0000};
constexpr auto group_bits = 16;

gid_t first_group(const std::string& family) {
  return group_base | (static_cast<gid_t>(std::stoul(fnv1a_hex(family), nullptr, 16) & 0x3fffu) << group_bits);
}

/// Groups in use by this program, so that no two processes share one.
class group_pool {
public:
  gid_t take(const std::string& family) {
    auto lock = std::lock_guard{mutex_};
    auto first = first_group(family);
    for (auto tries = 0u; tries < (1u << group_bits); ++tries)
      if (auto group = first | (next_++ & 0xffffu); taken_.insert(group).second)
        return group;
    return 0;
  }
  void release(gid_t group) {
    auto lock = std::lock_guard{mutex_};
    taken_.erase(group);
  }

private:
  std::mutex mutex_;
  std::set<gid_t> taken_;
  gid_t next_ = 0;
};

group_pool& groups() {
  static group_pool all;
  return all;
}

/// A file of /proc; empty when it is gone. Without a stream: this is done for every process of the machine.
std::string read_all(const std::string& path) {
  std::string result;
  auto file = descriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.get() < 0)
    return result;
  for (auto n = ssize_t{1}; n > 0;) {
    auto size = result.size();
    result.resize(size + 8192);
    n = ::read(file.get(), result.data() + size, 8192);
    result.resize(size + static_cast<std::size_t>(std::max(n, ssize_t{0})));
  }
  return result;
}

/// Whether the process of that /proc folder has the supplementary group, alive or not.
bool in_group(const std::string& status, gid_t group) {
  auto at = status.find("\nGroups:\t");
  if (at == std::string::npos)
    return false;
  auto line = " " + status.substr(at + 9, status.find('\n', at + 9) - at - 9) + " ";
  return line.find(" " + std::to_string(group) + " ") != std::string::npos;
}

/// Whether the process of that /proc folder still runs and carries the group or, where there is none (0), a mark that
/// begins so. One that waits to be collected has no environment left.
bool carries(const std::string& folder, const std::string& mark, gid_t group) {
  if (group != 0) {
    auto status = read_all(folder + "/status");
    return status.find("\nState:\tZ") == std::string::npos && in_group(status, group);
  }
  // The variables stand one after another, each with a zero behind it.
  auto needle = std::string{mark_variable};
  needle += '=';
  needle += mark;
  auto environment = read_all(folder + "/environ");
  auto at = environment.find(needle);
  return at != std::string::npos && (at == 0 || environment[at - 1] == '\0');
}

/// Whether it still runs, has a group of the family's range, and does not say that it is of another family.
bool of_family(const std::string& folder, const std::string& family) {
  auto status = read_all(folder + "/status");
  auto at = status.find("\nGroups:\t");
  if (at == std::string::npos || status.find("\nState:\tZ") != std::string::npos)
    return false;
  auto first = first_group(family);
  auto line = std::istringstream{status.substr(at + 9, status.find('\n', at + 9) - at - 9)};
  auto found = false;
  for (auto group = gid_t{0}; line >> group;)
    found = found || (group >> group_bits) == (first >> group_bits);
  return found && (carries(folder, family + ".", 0) || !carries(folder, "", 0));
}

/// Kills every process for which `ours` holds, and those that they start meanwhile.
void end_where(const std::function<bool(const std::string&)>& ours) {
  std::set<pid_t> killed;
  for (auto pass = 0; pass < 50; ++pass) {
    auto found = false;
    auto error = std::error_code{};
    for (auto entry = std::filesystem::directory_iterator{"/proc", error}; !error && entry != std::filesystem::directory_iterator{};
         entry.increment(error)) {
      auto name = entry->path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos || name.size() > 9)
        continue;
      auto id = static_cast<pid_t>(std::stol(name));
      if (id == ::getpid() || !ours(entry->path().string()))
        continue;
      ::kill(id, SIGKILL);
      found = killed.insert(id).second || found;
    }
    if (!found)
      return;
  }
}

} // namespace

std::string new_mark(const std::string& family) {
  return family + "." + std::to_string(random_number()) + ".";
}

group_lease group_lease::take(const std::string& family) {
  return group_lease{::geteuid() == 0 ? groups().take(family) : gid_t{0}};
}

group_lease::~group_lease() {
  if (group_ != 0)
    groups().release(group_);
}

group_lease::group_lease(group_lease&& other) noexcept : group_(std::exchange(other.group_, 0)) {
}

group_lease& group_lease::operator=(group_lease&& other) noexcept {
  std::swap(group_, other.group_);
  return *this;
}

bool has_group(pid_t process, gid_t group) {
  return group != 0 && in_group(read_all("/proc/" + std::to_string(process) + "/status"), group);
}

void end_marked(const std::string& mark, gid_t group) {
  end_where([&](const std::string& folder) { return carries(folder, mark, group); });
}

void end_family(const std::string& family) {
  end_where([&](const std::string& folder) { return carries(folder, family + ".", 0) || of_family(folder, family); });
}

} // namespace paddock::embedded
