#pragma once

#include "client/inbox.hpp"
#include "client/result.hpp"

#include <memory>
#include <optional>
#include <string>

namespace paddock::client {

/// The other side of a call. What is said to one that has ended is ignored. Destroying it lets go: a call that still runs is withdrawn.
class running_call {
public:
  virtual ~running_call() = default;
  virtual void grant(std::uint64_t bytes) = 0;
  virtual void input(bytes piece, bool last) = 0;
  virtual void cancel() = 0;
  virtual void leave() = 0;
  virtual void resize(int columns, int rows) = 0;
  virtual void signal(std::string name) = 0;
  /// After `call_gone`: asks for `call_silent` once everything that was sent has been put into the inbox.
  virtual void drain() = 0;
};

/// A running call into a guest with its bytes: a command, an attach, a terminal, a port, a file, a walk. One thread at a time takes its
/// events; what is said to it may come from any thread. Destroying it withdraws a call that still runs.
class call {
public:
  /// Output that lies here without having been taken.
  static constexpr std::uint64_t window = 256 * 1024;

  call(std::unique_ptr<running_call> other_side, std::shared_ptr<inbox> in, effect what);

  /// The next thing that the call says. Nothing: none has come within the time, or the call has ended. Without a time it waits until
  /// the call says something; each has an end, by its deadline at the node or when the node is gone. Output counts as taken, and
  /// the next is asked for, with the `next` that follows.
  [[nodiscard]] std::optional<call_event> next(std::optional<std::chrono::milliseconds> within = {});
  /// A file descriptor that is readable when `next` may have something, for a poll.
  [[nodiscard]] int bell() const noexcept {
    return in_->bell();
  }
  /// Whether the last event has been taken.
  [[nodiscard]] bool ended() const noexcept {
    return ended_;
  }

  /// Input, of which no more is sent than was wanted; `last` closes it. Pieces hold at most `chunk_limit` bytes.
  void input(bytes piece, bool last = false);
  /// Withdraws: a command is cancelled in the guest, and the end says what is known of it. An attach, a session and a port are left.
  void cancel();
  /// Leaves what runs in the guest as it is: a detached run ends as `ExecutionDetached`, a session is detached from.
  void leave();
  /// Of a terminal.
  void resize(int columns, int rows);
  /// Of a terminal: SIGTERM, SIGKILL, SIGINT or SIGHUP.
  void signal(std::string name);

private:
  std::optional<call_event> seen(call_news x);

  std::unique_ptr<running_call> other_side_;
  std::shared_ptr<inbox> in_;
  effect what_;
  std::deque<call_news> news_;
  std::uint64_t taken_ = 0; // output that was handed out and not granted anew
  bool ended_ = false;
};

} // namespace paddock::client
