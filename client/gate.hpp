#pragma once

#include <mutex>
#include <utility>

namespace paddock::client {

/// Between the threads of the library and what a program wants to be told: open until nobody wants it any more.
class gate {
public:
  /// Calls `tell` unless it is closed; one at a time.
  template <class F>
  void pass(F tell) {
    const std::lock_guard hold{lock_};
    if (open_)
      tell();
  }
  /// The same, and closes.
  template <class F>
  void pass_last(F tell) {
    const std::lock_guard hold{lock_};
    if (std::exchange(open_, false))
      tell();
  }
  /// Nobody is told anything more. One who is just being told is waited for, unless that is who closes.
  void close() {
    const std::lock_guard hold{lock_};
    open_ = false;
  }

private:
  std::recursive_mutex lock_; // who is told may close
  bool open_ = true;
};

} // namespace paddock::client
