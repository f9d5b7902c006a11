#pragma once

#include "base/flows/sleep.hpp"
#include "k8s/sighting.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <optional>

namespace paddock::workspace {

/// What a WATCH shows of the Sandbox of one verb, for the flow of that verb to wait on. Holds the latest only. For one lane.
class sightings {
public:
  explicit sightings(boost::asio::any_io_executor lane);

  void put(k8s::sighting x);
  [[nodiscard]] bool live() const noexcept {
    return now_.live;
  }
  /// Waits for what may stand for a read that follows the read `seen`, and answers it. Nothing: a read is due, because `until` has
  /// come, or `behind` while the WATCH has not shown what was read, the object went or another took its place, the WATCH no longer
  /// tells, or the caller has withdrawn.
  boost::asio::awaitable<std::optional<nlohmann::json>>
  later_than(nlohmann::json seen, flow_time& time, time_source::clock::time_point behind, time_source::clock::time_point until);

private:
  boost::asio::awaitable<void> rung();

  k8s::sighting now_;
  bool changed_ = false; // since the wait last looked
  bool alarm_ = false;   // what was relied on is gone
  boost::asio::steady_timer bell_;
};

} // namespace paddock::workspace
