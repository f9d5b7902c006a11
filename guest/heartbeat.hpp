#pragma once

#include "base/time.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <optional>

namespace paddock::guest {

// Both sides of a stream watch each other ([G] 11): each sends a frame every interval, and takes a peer of which not a byte has
// come for three intervals for dead.

inline constexpr std::chrono::milliseconds shortest_heartbeat{100};
/// No interval is longer: [G] 27 names it as the largest timer. A longer one that is asked is shortened to it and echoed so.
inline constexpr std::chrono::milliseconds longest_heartbeat{2'147'483'647};
/// Intervals without a byte after which the peer is dead.
inline constexpr int heartbeat_misses = 3;

/// What the guest makes of `heartbeatMs` in the body of an open, which may be any JSON: the interval that it echoes and arms
/// itself with. A finite number above 0 is floored and raised to 100; absent or anything else, a number in a string included, is none:
/// no echo, no heartbeat, no watchdog.
[[nodiscard]] std::optional<std::chrono::milliseconds> accepted_heartbeat(const nlohmann::json& body);

/// What the host arms itself with: it asked, and `ready` echoes a finite number above 0. At most four times what it asked, so that
/// a guest cannot put its own death out of sight. `asked` of 0 or less: the host did not ask.
[[nodiscard]] std::optional<std::chrono::milliseconds> armed_heartbeat(std::chrono::milliseconds asked, const nlohmann::json& ready);

/// The clock of one side of an armed stream. It waits for nothing itself: who owns it calls `poll` every `poll_every` and does
/// what that says.
class heartbeat {
public:
  using clock = time_source::clock;

  heartbeat(std::chrono::milliseconds interval, clock::time_point now);

  [[nodiscard]] std::chrono::milliseconds interval() const noexcept {
    return interval_;
  }
  /// max(10 ms, a quarter of the interval).
  [[nodiscard]] std::chrono::milliseconds poll_every() const noexcept;

  /// A byte has come, of whatever frame: also a part of a large one is proof of life.
  void heard(clock::time_point now) noexcept {
    heard_ = now;
  }
  /// This side has stopped reading, so that silence says nothing about the peer. It goes on sending: the peer still listens.
  void suspend() noexcept {
    suspended_ = true;
  }
  /// It reads again: the three intervals begin anew. Changes nothing when it had not stopped.
  void resume(clock::time_point now) noexcept;
  [[nodiscard]] bool suspended() const noexcept {
    return suspended_;
  }

  enum class verdict {
    nothing,
    beat, // send a heartbeat frame now; counted as sent
    dead, // no byte for three intervals
  };
  /// `dead` comes first, and again at each further poll. A process that was itself held up can find bytes waiting in
  /// the socket when it polls: they have arrived, so look there before the connection is given up.
  [[nodiscard]] verdict poll(clock::time_point now) noexcept;

private:
  std::chrono::milliseconds interval_;
  clock::time_point heard_;
  clock::time_point beat_due_;
  bool suspended_ = false;
};

} // namespace paddock::guest
