#include "guest/agent/process_table.hpp"

#include "guest/agent/process.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace paddock::guest {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

using clock = std::chrono::steady_clock;

constexpr auto slice = 250us;

struct directory_entry { // as getdents64 gives it
  std::uint64_t inode;
  std::int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[1];
};
static_assert(alignof(directory_entry) == alignof(std::uint64_t)); // of the buffer

/// The whole of a small file of /proc, or an errno value.
template <std::size_t Size>
tl::expected<std::string_view, int> small_file(pid_t pid, const char* name, std::array<char, Size>& into) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/%s", static_cast<int>(pid), name);
  auto fd = unique_fd{::open(path, O_RDONLY | O_CLOEXEC)};
  if (!fd)
    return tl::unexpected{errno};
  auto size = std::size_t{0};
  while (size < into.size()) {
    auto n = ::read(fd.get(), into.data() + size, into.size() - size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return tl::unexpected{errno};
    if (n == 0)
      break;
    size += static_cast<std::size_t>(n);
  }
  return std::string_view{into.data(), size};
}

bool vanished(int error) {
  return error == ENOENT || error == ESRCH;
}

tl::expected<std::optional<uid_t>, int> real_uid_now(pid_t pid) {
  auto buffer = std::array<char, 8192>{};
  auto text = small_file(pid, "status", buffer);
  if (!text && vanished(text.error()))
    return std::nullopt;
  if (!text)
    return tl::unexpected{text.error()};
  auto uid = read_real_uid(*text);
  if (!uid)
    return tl::unexpected{EBADMSG};
  return uid;
}

} // namespace

process_numbers::process_numbers() : fd_(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (!fd_)
    error_ = errno;
}

pid_t process_numbers::next() {
  while (error_ == 0) {
    if (at_ == end_ && !refill())
      return 0;
    const auto* entry = reinterpret_cast<const directory_entry*>(buffer_.data() + at_);
    at_ += entry->length;
    auto pid = pid_t{0};
    auto length = std::strlen(entry->name);
    auto [last, ec] = std::from_chars(entry->name, entry->name + length, pid);
    if (ec == std::errc{} && last == entry->name + length && pid > 0)
      return pid;
  }
  return 0;
}

bool process_numbers::refill() {
  auto n = ::syscall(SYS_getdents64, fd_.get(), buffer_.data(), buffer_.size());
  if (n < 0)
    error_ = errno;
  at_ = 0;
  end_ = n > 0 ? static_cast<std::size_t>(n) : 0;
  return n > 0;
}

bool hidden(int error) noexcept {
  return error == EACCES || error == EPERM;
}

tl::expected<std::optional<proc_stat>, int> process_now(pid_t pid) {
  auto buffer = std::array<char, 2048>{};
  auto text = small_file(pid, "stat", buffer);
  if (!text && vanished(text.error()))
    return std::nullopt;
  if (!text)
    return tl::unexpected{text.error()};
  auto stat = read_proc_stat(*text);
  if (!stat || stat->pid != pid)
    return tl::unexpected{EBADMSG};
  return stat;
}

bool still_runs(const proc_stat& who) {
  auto now = process_now(who.pid);
  if (!now)
    return true;
  return *now && (*now)->same_process(who) && !(*now)->over();
}

delivery signal_process(const proc_stat& who, int number) {
  // The descriptor holds whoever has the number now. If that is the one meant, so is who the signal goes to.
  auto held = unique_fd{static_cast<int>(::syscall(SYS_pidfd_open, who.pid, 0))};
  if (!held)
    return errno == ESRCH ? delivery::gone : delivery::refused;
  auto now = process_now(who.pid);
  if (!now)
    return delivery::refused;
  if (!*now || !(*now)->same_process(who) || (*now)->over())
    return delivery::gone;
  if (::syscall(SYS_pidfd_send_signal, held.get(), number, nullptr, 0) == 0)
    return delivery::sent;
  return errno == ESRCH ? delivery::gone : delivery::refused;
}

asio::awaitable<void> give_way() {
  auto executor = co_await asio::this_coro::executor;
  co_await asio::post(executor, asio::use_awaitable);
}

asio::awaitable<process_scan> scan_processes(process_filter keep) {
  auto found = std::vector<seen_process>{};
  auto numbers = process_numbers{};
  auto until = clock::now() + slice;
  while (auto pid = numbers.next()) {
    if (clock::now() >= until) {
      co_await give_way();
      until = clock::now() + slice;
    }
    auto stat = process_now(pid);
    if (!stat && hidden(stat.error()))
      continue;
    if (!stat)
      co_return tl::unexpected{system_message(stat.error(), "read", "/proc/" + std::to_string(pid) + "/stat")};
    if (!*stat || !keep(**stat))
      continue;
    auto uid = real_uid_now(pid);
    if (!uid && hidden(uid.error()))
      continue;
    if (!uid)
      co_return tl::unexpected{system_message(uid.error(), "read", "/proc/" + std::to_string(pid) + "/status")};
    if (*uid)
      found.push_back({std::move(**stat), **uid});
  }
  if (numbers.error() != 0)
    co_return tl::unexpected{system_message(numbers.error(), "read", "/proc")};
  co_return found;
}

namespace {

asio::awaitable<void> scan_for(process_filter keep, std::function<void(process_scan)> then) {
  co_await give_way();
  auto answer = co_await scan_processes(std::move(keep));
  then(std::move(answer));
}

} // namespace

void scan_processes(asio::io_context& io, process_filter keep, std::function<void(process_scan)> then) {
  asio::co_spawn(io, scan_for(std::move(keep), std::move(then)), asio::detached);
}

} // namespace paddock::guest
