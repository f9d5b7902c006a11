#pragma once

#include "messages/types.hpp"

#include <deque>
#include <mutex>
#include <variant>

namespace paddock::client {

struct output_piece {
  int which = 1; // 1 stdout, and for a file that is read; 2 stderr
  bytes content;
};
/// So many more bytes of input may be sent.
struct input_wanted {
  std::uint64_t bytes = 0;
};
/// What a call says to who carries its bytes. A `call_end` or a `problem` comes last.
using call_event = std::variant<output_piece, input_wanted, call_note, call_end, problem>;

/// The CALL is gone, and what it sent last may still be on its way.
struct call_gone {};
/// Nothing more can come from a CALL that is gone.
struct call_silent {};
using call_news = std::variant<call_event, call_gone, call_silent>;

/// News of a call from any thread for the one that takes them. The credit of the call bounds what lies in it.
class inbox {
public:
  inbox();
  ~inbox();
  inbox(const inbox&) = delete;
  inbox& operator=(const inbox&) = delete;
  void put(call_news x);
  /// Everything that has come, in order.
  [[nodiscard]] std::deque<call_news> take();
  /// Readable while something lies in it.
  [[nodiscard]] int bell() const noexcept {
    return bell_;
  }

private:
  int bell_;
  std::mutex lock_;
  std::deque<call_news> all_;
};

} // namespace paddock::client
