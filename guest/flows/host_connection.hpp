#pragma once

#include "base/flows/sleep.hpp"
#include "guest/failure.hpp"
#include "guest/flows/transport.hpp"
#include "guest/frame.hpp"
#include "guest/identity.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace paddock::guest {

/// What one request did so far, for whoever stops it: what may be said about it afterwards depends on this.
struct trace {
  bool connected = false;            // a connection was established: from here on the request may have reached the guest
  std::string last;                  // the last failed attempt
  bool unresolved = false;           // it failed because the name had no address
  std::chrono::milliseconds dial{0}; // what the dial took, once connected
};

/// The connection of one request: fresh, used once, destroyed at the end on every path. For one strand; one reader and one
/// writer at a time.
class host_connection {
public:
  explicit host_connection(boost::asio::ip::tcp::socket socket);

  /// Dials with the retries of [G] 16.2 until `until`. Failure is `dial_failed`: nothing was sent. A name that does not
  /// exist is not tried again; one that the resolver could not look up now is.
  static boost::asio::awaitable<result<std::shared_ptr<host_connection>>> open(flow_time& time, transport_options with, endpoint where,
                                                                               deadline until, std::shared_ptr<trace> seen);

  struct moved {
    boost::system::error_code ec; // none, `eof`, `timed_out` when `at` passed, or what the socket says
    std::size_t n = 0;
  };
  /// The next bytes, put into the reader.
  boost::asio::awaitable<moved> read(flow_time& time, std::optional<time_source::clock::time_point> at);
  /// All of `bytes`.
  boost::asio::awaitable<moved> write(flow_time& time, std::string bytes, std::optional<time_source::clock::time_point> at);

  /// Nothing more may come: the peer must close by `at`. A text says what came instead. A reset is a close.
  boost::asio::awaitable<std::optional<std::string>> expect_close(flow_time& time, time_source::clock::time_point at);

  /// Bytes that have arrived and were not read yet.
  [[nodiscard]] std::size_t arrived() const;
  /// Ends the connection now; whoever reads or writes hears of it.
  void close() noexcept;

  [[nodiscard]] frame_reader& frames() noexcept {
    return frames_;
  }

private:
  boost::asio::ip::tcp::socket socket_;
  frame_reader frames_;
  std::string chunk_;
};

[[nodiscard]] std::string to_string(frame_reader::malformed::fault why);

} // namespace paddock::guest
