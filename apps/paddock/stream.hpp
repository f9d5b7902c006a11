#pragma once

#include "client/stream.hpp"

#include <functional>

namespace paddock::cli {

/// SIGINT and SIGTERM of this process, which the caller has blocked in every thread: the first one cancels what is watched, a second one
/// leaves the process at once with 128 + n. One at a time.
class interrupts {
public:
  interrupts();
  ~interrupts();
  interrupts(const interrupts&) = delete;
  interrupts& operator=(const interrupts&) = delete;
  /// For `client::run_stream` and its kin, as long as this lives.
  [[nodiscard]] client::stream_watch watch();
  /// The signal that came; 0: none.
  [[nodiscard]] int seen() const noexcept {
    return seen_;
  }

private:
  bool woken();

  int fd_;
  int seen_ = 0;
};

/// How a call ended for this process.
struct stream_end : client::stream_end {
  int signal = 0; // that made this client cancel the call; 0: none
};

/// Carries out `what` on a thread of its own, and waits until it has ended. A signal calls `stop`, on the calling thread.
void run_stoppable(interrupts& signals, const std::function<void()>& what, const std::function<void()>& stop);

/// `client::run_stream` with `interrupts`.
[[nodiscard]] stream_end run_interruptible(const client::target& at, client::job what, client::stream_ends ends);

} // namespace paddock::cli
