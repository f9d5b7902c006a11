#pragma once

#include "guest/calls.hpp"
#include "guest/flows/host.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paddock::guest {

/// A terminal or an attached session after its `ready` ([G] 17.4). All calls on the executor that opened it; one `next` and one
/// `write` at a time. From the first `next` on the connection is read only as fast as it is asked, with about 1 MiB waiting;
/// before it nobody listens, and of what comes the newest MiB is kept.
class terminal_stream {
public:
  virtual ~terminal_stream() = default; // severs the connection

  [[nodiscard]] virtual const std::optional<guest_boot_id>& boot() const = 0;
  /// Of a session only.
  [[nodiscard]] virtual const std::optional<session_position>& position() const = 0;
  /// Where the next attach would go on: behind what `next` has given, from what the guest said and never counted here. Of a
  /// session only.
  [[nodiscard]] virtual std::optional<std::uint64_t> next_offset() const = 0;

  /// The next output; empty when the stream has ended and all was given, and `end` has the answer. Cancelling it throws
  /// `operation_aborted` and loses nothing.
  virtual boost::asio::awaitable<std::string> next() = 0;
  /// Input for the program, as it is; returns when the connection has taken it. False: the stream has ended. Cancelling it
  /// throws `operation_aborted`; whole pieces of 64 KiB have gone by then, or none.
  virtual boost::asio::awaitable<bool> write(std::string bytes) = 0;
  virtual boost::asio::awaitable<bool> resize(window_size size) = 0;
  /// Asks the guest to signal (`SIGTERM`, `SIGKILL`, `SIGINT`, `SIGHUP`), and severs the connection 5 s later if the stream
  /// has not ended.
  virtual boost::asio::awaitable<bool> kill(std::string signal) = 0;
  /// Leaves: severs the connection. A session lives on, a connection-bound terminal is killed by its guest.
  virtual void detach() = 0;
  /// How it ended; waits for the end. A connection-bound terminal whose connection was lost ends with -1; of a session that
  /// is `session_detached` with the guest's offset.
  virtual boost::asio::awaitable<result<terminal_end>> end() = 0;
};

/// A connection to a port on the guest's loopback, after its `ready` ([G] 17.5).
class tcp_stream {
public:
  virtual ~tcp_stream() = default; // destroys the service's connection
  [[nodiscard]] virtual const std::optional<guest_boot_id>& boot() const = 0;
  /// The next bytes; empty at the end, however it came about. Once it was asked for the first time not a byte is lost: with about
  /// 1 MiB waiting the connection is not read. Before that the newest MiB is kept ([G] 17.5), so ask before there is more.
  virtual boost::asio::awaitable<std::string> next() = 0;
  /// Returns when the connection has taken them. False: the stream has ended.
  virtual boost::asio::awaitable<bool> write(std::string bytes) = 0;
  /// Half-closes toward the service, which may still answer. Nothing can be written any more.
  virtual boost::asio::awaitable<bool> finish() = 0;
  /// Ends the stream at once; the guest is told, within a second, and the connection closed.
  virtual void destroy() = 0;
};

/// Streams under heartbeat ([G] 11). As `host`: a fresh connection a stream, nothing is sent twice. `until` bounds the open;
/// the stream itself lives as long as both sides do.
class stream_host {
public:
  virtual ~stream_host() = default;
  /// A session id in the request needs the feature `sessions`; refusals of a session are `session_refused`.
  virtual boost::asio::awaitable<result<std::unique_ptr<terminal_stream>>> open_terminal(endpoint where, terminal_request what,
                                                                                         deadline until) = 0;
  virtual boost::asio::awaitable<result<std::unique_ptr<terminal_stream>>> attach_session(endpoint where, session_attach what,
                                                                                          deadline until) = 0;
  /// `host` is 127.0.0.1 or ::1; anything else, or a port that is none, is `invalid_argument` and nothing is dialled.
  virtual boost::asio::awaitable<result<std::unique_ptr<tcp_stream>>> open_tcp(endpoint where, std::string host, int port,
                                                                               deadline until) = 0;
};

struct stream_options {
  std::chrono::milliseconds heartbeat{15'000}; // 0: none
  std::chrono::milliseconds kill_grace{5'000}; // from `kill` to the severing
  std::chrono::milliseconds read_idle{60'000}; // silence before `ready`
  std::size_t waiting_bytes = 1024 * 1024;     // received and not asked for yet
};

} // namespace paddock::guest
