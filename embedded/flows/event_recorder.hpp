#pragma once

#include "embedded/event_book.hpp"
#include "embedded/flows/control_client.hpp"
#include "embedded/flows/work_queue.hpp"

#include <deque>
#include <functional>
#include <utility>

namespace paddock::embedded {

/// Tells of something that happened to an object.
using teller = std::function<void(const nlohmann::json& subject, happening what)>;

/// Writes Events beside the work: nobody waits for one, and one that cannot be written is lost. For one lane.
class event_recorder {
public:
  event_recorder(control_client& client, boost::asio::any_io_executor lane, event_source from);
  /// Of 256 that wait already the oldest goes.
  void tell(const nlohmann::json& subject, happening what);
  /// Writes until cancelled.
  boost::asio::awaitable<void> run();

private:
  boost::asio::awaitable<void> write(nlohmann::json subject, happening what);

  control_client& client_;
  event_book book_;
  std::deque<std::pair<nlohmann::json, happening>> waiting_; // of a subject what an Event says of it
  wake_up arrived_;
};

} // namespace paddock::embedded
