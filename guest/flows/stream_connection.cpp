#include "guest/flows/stream_connection.hpp"

#include "guest/host_stream_requests.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <utility>

namespace paddock::guest {

namespace asio = boost::asio;

stream_connection::stream_connection(flow_time& time, asio::any_io_executor lane, std::shared_ptr<host_connection> on, stream_events events,
                                     stream_events::opened ready, std::uint64_t frame_ceiling, std::size_t waiting_bytes) :
  time_(time),
  on_(std::move(on)),
  events_(std::move(events)),
  ready_(std::move(ready)),
  frame_ceiling_(frame_ceiling),
  waiting_bytes_(waiting_bytes),
  given_(ready_.resume_at),
  waiting_(std::exchange(ready_.early, {})),
  bell_(lane, asio::steady_timer::time_point::max()),
  children_(time, lane) {
  if (ready_.heartbeat)
    beat_.emplace(*ready_.heartbeat, time_.now());
}

void stream_connection::start() {
  children_.start(read_all(shared_from_this()));
  children_.start(write_all(shared_from_this()));
  if (beat_)
    watchdog_ = children_.start(watch(shared_from_this()));
}

std::optional<std::uint64_t> stream_connection::next_offset() const {
  if (waiting_.empty() && ending_ && ending_->said && ending_->said->next_offset)
    return ending_->said->next_offset;
  return given_;
}

// -- the caller ------------------------------------------------------------------

asio::awaitable<void> stream_connection::rung(self it) {
  const bool gone = co_await was_withdrawn();
  if (gone)
    throw boost::system::system_error{asio::error::operation_aborted};
  [[maybe_unused]] auto [ec] = co_await it->bell_.async_wait(asio::as_tuple(asio::use_awaitable));
}

asio::awaitable<std::string> stream_connection::next(self it) {
  it->listened_ = true;
  while (it->waiting_.empty() && !it->ending_)
    co_await rung(it);
  if (it->waiting_.empty())
    co_return std::string{};
  const auto was_full = it->full();
  auto got = it->waiting_.pop();
  if (got.next_offset)
    it->given_ = got.next_offset;
  if (was_full && !it->full())
    it->ring();
  co_return std::move(got.bytes);
}

asio::awaitable<bool> stream_connection::send(self it, std::string frame) {
  if (it->ending_ || !it->writable_)
    co_return false;
  // A cancellation must not leave before the frame has been taken back.
  const bool throwing = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  auto mine = std::make_shared<outgoing>(outgoing{std::move(frame)});
  it->unsent_.push_back(mine);
  it->ring();
  auto gone = false;
  while (!mine->taken && !mine->failed && !gone) {
    gone = co_await was_withdrawn();
    if (!gone)
      co_await it->bell_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  co_await asio::this_coro::throw_if_cancelled(throwing);
  if (mine->taken || mine->failed)
    co_return mine->taken;
  if (!mine->begun)
    std::erase(it->unsent_, mine);
  throw boost::system::system_error{asio::error::operation_aborted};
}

asio::awaitable<stream_connection::ending> stream_connection::end(self it) {
  while (!it->ending_)
    co_await rung(it);
  co_return *it->ending_;
}

void stream_connection::sever(std::string text) {
  finish({std::nullopt, std::move(text)});
  close();
}

void stream_connection::sever_after(std::chrono::milliseconds grace) {
  if (!ending_ && !severing_)
    severing_ = children_.start(sever_at(shared_from_this(), time_.now() + grace));
}

void stream_connection::leave(std::string frame, std::chrono::milliseconds grace) {
  if (ending_)
    return;
  ending_ = ending{std::nullopt, "left by the caller"};
  drop_unsent(false);
  unsent_.push_back(std::make_shared<outgoing>(outgoing{std::move(frame)}));
  if (watchdog_)
    watchdog_->stop();
  if (severing_)
    severing_->stop();
  if (!writable_)
    return close();
  closing_ = children_.start(close_at(shared_from_this(), time_.now() + grace));
  ring();
}

// -- the children ----------------------------------------------------------------

asio::awaitable<bool> stream_connection::read_all(self it) {
  while (!it->ending_) {
    if (it->full()) {
      // What this side does not read, it cannot miss.
      if (it->beat_)
        it->beat_->suspend();
      while (it->full() && !it->ending_)
        co_await rung(it);
      if (it->beat_)
        it->beat_->resume(it->time_.now());
      continue;
    }
    auto step = it->on_->frames().next(it->frame_ceiling_);
    if (auto* whole = std::get_if<frame_reader::frame>(&step)) {
      it->heard(it->events_.take(whole->payload));
    } else if (auto* bad = std::get_if<frame_reader::malformed>(&step)) {
      it->sever(to_string(bad->why));
    } else if (auto* large = std::get_if<frame_reader::too_large>(&step)) {
      it->sever("a frame of " + std::to_string(large->announced) + " bytes");
    } else {
      const auto got = co_await it->on_->read(it->time_, std::nullopt);
      if (got.n != 0 && it->beat_)
        it->beat_->heard(it->time_.now());
      if (got.ec && got.n == 0)
        it->sever(got.ec == asio::error::eof ? std::string{"the connection was closed"} : "the connection was lost: " + got.ec.message());
    }
  }
  co_return true;
}

asio::awaitable<bool> stream_connection::write_all(self it) {
  while (!it->closed_) {
    if (it->unsent_.empty()) {
      if (it->ending_)
        break;
      co_await rung(it);
      continue;
    }
    auto now = it->unsent_.front();
    now->begun = true;
    const auto sent = co_await it->on_->write(it->time_, std::move(now->frame), std::nullopt);
    std::erase(it->unsent_, now);
    now->taken = !sent.ec;
    now->failed = !now->taken;
    if (sent.ec) {
      // The guest may have said its last word and closed: that is for the reader to find out.
      it->writable_ = false;
      it->drop_unsent(true);
      it->ring();
      break;
    }
    it->ring();
  }
  // Whoever left wanted the last frame sent first.
  if (it->ending_)
    it->close();
  co_return true;
}

asio::awaitable<bool> stream_connection::watch(self it) {
  while (!it->ending_) {
    const auto at = it->time_.now() + it->beat_->poll_every();
    co_await it->time_.sleep_until(at);
    if (it->ending_)
      break;
    switch (it->beat_->poll(it->time_.now())) {
      case heartbeat::verdict::nothing: break;
      case heartbeat::verdict::beat: it->beat(); break;
      case heartbeat::verdict::dead:
        if (it->on_->arrived() != 0)
          it->beat_->heard(it->time_.now());
        else
          it->sever("the guest has been silent for " + std::to_string(heartbeat_misses) + " heartbeats");
        break;
    }
  }
  co_return true;
}

asio::awaitable<bool> stream_connection::sever_at(self it, time_source::clock::time_point at) {
  co_await it->time_.sleep_until(at);
  it->sever("severed: the guest did not end it after it was asked to");
  co_return true;
}

asio::awaitable<bool> stream_connection::close_at(self it, time_source::clock::time_point at) {
  co_await it->time_.sleep_until(at);
  it->close();
  co_return true;
}

void stream_connection::heard(stream_events::event what) {
  if (auto* output = std::get_if<stream_output>(&what)) {
    waiting_.push(std::move(*output));
    if (!listened_)
      waiting_.keep_newest(waiting_bytes_);
    ring();
  } else if (auto* last = std::get_if<stream_events::ended>(&what)) {
    finish({*last, {}});
    close();
  } else if (auto* fault = std::get_if<stream_events::broken>(&what)) {
    sever(std::move(fault->text));
  }
}

void stream_connection::finish(ending how) {
  if (!ending_)
    ending_ = std::move(how);
}

void stream_connection::close() {
  if (closed_)
    return;
  closed_ = true;
  writable_ = false;
  on_->close();
  drop_unsent(true);
  for (const auto& x : {watchdog_, severing_, closing_})
    if (x)
      x->stop();
  ring();
}

void stream_connection::drop_unsent(bool begun_too) {
  for (const auto& x : unsent_)
    if (begun_too || !x->begun)
      x->failed = true;
  std::erase_if(unsent_, [](const auto& x) { return x->failed; });
}

void stream_connection::beat() {
  // One at a time: what is on its way is proof of life as well.
  if (!writable_ || (unsent_beat_ && !unsent_beat_->taken && !unsent_beat_->failed))
    return;
  unsent_beat_ = std::make_shared<outgoing>(outgoing{heartbeat_frame()});
  unsent_.push_back(unsent_beat_);
  ring();
}

bool stream_connection::full() const {
  return listened_ && waiting_.bytes() >= waiting_bytes_;
}

} // namespace paddock::guest
