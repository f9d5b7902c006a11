#include "guest/heartbeat.hpp"

#include <algorithm>
#include <cmath>

namespace paddock::guest {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds shortest_poll{10};

milliseconds within_bounds(double interval) {
  const auto floored = std::clamp(std::floor(interval), 0.0, static_cast<double>(longest_heartbeat.count()));
  return std::max(shortest_heartbeat, milliseconds{static_cast<milliseconds::rep>(floored)});
}

std::optional<milliseconds> interval_in(const nlohmann::json& object) {
  if (!object.is_object())
    return std::nullopt;
  const auto found = object.find("heartbeatMs");
  if (found == object.end() || !found->is_number())
    return std::nullopt;
  const auto value = found->get<double>();
  if (!std::isfinite(value) || value <= 0)
    return std::nullopt;
  return within_bounds(value);
}

} // namespace

std::optional<milliseconds> accepted_heartbeat(const nlohmann::json& body) {
  return interval_in(body);
}

std::optional<milliseconds> armed_heartbeat(milliseconds asked, const nlohmann::json& ready) {
  if (asked <= milliseconds::zero())
    return std::nullopt;
  const auto echoed = interval_in(ready);
  if (!echoed)
    return std::nullopt;
  return std::min(4 * std::clamp(asked, shortest_heartbeat, longest_heartbeat), *echoed);
}

heartbeat::heartbeat(milliseconds interval, clock::time_point now) :
  interval_(std::clamp(interval, shortest_heartbeat, longest_heartbeat)), heard_(now), beat_due_(now + interval_) {
}

milliseconds heartbeat::poll_every() const noexcept {
  return std::max(shortest_poll, interval_ / 4);
}

void heartbeat::resume(clock::time_point now) noexcept {
  if (!suspended_)
    return;
  suspended_ = false;
  heard_ = now;
}

heartbeat::verdict heartbeat::poll(clock::time_point now) noexcept {
  if (!suspended_ && now - heard_ >= heartbeat_misses * interval_)
    return verdict::dead;
  if (now < beat_due_)
    return verdict::nothing;
  // The polls do not divide every interval. One that comes a little late does not delay the beats after it.
  beat_due_ += interval_;
  if (beat_due_ <= now)
    beat_due_ = now + interval_;
  return verdict::beat;
}

} // namespace paddock::guest
