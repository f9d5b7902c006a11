#pragma once

#include "guest/agent/live_session.hpp"
#include "guest/agent/ops.hpp"
#include "guest/session_request.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <string>

namespace paddock::guest {

/// What the host of a terminal or an attachment sends after its request ([G] 8.2): kept in order until there is a program,
/// then applied to it. While the program does not take its input, the channel is not read.
class terminal_events {
public:
  terminal_events(shared_channel to, bool as_base64) : to_(std::move(to)), as_base64_(as_base64) {
  }

  void frame(std::string_view payload);
  /// Applies what has come so far, and all that comes. `session` is told of input; it may be null.
  void begin(std::shared_ptr<live_program> program, std::shared_ptr<live_session> session);
  /// The program has taken some of its input.
  void drained();
  /// Nothing is applied any more.
  void end();

private:
  void apply(terminal_event event);
  [[nodiscard]] std::size_t waiting() const;

  shared_channel to_;
  bool as_base64_;
  bool over_ = false;
  std::shared_ptr<live_program> program_;
  std::shared_ptr<live_session> session_;
  std::deque<terminal_event> early_;
  std::size_t early_bytes_ = 0;
};

} // namespace paddock::guest
