#pragma once

#include "base/io_failure.hpp"
#include "base/secret.hpp"
#include "base/time.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {

using http_headers = std::vector<std::pair<std::string, std::string>>;

/// The first value of `name` (case-insensitive), or nothing.
[[nodiscard]] std::optional<std::string_view> header(const http_headers& all, std::string_view name);

struct http_request {
  std::string method;
  std::string target; // path and query, already encoded
  http_headers headers;
  std::string body; // empty: no body is sent, and no content-length but for methods that need one
};

struct http_response {
  unsigned status = 0;
  http_headers headers;
  std::string body;
};

/// A proxy that opens a tunnel to a server (HTTP CONNECT). It is spoken to in plain HTTP; what goes through the tunnel is
/// not.
struct http_proxy {
  std::string host;
  std::uint16_t port = 0;
  secret authorization; // value of the Proxy-Authorization header; empty: none is sent
  friend bool operator==(const http_proxy&, const http_proxy&) = default;
};

/// How to reach a server. Values only; certificates are PEM texts, not files.
struct http_server_address {
  bool tls = false;
  std::string host;
  std::uint16_t port = 0;
  std::string ca;          // empty: the system's authorities
  std::string certificate; // of this client; empty: none is shown
  std::string key;         // secret
  std::string server_name; // for SNI and verification; empty: `host`
  bool insecure = false;   // do not verify the server
  std::optional<http_proxy> proxy = std::nullopt;
  friend bool operator==(const http_server_address&, const http_server_address&) = default;
};

struct http_limits {
  std::size_t header = 64 * 1024;
  std::size_t body = 256 * 1024 * 1024;
};

/// The client side of HTTP/1.1. One call is one request: nothing is retried, no redirect is followed. A connection may be
/// kept for later calls to an equal address; a request goes out a second time, once and on a fresh connection, only when it
/// is a GET and a reused connection ended before any byte of the answer.
class http_exchange {
public:
  virtual ~http_exchange() = default;

  /// The whole answer, whatever its status. Over by `until`; a cancelled coroutine ends as `cancelled`. On every failure
  /// the connection is closed.
  virtual boost::asio::awaitable<io_result<http_response>> send(http_server_address where, http_request what, http_limits bound,
                                                                deadline until) = 0;

  /// As `send`, but the body of a 2xx answer goes to `on_body` piece by piece as it arrives (a watch), on the lane of the
  /// caller; when it answers false the connection is closed and the call ends well. Other answers come back whole. The
  /// deadline bounds the whole stream; silence longer than `idle` ends it as `timeout`.
  virtual boost::asio::awaitable<io_result<http_response>> stream(http_server_address where, http_request what, http_limits bound,
                                                                  std::function<bool(std::string_view)> on_body,
                                                                  time_source::clock::duration idle, deadline until) = 0;
};

/// What is kept between the calls.
struct http_pool_limits {
  std::size_t idle_per_server = 16;                                            // more are closed after their call
  std::size_t idle = 256;                                                      // of all servers together
  std::chrono::steady_clock::duration longest_idle = std::chrono::seconds{30}; // then a connection is closed
};

/// The exchange over real TCP and TLS (Beast). It goes before the io_contexts of the flows that used it do. Thread-safe.
/// `bound.body` does not bound a streamed body: nothing of it is kept.
[[nodiscard]] std::unique_ptr<http_exchange> make_http_exchange(const time_source& time, http_pool_limits kept = {});

} // namespace paddock
