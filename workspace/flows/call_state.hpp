#pragma once

#include "base/flows/sleep.hpp"
#include "guest/failure.hpp"
#include "guest/flows/host.hpp"
#include "workspace/flows/guest_calls.hpp"
#include "workspace/ports.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paddock::workspace {

/// What the coroutines and the asker of one call share. Touched on the strand only.
struct call_state {
  explicit call_state(const boost::asio::any_io_executor& lane) :
    credit_bell(lane, boost::asio::steady_timer::time_point::max()),
    input_bell(lane, boost::asio::steady_timer::time_point::max()),
    place_bell(lane, boost::asio::steady_timer::time_point::max()),
    steer_bell(lane, boost::asio::steady_timer::time_point::max()) {
  }
  // -- output -----------------------------------------------------------------
  std::function<void(guest::stream, std::vector<std::byte>)> output;
  std::size_t credit = 0;
  bool dropped = false; // some output was not handed on, so none that follows is
  // -- input ------------------------------------------------------------------
  std::function<void(std::size_t)> wants_input;
  std::size_t wanted = 0; // so much may still be given
  std::string given;      // and was not taken yet
  bool complete = false;
  bool window_open = false;
  std::string taken;           // of the input, for another attempt
  std::size_t taken_again = 0; // so much of what was given had been taken before, and was wanted then
  bool begun = false;          // another attempt would not be the same: some output was handed on, or more was taken than is kept
  // -- the call ---------------------------------------------------------------
  std::function<void(job_note)> noted;
  std::function<void(guest::failure)> refused;
  std::optional<std::optional<guest::endpoint>> next_place; // what the asker has said after `refused`
  bool withdrawn = false;
  std::optional<guest::failure> broken; // the asker gave input that was not wanted
  std::deque<steering> steers;          // none is a `leave_running`
  bool leaving = false;                 // what runs in the guest is left as it is
  boost::asio::steady_timer credit_bell;
  boost::asio::steady_timer input_bell;
  boost::asio::steady_timer place_bell;
  boost::asio::steady_timer steer_bell;

  void want(std::size_t bytes) {
    wanted += bytes;
    wants_input(bytes);
  }
  /// Asks for the first input; an attempt in another place does not ask again.
  void open_window(std::size_t bytes) {
    if (!std::exchange(window_open, true))
      want(bytes);
  }
  /// The next piece of what was given, and asks for as much again; empty at the end of the input.
  /// @pre there is some, or the end
  std::string take_input() {
    auto piece = given.substr(0, largest_piece);
    given.erase(0, piece.size());
    if (!begun)
      taken += piece;
    if (taken.size() > most_kept_input) {
      begun = true;
      taken = {};
    }
    const auto again = std::min(piece.size(), taken_again);
    taken_again -= again;
    if (piece.size() > again && !complete)
      want(piece.size() - again);
    return piece;
  }
  /// Gives what was taken once more.
  void rewind() {
    given.insert(0, taken);
    taken_again = taken.size();
    taken.clear();
  }
  /// The cancellation that follows wakes who waits for input: what has been cancelled must not see its input end.
  void withdraw() {
    withdrawn = true;
    credit_bell.cancel();
    place_bell.cancel();
  }
};
using shared_call = std::shared_ptr<call_state>;

[[nodiscard]] bool is_cancelled(boost::asio::cancellation_state x);

/// Whether there is credit; waits for it until `until`. False: there will be none, because the call or this coroutine was
/// withdrawn or the time is up.
boost::asio::awaitable<bool> has_credit(shared_call call, flow_time& time, deadline until);
/// Whether there is input, or its end; waits for it until `until`. False: this coroutine was cancelled or the time is up.
boost::asio::awaitable<bool> has_input(shared_call call, flow_time& time, deadline until);
/// Says `refused`, and waits until `until` for where else the call may go; nowhere once it is withdrawn, this coroutine cancelled or the
/// time up.
boost::asio::awaitable<std::optional<guest::endpoint>> another_place(shared_call call, guest::failure why, flow_time& time, deadline until);
/// Hands `bytes` on, piece by piece, as the credit allows. False: not all of it. Never throws: cancelled, it drops what is left, and the
/// call remembers that.
boost::asio::awaitable<bool> hand_on(shared_call call, guest::stream which, std::string bytes, flow_time& time, deadline until);

/// The input of a call, as what hosts read from.
class source final : public guest::input_source {
public:
  source(shared_call call, flow_time& time, deadline until) : call_(std::move(call)), time_(time), until_(until) {
  }
  /// Throws `operation_aborted` when there will be no more input and this is not its end: nobody must take what came for
  /// all there is.
  boost::asio::awaitable<std::string> next() override;

private:
  shared_call call_;
  flow_time& time_;
  deadline until_;
};

} // namespace paddock::workspace
