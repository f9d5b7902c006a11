#pragma once

#include "guest/agent/core.hpp"
#include "guest/agent/input_queue.hpp"
#include "guest/agent/process.hpp"
#include "guest/agent/pty.hpp"
#include "guest/agent/session_signals.hpp"
#include "guest/command.hpp"
#include "guest/session_registry.hpp"
#include "guest/session_request.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <tl/expected.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::guest {

/// Whoever has a program: a terminal that is bound to its connection, or a session.
class program_owner {
public:
  virtual ~program_owner() = default;
  virtual void take_output(stream which, std::string_view bytes) = 0;
  /// Whether the output should rest until `live_program::resume`.
  [[nodiscard]] virtual bool congested() const = 0;
  /// Some of the input has gone to the program, or never will.
  virtual void input_drained() = 0;
  /// The program has ended, and all it had printed was taken. Once.
  virtual void ended(const session_exit& how) = 0;
};

/// The program of a terminal, or a detached one: it leads a kernel session of its own ([G] 8, 9). Wire thread only.
///
/// Its number names its kernel session and its first process group. It stays taken, by leaving the program a zombie, until
/// `let_go`; so what is signalled is never another's.
class live_program : public std::enable_shared_from_this<live_program> {
public:
  /// Starts `run` on a new terminal of this size, or without one: stdin is the null device then. A failure is a text for the
  /// wire; nothing was started. Nothing is heard of the program before `watch`.
  [[nodiscard]] static tl::expected<std::shared_ptr<live_program>, std::string>
  start(std::shared_ptr<agent_core> core, const session_program& run, std::optional<terminal_size> size);

  live_program(std::shared_ptr<agent_core> core, process child, unique_fd master);
  ~live_program();
  live_program(const live_program&) = delete;
  live_program& operator=(const live_program&) = delete;

  void watch(std::weak_ptr<program_owner> owner);

  [[nodiscard]] pid_t pid() const noexcept {
    return pid_;
  }
  [[nodiscard]] bool has_ended() const noexcept {
    return ended_;
  }

  // -- the terminal -----------

  /// Dropped without a terminal, and after the end.
  void feed(std::string bytes);
  [[nodiscard]] std::size_t waiting_input() const noexcept {
    return input_.waiting();
  }
  void resize(terminal_size size);

  /// The owner is no longer congested.
  void resume();

  // -- the end ----------------

  /// Signals the kernel session ([G] 9.6), then calls `then`, which may be null. Nothing is sent once the program was let go.
  void signal(int number, std::function<void(std::size_t signalled)> then);

  /// The program has ended and nobody needs its number: not at once, if processes of its session are left, which `quiesce`
  /// must still find.
  void rest();
  /// The program has ended: its number is given free.
  void let_go();

  /// Kills the whole kernel session, again and again until nothing of it is found, and lets it go. The owner hears nothing
  /// more. Does nothing to the rest of a session whose program has ended.
  void end_all();

  /// The agent is destroyed. Gives the number to whoever kills it, and touches it no more; absent: it was let go.
  [[nodiscard]] std::optional<pid_t> abandon();

private:
  struct output {
    output(boost::asio::io_context& io, unique_fd from, stream x) : fd(io), which(x) {
      if (from)
        fd.assign(from.release());
    }
    boost::asio::posix::stream_descriptor fd;
    stream which;
    bool resting = false;
  };

  enum class found { more, nothing_yet, end };

  void watch_exit();
  void watch_output(output& x);
  void read(output& x);
  [[nodiscard]] found read_once(output& x);
  void at_end(output& x);
  void drain();
  void write_input();
  void drop_input();
  void close_all();
  boost::asio::awaitable<void> signal_once(int number, std::function<void(std::size_t)> then);
  boost::asio::awaitable<void> end_rounds();
  boost::asio::awaitable<void> rest_when_alone();
  void unpin();
  void reap_unwanted();

  std::shared_ptr<agent_core> core_;
  pid_t pid_;
  bool on_terminal_;
  std::weak_ptr<program_owner> owner_;
  boost::asio::posix::stream_descriptor exit_;
  output out_; // the terminal, both ways, or stdout
  output err_;
  boost::asio::steady_timer retry_; // of a terminal that nobody has open

  input_queue input_;
  bool input_watched_ = false;

  std::optional<session_exit> exited_;
  std::size_t left_to_drain_; // once it has exited
  bool ended_ = false;
  bool ending_all_ = false;
  bool unwanted_ = false; // let go when nothing uses the number any more
  bool reaped_ = false;
  int pins_ = 0; // who uses the number right now
};

} // namespace paddock::guest
