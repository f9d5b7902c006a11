#pragma once

#include "guest/agent/channel.hpp"
#include "guest/agent/core.hpp"
#include "guest/agent/live_execution.hpp"
#include "guest/output_log.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::guest {

/// A connection that follows a retained execution: the one that executes it, or an attached one.
class output_reader {
public:
  virtual ~output_reader() = default;
  /// `bytes` were appended to the log, at `offset`.
  virtual void more(stream which, std::string_view bytes, std::uint64_t offset) = 0;
  /// The execution is terminal, and the log grows no more. Not called after `sever`.
  virtual void ended(const execution_end& how) = 0;
  /// Processes may be left over: the connection must end without a terminal frame.
  virtual void sever() = 0;
};

/// A retained execution until it is terminal ([G] 6.3, 6.6): all output goes to its log whoever listens, so that no reader
/// ever holds the command up, and then to its readers. It stands in `agent_core::retained` from `begin` until one of its ends.
/// Wire thread only.
class retained_output final : public execution_client, public std::enable_shared_from_this<retained_output> {
public:
  retained_output(std::shared_ptr<agent_core> core, std::string id, std::shared_ptr<output_log> log);

  /// Of an execution whose reservation was just taken with a log.
  static std::shared_ptr<retained_output> begin(const std::shared_ptr<agent_core>& core, const std::string& id);

  /// Hears of everything from now on. Whoever joins and reads the log in one turn misses nothing.
  void join(std::shared_ptr<output_reader> reader);
  void leave(const output_reader* reader);

  [[nodiscard]] const std::shared_ptr<output_log>& log() const noexcept {
    return log_;
  }

  /// Called when the command has taken some of its input.
  void when_input_drains(std::function<void()> then) {
    drained_ = std::move(then);
  }

  // -- execution_client -------

  void take_output(stream which, std::string_view bytes) override;
  [[nodiscard]] bool congested() const override {
    return false;
  }
  void input_drained() override;
  void ended(const execution_end& how) override;
  void sever() override;

private:
  std::vector<std::shared_ptr<output_reader>> close();

  std::weak_ptr<agent_core> core_;
  std::string id_;
  std::shared_ptr<output_log> log_;
  std::vector<std::shared_ptr<output_reader>> readers_;
  std::function<void()> drained_;
};

/// Ends what has not been started, and answers its readers. False: it has been started, or is terminal.
bool cancel_unstarted(agent_core& core, const std::string& id);

/// Ends an execution that could not be started, and answers its readers.
void settle_failed(agent_core& core, const std::string& id, execution_end end);

/// Sends a log over a channel as the host takes it: what is on its way waits in the log, which all readers share, and not once
/// for each. A host of which more is unsent than the log holds is dropped: its channel is destroyed, and it can attach again.
class log_sender {
public:
  /// `from`: the first byte to send, which the log holds or is its end.
  log_sender(std::shared_ptr<channel> to, std::shared_ptr<const output_log> log, std::uint64_t from, std::uint64_t budget, bool as_base64);

  /// As `output_reader::more`.
  void more(stream which, std::string_view bytes, std::uint64_t offset);
  /// Ends the stream with `last`, once all that the log holds is sent.
  void end(std::string last);
  /// The channel takes more, or may: goes on.
  void pump();

private:
  std::shared_ptr<channel> to_;
  std::shared_ptr<const output_log> log_;
  std::uint64_t at_; // sent up to here
  std::size_t window_;
  bool as_base64_;
  std::optional<std::string> last_;
};

} // namespace paddock::guest
