#include "base/flows/wire.hpp"

#include "base/flows/http_server.hpp"
#include "base/hash.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cerrno>
#include <sys/socket.h>
#include <utility>

namespace paddock {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using boost::system::error_code;

namespace {

constexpr auto quietly = asio::as_tuple(asio::use_awaitable);

io_failure unreadable(const char* what, error_code ec) {
  return {io_failure::stage::tls, false, std::string{what} + " cannot be read: " + ec.message()};
}

bool is_address(const std::string& host) {
  auto ec = error_code{};
  asio::ip::make_address(host, ec);
  return !ec;
}

/// Every entry of that kind in a subject, in its order.
std::vector<std::string> subject_texts(const X509_NAME* name, int kind) {
  auto out = std::vector<std::string>{};
  for (auto at = X509_NAME_get_index_by_NID(name, kind, -1); at >= 0; at = X509_NAME_get_index_by_NID(name, kind, at)) {
    unsigned char* text = nullptr;
    const auto size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (size >= 0)
      out.emplace_back(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
  }
  return out;
}

} // namespace

io_result<tls_context> client_tls(const http_server_address& where) {
  auto got = std::make_shared<ssl::context>(ssl::context::tls_client);
  auto ec = error_code{};
  SSL_CTX_set_min_proto_version(got->native_handle(), TLS1_2_VERSION);
  if (where.insecure)
    got->set_verify_mode(ssl::verify_none, ec);
  else
    got->set_verify_mode(ssl::verify_peer, ec);
  if (!where.insecure && where.ca.empty())
    got->set_default_verify_paths(ec);
  else if (!where.insecure)
    got->add_certificate_authority(asio::buffer(where.ca), ec);
  if (ec)
    return tl::unexpected{unreadable("the certificate authority", ec)};
  if (!where.certificate.empty())
    got->use_certificate_chain(asio::buffer(where.certificate), ec);
  if (ec)
    return tl::unexpected{unreadable("the client certificate", ec)};
  if (!where.key.empty())
    got->use_private_key(asio::buffer(where.key), ssl::context::pem, ec);
  if (ec)
    return tl::unexpected{unreadable("the client key", ec)};
  return got;
}

io_result<tls_context> server_tls(const std::string& certificate, const std::string& key, const std::string& client_authority) {
  auto got = std::make_shared<ssl::context>(ssl::context::tls_server);
  auto ec = error_code{};
  SSL_CTX_set_min_proto_version(got->native_handle(), TLS1_2_VERSION);
  got->use_certificate_chain(asio::buffer(certificate), ec);
  if (ec)
    return tl::unexpected{unreadable("the server certificate", ec)};
  got->use_private_key(asio::buffer(key), ssl::context::pem, ec);
  if (ec)
    return tl::unexpected{unreadable("the server key", ec)};
  if (client_authority.empty())
    return got;
  got->add_certificate_authority(asio::buffer(client_authority), ec);
  if (ec)
    return tl::unexpected{unreadable("the authority of the clients", ec)};
  // A client that shows none is served; what it may then is decided later.
  got->set_verify_mode(ssl::verify_peer, ec);
  // A session that is taken up again must not outlive the certificate it began with.
  SSL_CTX_set_session_cache_mode(got->native_handle(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(got->native_handle(), SSL_OP_NO_TICKET);
  return got;
}

struct wire::core {
  explicit core(asio::ip::tcp::socket from) : socket(std::move(from)) {
  }
  asio::ip::tcp::socket socket;
  tls_context context; // outlives the stream
  std::optional<ssl::stream<asio::ip::tcp::socket&>> stream;
  std::optional<asio::steady_timer> timer;
  std::chrono::steady_clock::time_point until;
  bool bounded = false;
  bool expired = false;

  void close() {
    auto ignored = error_code{};
    socket.close(ignored);
  }

  /// The timer is not set anew for each piece of a stream: when it rings early it looks at the bound again.
  static void watch(const std::shared_ptr<core>& self) {
    self->timer->expires_at(self->until);
    self->timer->async_wait([weak = std::weak_ptr{self}](error_code ec) {
      auto me = weak.lock();
      if (ec || !me || !me->bounded || !me->timer)
        return;
      if (std::chrono::steady_clock::now() < me->until)
        return watch(me);
      me->expired = true;
      me->close();
    });
  }
};

wire::wire(asio::ip::tcp::socket socket) : core_(std::make_shared<core>(std::move(socket))) {
  auto ignored = error_code{};
  core_->socket.set_option(asio::ip::tcp::no_delay{true}, ignored);
}

wire::~wire() {
  unbound();
  close();
}

void wire::bound(asio::any_io_executor lane, std::chrono::steady_clock::time_point until) {
  const auto later = core_->bounded && core_->timer && until >= core_->timer->expiry();
  core_->until = until;
  if (later)
    return;
  core_->bounded = true;
  core_->timer.emplace(std::move(lane));
  core::watch(core_);
}

void wire::unbound() {
  core_->bounded = false;
  core_->timer.reset();
}

void wire::rest() {
  core_->until = std::chrono::steady_clock::time_point::max();
}

bool wire::expired() const {
  return core_->expired;
}

bool wire::tls() const {
  return core_->stream.has_value();
}

std::optional<tls_peer> wire::peer() const {
  if (!core_->stream)
    return std::nullopt;
  const auto shown = std::unique_ptr<X509, void (*)(X509*)>{SSL_get1_peer_certificate(core_->stream->native_handle()), &X509_free};
  if (!shown)
    return std::nullopt;
  auto out = tls_peer{};
  const auto* name = X509_get_subject_name(shown.get());
  for (const auto& text : subject_texts(name, NID_commonName))
    out.common_name = text;
  out.organizations = subject_texts(name, NID_organizationName);
  unsigned char* bytes = nullptr;
  const auto size = i2d_X509(shown.get(), &bytes);
  if (size > 0)
    out.fingerprint = to_hex(sha256(std::span<const std::uint8_t>{bytes, static_cast<std::size_t>(size)}));
  OPENSSL_free(bytes);
  return out;
}

void wire::close() {
  core_->close();
}

void wire::finish() {
  auto ignored = error_code{};
  core_->socket.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

asio::awaitable<io_result<void>> wire::connect_tls(tls_context with, std::string name, bool insecure) {
  auto me = core_;
  me->context = std::move(with);
  me->stream.emplace(me->socket, *me->context);
  auto* native = me->stream->native_handle();
  if (is_address(name))
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(native), name.c_str());
  else {
    SSL_set_tlsext_host_name(native, name.c_str());
    SSL_set1_host(native, name.c_str());
  }
  auto late = co_await withdrawn();
  auto ec = error_code{asio::error::operation_aborted};
  if (!late) {
    auto [got] = co_await me->stream->async_handshake(ssl::stream_base::client, quietly);
    ec = got;
  }
  if (!ec)
    co_return io_result<void>{};
  auto text = "the server at " + name + " is not believed";
  const auto verdict = SSL_get_verify_result(native);
  if (!insecure && verdict != X509_V_OK)
    text += std::string{": "} + X509_verify_cert_error_string(verdict);
  auto why = co_await explain(*this, io_failure::stage::tls, false, std::move(text), ec);
  co_return tl::unexpected{std::move(why)};
}

asio::awaitable<io_result<void>> wire::accept_tls(tls_context with) {
  auto me = core_;
  me->context = std::move(with);
  me->stream.emplace(me->socket, *me->context);
  auto late = co_await withdrawn();
  auto ec = error_code{asio::error::operation_aborted};
  if (!late) {
    auto [got] = co_await me->stream->async_handshake(ssl::stream_base::server, quietly);
    ec = got;
  }
  if (!ec)
    co_return io_result<void>{};
  auto why = co_await explain(*this, io_failure::stage::tls, false, "the handshake failed", ec);
  co_return tl::unexpected{std::move(why)};
}

asio::awaitable<wire::moved> wire::read_some(asio::mutable_buffer to) {
  auto me = core_;
  auto late = co_await withdrawn();
  if (late || me->expired)
    co_return moved{asio::error::operation_aborted, 0};
  if (me->stream) {
    auto [ec, n] = co_await me->stream->async_read_some(to, quietly);
    co_return moved{ec, n};
  }
  auto [ec, n] = co_await me->socket.async_read_some(to, quietly);
  co_return moved{ec, n};
}

asio::awaitable<wire::moved> wire::write(asio::const_buffer from) {
  auto me = core_;
  auto all = moved{};
  while (all.n < from.size()) {
    auto late = co_await withdrawn();
    if (late || me->expired)
      co_return moved{asio::error::operation_aborted, all.n};
    const auto rest = from + all.n;
    if (me->stream) {
      auto [ec, n] = co_await me->stream->async_write_some(rest, quietly);
      all.ec = ec;
      all.n += ec && n == 0 ? 1 : n;
    } else {
      auto [ec, n] = co_await me->socket.async_write_some(rest, quietly);
      all.ec = ec;
      all.n += n;
    }
    if (all.ec)
      break;
  }
  co_return all;
}

bool wire::peer_closed(bool quiet) const {
  if (!core_->socket.is_open())
    return true;
  auto one = char{};
  const auto n = ::recv(core_->socket.native_handle(), &one, 1, MSG_PEEK | MSG_DONTWAIT);
  if (n < 0)
    return errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
  return n == 0 || quiet;
}

asio::awaitable<io_failure> explain(const wire& on, io_failure::stage at, bool sent, std::string what, error_code ec) {
  auto late = co_await withdrawn();
  if (late)
    co_return io_failure{io_failure::stage::cancelled, sent, "withdrawn by the caller"};
  if (on.expired())
    co_return io_failure{io_failure::stage::timeout, sent, "out of time"};
  co_return io_failure{at, sent, what + ": " + ec.message()};
}

} // namespace paddock
