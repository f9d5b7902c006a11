#pragma once

#include "guest/calls.hpp"
#include "guest/flows/host.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paddock::guest {

// -- detached executions ---------------------------------------------------------

/// Takes the output of a retained execution: bytes with their place in the one log of both streams ([G] 6.7), and gaps.
class log_sink {
public:
  virtual ~log_sink() = default;
  /// `next_offset` is the guest's: where an attach goes on after these bytes.
  virtual boost::asio::awaitable<void> take(stream which, std::string bytes, std::uint64_t next_offset) = 0;
  /// `dropped_bytes` of the log, in all streams, were evicted before they were seen; what follows begins at `from_offset`.
  virtual boost::asio::awaitable<void> gap(std::uint64_t from_offset, std::uint64_t dropped_bytes) = 0;
  /// Returns when nothing more shall be observed: the `detachSignal` of [G] 19.1. It must end when it is cancelled, as
  /// the others; this one never returns.
  virtual boost::asio::awaitable<void> enough() {
    auto lane = co_await boost::asio::this_coro::executor;
    auto never = boost::asio::steady_timer{lane, boost::asio::steady_timer::time_point::max()};
    co_await never.async_wait(boost::asio::use_awaitable);
  }
};

/// Work that outlives its caller, and what orders it ([G] 19). As `host`: a fresh connection a request. Refusals are the
/// named failures of guest/failure.hpp; a feature that is missing is `unsupported`, and nothing of the call is sent.
class work_host {
public:
  virtual ~work_host() = default;

  /// Runs with a log in the guest ([G] 19.1): a connection that breaks is taken up again at the last byte. Gives up as
  /// `execution_detached` and never cancels, but when this coroutine is cancelled: then the cancel is confirmed and the
  /// truthful end is the answer; a cancel that is not confirmed stands in the text of `execution_detached`. `until` bounds
  /// the observation, and so does the limit of the command with `observation_grace`. With `leave`, and once `output` has had
  /// enough, it ends as an `execution_detached` with `left` set as soon as the command is known to run; without `left` nobody
  /// knows that it does.
  virtual boost::asio::awaitable<result<attached_end>> run_detached(endpoint where, detached_run what, log_sink& output,
                                                                    deadline until) = 0;
  /// Observes ([G] 19.2). Cancelling this coroutine stops observing only: `execution_detached`.
  virtual boost::asio::awaitable<result<attached_end>> attach(endpoint where, attach_request what, log_sink& output, deadline until) = 0;
  /// The confirmed cancel of [G] 19.3. Success: the process group is gone.
  virtual boost::asio::awaitable<result<void>> cancel(endpoint where, std::string execution_id, deadline until) = 0;

  virtual boost::asio::awaitable<result<std::vector<session_row>>> sessions(endpoint where, deadline until) = 0;
  virtual boost::asio::awaitable<result<session_row>> start_detached(endpoint where, session_start what, deadline until) = 0;
  /// `signal` absent: SIGKILL. The row is the truth at that moment: a survivor is `running`.
  virtual boost::asio::awaitable<result<session_row>> kill_session(endpoint where, std::string session, std::optional<std::string> signal,
                                                                   deadline until) = 0;
  /// What the log of a session holds from `from_offset` on; disturbs nobody.
  virtual boost::asio::awaitable<result<session_chunk>> read_session(endpoint where, std::string session, std::uint64_t from_offset,
                                                                     deadline until) = 0;

  virtual boost::asio::awaitable<result<quiesce_report>> quiesce(endpoint where, quiesce_request how, deadline until) = 0;
  virtual boost::asio::awaitable<result<flush_report>> flush(endpoint where, std::optional<std::chrono::milliseconds> bound,
                                                             deadline until) = 0;
};

struct work_options {
  std::chrono::milliseconds reattach_window{30'000};
  std::chrono::milliseconds reattach_pause{250};
  std::chrono::milliseconds observation_grace{10'000};
  std::chrono::milliseconds read_session{30'000};
};

} // namespace paddock::guest
