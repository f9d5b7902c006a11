#pragma once

#include "base/flows/http.hpp"

#include <boost/asio/any_io_executor.hpp>

namespace paddock {

/// What a certificate says of its holder, which the handshake has verified.
struct tls_peer {
  std::string common_name;
  std::vector<std::string> organizations;
  std::string fingerprint; // SHA-256 of the certificate, lower-case hex
};

/// Answers one request. Exactly one of `send` or `begin` is called, once.
class http_responder {
public:
  virtual ~http_responder() = default;
  /// The whole answer at once.
  virtual boost::asio::awaitable<io_result<void>> send(http_response what) = 0;
  /// Starts an answer of unknown length (chunked); `chunk` sends pieces, `end` finishes it. A failure means that the
  /// peer is gone.
  virtual boost::asio::awaitable<io_result<void>> begin(unsigned status, http_headers headers) = 0;
  virtual boost::asio::awaitable<io_result<void>> chunk(std::string piece) = 0;
  virtual boost::asio::awaitable<io_result<void>> end() = 0;
  /// The certificate that the client proved to hold; nothing when it showed none.
  [[nodiscard]] virtual std::optional<tls_peer> peer() const = 0;
  /// Closes the connection without a (further) answer. For fault injection.
  virtual void abort() = 0;
};

/// Called for each request, as a coroutine on the server's executor. `responder` lives until the coroutine ends.
using http_handler = std::function<boost::asio::awaitable<void>(http_request, http_responder&)>;

struct http_server_options {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;       // 0: the kernel chooses
  std::string certificate;      // PEM; both empty: plain HTTP
  std::string key;              // PEM, secret
  std::string client_authority; // PEM; a client may show a certificate of it, and none of another; empty: none is asked for
  http_limits bound{64 * 1024, 8 * 1024 * 1024};
  std::chrono::milliseconds idle{60'000}; // a connection without a request for so long is closed
  std::size_t connections = 1024;         // more are closed at accept
};

/// The server side of HTTP/1.1 with kept-alive connections. It goes before its io_context does; without `close` it stops all
/// the same and tells nobody. Requests are served on one strand, those of one connection one after another.
class http_server {
public:
  virtual ~http_server() = default;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  /// Stops listening, cancels the requests in progress and calls `closed` once after the last one has ended.
  virtual void close(std::function<void()> closed) = 0;
};

/// Listens, or says why not (`port taken` names address and port).
[[nodiscard]] io_result<std::unique_ptr<http_server>> make_http_server(boost::asio::any_io_executor lane, http_server_options options,
                                                                       http_handler handler);

} // namespace paddock
