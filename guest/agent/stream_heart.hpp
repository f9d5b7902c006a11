#pragma once

#include "guest/agent/channel.hpp"
#include "guest/agent/core.hpp"
#include "guest/heartbeat.hpp"

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <memory>
#include <string_view>

namespace paddock::guest {

inline constexpr std::string_view heartbeat_event = R"({"type":"heartbeat"})";

/// The guest's half of an armed heartbeat ([G] 11): sends a frame every interval, and destroys the channel when no byte of the
/// host has come for three. While the channel does not read, it waits; while something is unsent, it adds nothing, for
/// the host has bytes to come. It ends with its owner, or with the channel.
class stream_heart : public std::enable_shared_from_this<stream_heart> {
public:
  /// Null without an interval: then there is no heartbeat and no watchdog. It sends nothing before this turn is over, so
  /// `ready`, which tells the host of it, comes first.
  [[nodiscard]] static std::shared_ptr<stream_heart> arm(agent_core& core, std::shared_ptr<channel> to,
                                                         std::optional<std::chrono::milliseconds> interval);

  stream_heart(agent_core& core, std::shared_ptr<channel> to, std::chrono::milliseconds interval);

private:
  void wait();
  void poll();
  void look_again(int turns);
  /// Tells the rule what the channel has heard, and whether it reads.
  void listen();

  boost::asio::io_context& io_;
  const time_source& time_;
  std::weak_ptr<channel> to_;
  heartbeat rule_;
  time_source::clock::time_point heard_;
  boost::asio::steady_timer timer_;
};

} // namespace paddock::guest
