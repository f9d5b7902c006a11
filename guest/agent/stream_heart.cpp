#include "guest/agent/stream_heart.hpp"

#include <boost/asio/post.hpp>

#include <string>
#include <utility>

namespace paddock::guest {

namespace asio = boost::asio;

std::shared_ptr<stream_heart> stream_heart::arm(agent_core& core, std::shared_ptr<channel> to,
                                                std::optional<std::chrono::milliseconds> interval) {
  if (!interval)
    return nullptr;
  auto result = std::make_shared<stream_heart>(core, std::move(to), *interval);
  result->wait();
  return result;
}

stream_heart::stream_heart(agent_core& core, std::shared_ptr<channel> to, std::chrono::milliseconds interval) :
  io_(core.io), time_(core.time), to_(to), rule_(interval, core.time.now()), heard_(to->last_byte()), timer_(core.io) {
}

void stream_heart::wait() {
  timer_.expires_after(rule_.poll_every());
  timer_.async_wait([weak = weak_from_this()](boost::system::error_code ec) {
    if (auto self = weak.lock(); self && !ec)
      self->poll();
  });
}

void stream_heart::listen() {
  auto to = to_.lock();
  if (!to)
    return;
  if (to->reading_paused())
    rule_.suspend();
  else
    rule_.resume(time_.now());
  if (auto last = to->last_byte(); last > heard_) {
    heard_ = last;
    rule_.heard(last);
  }
}

void stream_heart::poll() {
  auto to = to_.lock();
  if (!to || to->gone())
    return;
  listen();
  switch (rule_.poll(time_.now())) {
    case heartbeat::verdict::dead: return look_again(2);
    case heartbeat::verdict::beat:
      if (to->unsent() == 0)
        to->send(std::string{heartbeat_event});
      break;
    case heartbeat::verdict::nothing: break;
  }
  wait();
}

// A thread that was held up finds the timer and the host's bytes at once: those are read first.
void stream_heart::look_again(int turns) {
  if (turns > 0)
    return asio::post(io_, [weak = weak_from_this(), turns] {
      if (auto self = weak.lock())
        self->look_again(turns - 1);
    });
  auto to = to_.lock();
  if (!to || to->gone())
    return;
  listen();
  if (rule_.poll(time_.now()) == heartbeat::verdict::dead)
    return to->destroy();
  wait();
}

} // namespace paddock::guest
