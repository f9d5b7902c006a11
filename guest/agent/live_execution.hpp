#pragma once

#include "base/time.hpp"
#include "guest/agent/process.hpp"
#include "guest/command.hpp"
#include "guest/execution_registry.hpp"
#include "guest/output_cap.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace paddock::guest {

/// The connection that asked for an execution, as the execution sees it.
class execution_client {
public:
  virtual ~execution_client() = default;
  virtual void take_output(stream which, std::string_view bytes) = 0;
  /// Whether the command's pipes should rest until `live_execution::resume`.
  [[nodiscard]] virtual bool congested() const = 0;
  /// Some of the input has gone to the command.
  virtual void input_drained() = 0;
  /// Everything is over: the last frames. Not called after `sever`.
  virtual void ended(const execution_end& how) = 0;
  /// Processes may be left over: the connection must end without a terminal frame ([G] 6.4).
  virtual void sever() = 0;
};

/// One running command: its pipes, its end, its termination ([G] 6.3-6.5). Wire thread only.
///
/// The leader's number names the process group. It is kept taken by leaving the leader a zombie until nothing is
/// signalled any more and only the question is left whether the group has vanished; a group whose leader was reaped is
/// never signalled.
class live_execution : public std::enable_shared_from_this<live_execution> {
public:
  struct rules {
    std::chrono::microseconds timeout;
    std::chrono::milliseconds grace;   // SIGTERM to SIGKILL
    std::chrono::milliseconds confirm; // one whole termination
    std::uint64_t max_output_bytes = 0;
  };

  struct events {
    std::function<void()> leader_exited;
    std::function<void(const execution_end&)> settled;
    std::function<void(std::string_view reason)> fence;
  };

  /// What set off a termination.
  enum class cause { cancelled, timeout, quiesced };

  live_execution(boost::asio::io_context& io, const time_source& time, std::span<char> scratch, process child, rules x, events on);
  /// A command that is not over is ended by force: its group is killed while the number is still its own.
  ~live_execution();
  live_execution(const live_execution&) = delete;
  live_execution& operator=(const live_execution&) = delete;

  /// Begins to watch. `input`: written to the child, then closed; ignored when it has no stdin pipe. `client` may be
  /// null; it is held until the end, or until `detach`.
  void start(std::shared_ptr<execution_client> client, std::optional<std::string> input);

  /// The connection is gone: output is read and dropped from now on, the command goes on.
  void detach();

  // -- input as a stream ------

  void feed(std::string bytes);
  void end_input();
  [[nodiscard]] std::size_t waiting_input() const noexcept {
    return waiting_input_;
  }

  /// Nobody reads any more, or the client is no longer congested: go on reading the pipes.
  void resume();

  /// The agent is destroyed: kills the group while its number is its own, and watches nothing any more.
  void abandon();

  /// Runs the termination procedure, or joins the one that runs. Calls `then` once: absent when nothing of the command
  /// is left, otherwise why that cannot be said.
  void terminate(cause why, std::chrono::milliseconds grace, std::function<void(std::optional<std::string> failure)> then);

  /// A quiesce is about to end it ([G] 12.4): a command that runs and has no cause yet takes this one, and the survivors of
  /// one whose leader has exited get the time of a termination. Nothing is signalled here.
  void mark_quiesced();

  [[nodiscard]] pid_t leader() const noexcept {
    return pid_;
  }
  /// When the leader was reaped, in clock ticks since boot. From then on its number is held by members of its group only.
  [[nodiscard]] std::optional<std::uint64_t> leader_reaped_at() const noexcept {
    return reaped_at_;
  }
  /// It will never settle: some of its group were alive when everything else of it had ended.
  [[nodiscard]] bool severed() const noexcept {
    return severed_;
  }

  /// Whether `pid` is the leader and must be left a zombie once it has exited.
  [[nodiscard]] bool keeps(pid_t pid) const noexcept {
    return pid == pid_ && !reaped_;
  }

  /// How it ended, once nothing of it is left. Absent until then, and for ever when it was severed or abandoned.
  [[nodiscard]] const std::optional<execution_end>& end() const noexcept {
    return end_;
  }

private:
  struct output_pipe {
    output_pipe(boost::asio::io_context& io, unique_fd from, stream x, std::uint64_t allowance) :
      fd(io, from.release()), which(x), cap(allowance), filling(io) {
    }
    boost::asio::posix::stream_descriptor fd;
    stream which;
    output_cap cap;
    bool resting = false;              // its client is congested
    std::size_t beyond = 0;            // so much is read of it all the same
    boost::asio::steady_timer filling; // while a command that floods it in small pieces fills it
    time_source::clock::time_point woken{};
    int hasty = 0; // how often in a row little was found soon after the last time
    bool widened = false;
  };

  void watch_exit();
  void watch(output_pipe& pipe);
  void read(output_pipe& pipe);
  void read_again(output_pipe& pipe, std::size_t found);
  void take_rest();
  void write_input();
  void close_input();
  void check_settled();
  [[nodiscard]] bool group_alive();
  void signal_group(int number);
  void settle();
  void fence(std::string_view reason);
  boost::asio::awaitable<void> pause(time_source::clock::time_point no_later_than);
  boost::asio::awaitable<void> judge_survivors();
  boost::asio::awaitable<std::optional<std::string>> run_termination(cause why, std::chrono::milliseconds grace);
  boost::asio::awaitable<void> terminate_once(cause why, std::chrono::milliseconds grace);

  boost::asio::io_context& io_;
  std::span<char> scratch_;
  pid_t pid_;
  rules rules_;
  events on_;
  std::shared_ptr<execution_client> client_;
  boost::asio::posix::stream_descriptor exit_;
  boost::asio::posix::stream_descriptor in_;
  output_pipe out_;
  output_pipe err_;
  boost::asio::steady_timer timeout_;
  boost::asio::steady_timer poll_; // cut short by every step towards the end
  const time_source& time_;
  time_source::clock::time_point started_at_;

  std::deque<std::string> input_;
  std::size_t input_taken_ = 0; // of the first piece
  std::size_t waiting_input_ = 0;
  bool input_ended_ = false;
  bool input_watched_ = false;

  std::optional<exit_status> exited_;
  bool reaped_ = false;
  std::optional<std::uint64_t> reaped_at_;
  bool patient_ = false; // with its survivors
  bool group_gone_ = false;
  bool judging_ = false;
  bool settled_ = false;
  bool severed_ = false;
  std::optional<cause> cause_;
  std::optional<execution_end> end_;
  bool terminating_ = false;
  std::vector<std::function<void(std::optional<std::string>)>> waiting_;
};

} // namespace paddock::guest
