#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace paddock {

/// Where time comes from: nothing else reads a clock, so a test moves it by hand. Sleeping is `base/flows/sleep.hpp`.
class time_source {
public:
  using clock = std::chrono::steady_clock;
  using wall_clock = std::chrono::system_clock;
  virtual ~time_source() = default;
  /// For bounds and durations. Never goes back.
  [[nodiscard]] virtual clock::time_point now() const = 0;
  /// For instants that people and other hosts read.
  [[nodiscard]] virtual wall_clock::time_point wall() const = 0;
};

/// The machine's clocks.
class real_time final : public time_source {
public:
  [[nodiscard]] clock::time_point now() const override {
    return clock::now();
  }
  [[nodiscard]] wall_clock::time_point wall() const override {
    return wall_clock::now();
  }
};

/// The point by which a whole call must be over. Passed down by value; a callee may bring it forward, never push it back.
class deadline {
public:
  explicit deadline(time_source::clock::time_point at) : at_(at) {
  }
  /// `budget` from now on.
  deadline(const time_source& time, time_source::clock::duration budget) : at_(time.now() + budget) {
  }
  [[nodiscard]] time_source::clock::time_point at() const noexcept {
    return at_;
  }
  [[nodiscard]] deadline no_later_than(time_source::clock::time_point other) const noexcept {
    return deadline{other < at_ ? other : at_};
  }
  [[nodiscard]] deadline no_later_than(deadline other) const noexcept {
    return no_later_than(other.at_);
  }
  [[nodiscard]] bool passed(const time_source& time) const {
    return time.now() >= at_;
  }
  /// Never negative.
  [[nodiscard]] time_source::clock::duration left(const time_source& time) const {
    auto now = time.now();
    return now >= at_ ? time_source::clock::duration::zero() : at_ - now;
  }
  friend bool operator==(deadline, deadline) = default;

private:
  time_source::clock::time_point at_;
};

/// RFC 3339 in UTC with milliseconds and `Z`, as every instant that is sent to an API server ([C]).
[[nodiscard]] std::string rfc3339_millis(time_source::wall_clock::time_point at);

/// RFC 3339 in UTC with whole seconds and `Z`, as the API server writes `creationTimestamp`.
[[nodiscard]] std::string rfc3339_seconds(time_source::wall_clock::time_point at);

/// An instant in RFC 3339, with `Z` or an offset; a fraction of a second is cut off. One that the clock cannot tell (the year
/// 9999 often stands for never) is the nearest that it can, and none is before 1970: the time between two of them is always a
/// duration, but a sum with one may be too large. Nothing for any other text.
[[nodiscard]] std::optional<time_source::wall_clock::time_point> read_instant(std::string_view text);

} // namespace paddock
