#pragma once

#include "messages/types.hpp"

#include <deque>
#include <mutex>
#include <variant>

namespace paddock::cli {

/// What a call tells the thread that carries its bytes.
struct output_piece {
  int which = 1; // 1 stdout, 2 stderr
  bytes content;
};
struct input_wanted {
  std::uint64_t bytes = 0;
};
/// The CALL is gone, and what it sent last may still be on its way.
struct call_gone {};
/// Nothing more can come from a CALL that is gone.
struct call_silent {};
using call_event = std::variant<output_piece, input_wanted, call_note, call_end, problem, call_gone, call_silent>;

/// Events from any thread for the one that polls. The credit of the call bounds what lies in it.
class inbox {
public:
  inbox();
  ~inbox();
  inbox(const inbox&) = delete;
  inbox& operator=(const inbox&) = delete;
  void put(call_event x);
  /// Everything that has come, in order.
  [[nodiscard]] std::deque<call_event> take();
  /// Readable while something lies in it.
  [[nodiscard]] int bell() const noexcept {
    return bell_;
  }

private:
  int bell_;
  std::mutex lock_;
  std::deque<call_event> all_;
};

} // namespace paddock::cli
