#pragma once

#include "guest/agent/unique_fd.hpp"
#include "guest/proc.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <tl/expected.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace paddock::guest {

struct seen_process {
  proc_stat stat;
  uid_t real_uid = 0;
};

/// The numbers in /proc, one after another.
class process_numbers {
public:
  process_numbers();

  /// 0: there are no more, or `error` says why.
  [[nodiscard]] pid_t next();

  /// An errno value; 0: none.
  [[nodiscard]] int error() const noexcept {
    return error_;
  }

private:
  // Small, so that one call for more names is short as well.
  static constexpr auto directory_bytes = std::size_t{4096};

  bool refill();

  unique_fd fd_;
  int error_ = 0;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  alignas(std::uint64_t) std::array<char, directory_bytes> buffer_{};
};

/// Whether `error`, an errno value, says that a process may not be looked at: with `hidepid` the kernel does not show those
/// of others, and they are not ours to judge.
[[nodiscard]] bool hidden(int error) noexcept;

/// What a scan has found, in the order of the table. A failure says why the table cannot be read: nothing is known then.
using process_scan = tl::expected<std::vector<seen_process>, std::string>;

/// Which processes a scan keeps. Asked once for each, and between the slices other work is done.
using process_filter = std::function<bool(const proc_stat&)>;

/// Reads the process table in slices of about 250 µs, so that whatever else the thread of the executor does is
/// not held up. A scan is no snapshot: a process that starts meanwhile may be missing. The uid is read only of those kept.
[[nodiscard]] boost::asio::awaitable<process_scan> scan_processes(process_filter keep);

/// The same for who is no coroutine. `then` is called once, on the thread that runs `io`, and not before this returns; not
/// at all when `io` is destroyed first.
void scan_processes(boost::asio::io_context& io, process_filter keep, std::function<void(process_scan)> then);

/// The process of this number now. Absent: there is none. A failure is an errno value.
[[nodiscard]] tl::expected<std::optional<proc_stat>, int> process_now(pid_t pid);

/// Whether the very process still runs. One that cannot be looked at counts as running.
[[nodiscard]] bool still_runs(const proc_stat& who);

enum class delivery {
  sent,
  gone,    // it is over, or its number is another's
  refused, // the kernel does not let us
};

/// Signals the very process that `who` describes and never another that has got its number.
[[nodiscard]] delivery signal_process(const proc_stat& who, int number);

/// Lets other work of the thread have its turn.
[[nodiscard]] boost::asio::awaitable<void> give_way();

} // namespace paddock::guest
