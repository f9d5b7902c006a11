#pragma once

#include "guest/flows/family.hpp"
#include "guest/flows/host_connection.hpp"
#include "guest/flows/stream_host.hpp"
#include "guest/heartbeat.hpp"
#include "guest/host_stream_events.hpp"

#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace paddock::guest {

/// One stream after its `ready`: frames both ways at once, under heartbeat, with output that waits to be asked for. For one
/// strand. It lives by its own reader, writer and watchdog, so whoever has no more use for it must `sever` it; `time` and
/// the executor outlive it.
class stream_connection : public std::enable_shared_from_this<stream_connection> {
public:
  using self = std::shared_ptr<stream_connection>;

  /// What the open knows of the stream; the flow that opens it has read up to and including `ready`.
  stream_connection(flow_time& time, boost::asio::any_io_executor lane, std::shared_ptr<host_connection> on, stream_events events,
                    stream_events::opened ready, std::uint64_t frame_ceiling, std::size_t waiting_bytes);
  stream_connection(const stream_connection&) = delete;
  stream_connection& operator=(const stream_connection&) = delete;

  /// Starts its children. Once.
  void start();

  // -- what is known -----------------------------------------------------------

  [[nodiscard]] const stream_events::opened& opened() const noexcept {
    return ready_;
  }
  /// How the stream ended: what the guest said, or a text that says what happened instead.
  struct ending {
    std::optional<stream_events::ended> said;
    std::string text;
  };
  [[nodiscard]] const std::optional<ending>& over() const noexcept {
    return ending_;
  }
  /// Where the output goes on that `next` has not given yet, by the guest's own numbers.
  [[nodiscard]] std::optional<std::uint64_t> next_offset() const;

  // -- for the caller ------------------------------------------------------------

  /// The next output; empty once the stream is over and all was given. From the first call on nothing is dropped: while
  /// `waiting_bytes` wait, the connection is not read and the peer is not watched. Before it, the newest are kept. Throws
  /// `operation_aborted` when it is cancelled, and has then taken nothing.
  static boost::asio::awaitable<std::string> next(self it);
  /// Queues a frame and waits until the connection has taken it; false: it will not. When it is cancelled, a frame that has
  /// not been begun is taken back.
  static boost::asio::awaitable<bool> send(self it, std::string frame);
  /// Waits for the end.
  static boost::asio::awaitable<ending> end(self it);

  /// The stream is over, for the caller's own reasons; nothing when it was over already. The connection is closed.
  void sever(std::string text);
  /// As `sever`, in the future. The first call counts.
  void sever_after(std::chrono::milliseconds grace);
  /// The stream is over at once, and the connection is closed once `frame` was sent, or after `grace`.
  void leave(std::string frame, std::chrono::milliseconds grace);

private:
  struct outgoing {
    std::string frame;
    bool begun = false;
    bool taken = false;
    bool failed = false;
  };

  static boost::asio::awaitable<bool> read_all(self it);
  static boost::asio::awaitable<bool> write_all(self it);
  static boost::asio::awaitable<bool> watch(self it);
  static boost::asio::awaitable<bool> sever_at(self it, time_source::clock::time_point at);
  static boost::asio::awaitable<bool> close_at(self it, time_source::clock::time_point at);

  void heard(stream_events::event what);
  void finish(ending how);
  void close();
  void drop_unsent(bool begun_too);
  void beat();
  [[nodiscard]] bool full() const;
  void ring() {
    bell_.cancel();
  }
  static boost::asio::awaitable<void> rung(self it);

  flow_time& time_;
  std::shared_ptr<host_connection> on_;
  stream_events events_;
  stream_events::opened ready_;
  std::uint64_t frame_ceiling_;
  std::size_t waiting_bytes_;
  std::optional<heartbeat> beat_;
  std::optional<std::uint64_t> given_; // where the output goes on after what was given
  waiting_output waiting_;
  bool listened_ = false;
  std::deque<std::shared_ptr<outgoing>> unsent_;
  std::shared_ptr<outgoing> unsent_beat_;
  bool writable_ = true;
  bool closed_ = false;
  std::optional<ending> ending_;
  boost::asio::steady_timer bell_; // rung when anything above has changed
  family children_;
  std::shared_ptr<child_base> watchdog_;
  std::shared_ptr<child_base> severing_;
  std::shared_ptr<child_base> closing_;
};

/// Severs what it holds when it goes.
class stream_holder {
public:
  stream_holder() = default;
  explicit stream_holder(stream_connection::self it) : it_(std::move(it)) {
  }
  stream_holder(stream_holder&&) noexcept = default;
  stream_holder& operator=(stream_holder&& x) noexcept {
    std::swap(it_, x.it_);
    return *this;
  }
  ~stream_holder() {
    if (it_)
      it_->sever("the stream was given up");
  }
  stream_connection* operator->() const noexcept {
    return it_.get();
  }
  [[nodiscard]] const stream_connection::self& get() const noexcept {
    return it_;
  }

private:
  stream_connection::self it_;
};

} // namespace paddock::guest
