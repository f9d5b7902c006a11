#pragma once

#include "guest/agent/live_program.hpp"
#include "guest/output_log.hpp"
#include "guest/session_replies.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::guest {

/// The one connection that is attached to a session.
class attached_reader {
public:
  virtual ~attached_reader() = default;
  /// `bytes` were appended to the log, at `offset`.
  virtual void more(stream which, std::string_view bytes, std::uint64_t offset) = 0;
  /// The program has ended; the log grows no more.
  virtual void ended() = 0;
  /// Another connection has become the attachment.
  virtual void superseded() = 0;
  virtual void input_drained() = 0;
};

/// A program that outlives connections, and the last of what it has printed ([G] 9). Its output is read whoever listens, so
/// that no reader ever blocks it. Wire thread only.
class live_session final : public program_owner, public std::enable_shared_from_this<live_session> {
public:
  live_session(std::shared_ptr<agent_core> core, std::string id, session_kind kind, const session_program& run);

  /// The program is there: from here on the registry knows the session as running.
  void begin(std::shared_ptr<live_program> program);

  [[nodiscard]] session_summary summary() const;
  [[nodiscard]] const output_log& log() const noexcept {
    return log_;
  }
  [[nodiscard]] const std::shared_ptr<live_program>& program() const noexcept {
    return program_;
  }
  [[nodiscard]] const std::optional<session_exit>& exited() const noexcept {
    return exited_;
  }

  /// Makes `reader` the attachment, in place of whoever is.
  void attach(std::shared_ptr<attached_reader> reader);
  void leave(const attached_reader* reader);

  /// Input has come for the program. One that was started detached takes none.
  void note_input();

  /// Calls `then` when the program has ended, which it has not yet, if `who` is there then.
  void when_ended(std::weak_ptr<void> who, std::function<void()> then);

  // -- program_owner ----------

  void take_output(stream which, std::string_view bytes) override;
  [[nodiscard]] bool congested() const override {
    return false;
  }
  void input_drained() override;
  void ended(const session_exit& how) override;

private:
  struct waiter {
    std::weak_ptr<void> who;
    std::function<void()> then;
  };

  [[nodiscard]] std::int64_t wall_ms() const;

  std::shared_ptr<agent_core> core_;
  std::string id_;
  session_kind kind_;
  std::string command_;
  std::vector<std::string> arguments_;
  std::int64_t started_at_ms_;
  std::optional<std::int64_t> last_input_at_ms_;
  std::optional<std::int64_t> last_output_at_ms_;
  output_log log_;
  std::shared_ptr<live_program> program_;
  std::shared_ptr<attached_reader> reader_;
  std::optional<session_exit> exited_;
  std::vector<waiter> waiting_;
};

} // namespace paddock::guest
