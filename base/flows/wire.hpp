#pragma once

#include "base/flows/http.hpp"
#include "base/flows/withdrawal.hpp"
#include "base/io_failure.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

#include <chrono>
#include <memory>
#include <optional>

namespace paddock {

struct tls_peer;
using tls_context = std::shared_ptr<boost::asio::ssl::context>;

/// What a client shows and believes, from the PEM texts of an address; or which of them is unreadable (stage `tls`).
[[nodiscard]] io_result<tls_context> client_tls(const http_server_address& where);

/// What a server shows, and whose certificates it takes of clients (an empty authority: it asks for none).
[[nodiscard]] io_result<tls_context> server_tls(const std::string& certificate, const std::string& key,
                                                const std::string& client_authority = {});

/// One connection, plain or TLS, under a bound in time: once it passes the socket is closed and what waits on it fails.
/// For the coroutine that holds it; one operation at a time. Nothing throws; `throw_if_cancelled` has to be off.
class wire {
public:
  struct moved {
    boost::system::error_code ec; // `operation_aborted` when withdrawn or out of time
    std::size_t n = 0;
  };

  explicit wire(boost::asio::ip::tcp::socket socket);
  ~wire();
  wire(const wire&) = delete;
  wire& operator=(const wire&) = delete;

  /// Bounds what follows, on the lane of the running coroutine. Replaces the bound before.
  void bound(boost::asio::any_io_executor lane, std::chrono::steady_clock::time_point until);
  void unbound();
  /// Lifts the bound as `unbound` does, for who sets another on the same lane before long: its timer stays.
  void rest();
  [[nodiscard]] bool expired() const;

  /// The handshakes. The text of a failure says who was not believed and why.
  boost::asio::awaitable<io_result<void>> connect_tls(tls_context with, std::string name, bool insecure);
  boost::asio::awaitable<io_result<void>> accept_tls(tls_context with);

  boost::asio::awaitable<moved> read_some(boost::asio::mutable_buffer to);
  /// All of `from`, or `n` says how much went before it failed; over TLS `n` is not less than what may have left.
  boost::asio::awaitable<moved> write(boost::asio::const_buffer from);

  /// Whether the peer has closed, as far as this side can tell without waiting. `quiet`: bytes that wait unread count as
  /// closed too, because none may come here.
  [[nodiscard]] bool peer_closed(bool quiet) const;
  [[nodiscard]] bool tls() const;
  /// What the peer's certificate says; nothing when it showed none.
  [[nodiscard]] std::optional<tls_peer> peer() const;
  void close();
  /// Says that nothing more is sent; the peer's bytes can still be read.
  void finish();

private:
  struct core;
  std::shared_ptr<core> core_;
};

/// Why an operation ended: `cancelled` wins over `timeout`, and that over what the socket said.
boost::asio::awaitable<io_failure> explain(const wire& on, io_failure::stage at, bool sent, std::string what, boost::system::error_code ec);

} // namespace paddock
