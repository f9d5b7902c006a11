#include "base/bracketed.hpp"
#include "base/flows/beast_body.hpp"
#include "base/flows/flow_group.hpp"
#include "base/flows/http_request_reader.hpp"
#include "base/flows/http_server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/status.hpp>

#include <atomic>

namespace paddock {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr auto quietly = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t piece = 64 * 1024;

/// What the connections of one server share. Outlives the server object while connections end.
struct shared {
  shared(asio::any_io_executor lane, http_server_options from, http_handler to) :
    options(std::move(from)), handler(std::move(to)), acceptor(lane), flows(std::move(lane)) {
  }
  http_server_options options;
  http_handler handler;
  tls_context tls;
  tcp::acceptor acceptor;
  flow_group flows;
  std::size_t open = 0; // connections; on the strand of the flows

  [[nodiscard]] std::chrono::steady_clock::time_point idle_bound() const {
    return std::chrono::steady_clock::now() + options.idle;
  }
};

std::string status_line(unsigned status) {
  const auto reason = http::obsolete_reason(http::int_to_status(status));
  return "HTTP/1.1 " + std::to_string(status) + " " + std::string{reason} + "\r\n";
}

std::string header_lines(const http_headers& all) {
  auto text = std::string{};
  for (const auto& [name, value] : all)
    if (one_line(name) && one_line(value))
      text += name + ": " + value + "\r\n";
  return text;
}

bool bodiless(unsigned status) {
  return status / 100 == 1 || status == 204 || status == 304;
}

class responder final : public http_responder {
public:
  responder(wire& on, asio::any_io_executor lane, const shared& of, bool head_only, bool keep, bool old) :
    on_(on), lane_(std::move(lane)), of_(of), head_only_(head_only), keep_(keep), old_(old) {
  }

  asio::awaitable<io_result<void>> send(http_response what) override {
    begun_ = ended_ = true;
    auto text = status_line(what.status) + header_lines(what.headers);
    if (!bodiless(what.status) && !has_header(what.headers, "Content-Length"))
      text += "Content-Length: " + std::to_string(what.body.size()) + "\r\n";
    text += connection_line() + "\r\n";
    const auto body = !head_only_ && !bodiless(what.status);
    if (!body || what.body.size() > piece) {
      auto ok = co_await put(std::move(text));
      if (!ok || !body)
        co_return ok;
      co_return co_await put(std::move(what.body));
    }
    text += what.body;
    co_return co_await put(std::move(text));
  }

  asio::awaitable<io_result<void>> begin(unsigned status, http_headers headers) override {
    begun_ = true;
    auto text = status_line(status) + header_lines(headers);
    if (old_)
      keep_ = false;
    else
      text += "Transfer-Encoding: chunked\r\n";
    text += connection_line() + "\r\n";
    co_return co_await put(std::move(text));
  }

  asio::awaitable<io_result<void>> chunk(std::string bytes) override {
    if (bytes.empty() || head_only_) // an empty chunk would end the answer
      co_return co_await put({});
    if (old_)
      co_return co_await put(std::move(bytes));
    auto size = std::array<char, 32>{};
    std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
    bytes.insert(0, size.data());
    bytes += "\r\n";
    co_return co_await put(std::move(bytes));
  }

  asio::awaitable<io_result<void>> end() override {
    ended_ = true;
    if (old_ || head_only_)
      co_return co_await put({});
    co_return co_await put("0\r\n\r\n");
  }

  std::optional<tls_peer> peer() const override {
    return on_.peer();
  }

  void abort() override {
    broken_ = true;
    on_.close();
  }

  [[nodiscard]] bool begun() const {
    return begun_;
  }
  /// Whether the connection can take another request.
  [[nodiscard]] bool reusable() const {
    return keep_ && ended_ && !broken_;
  }
  [[nodiscard]] bool broken() const {
    return broken_;
  }

private:
  [[nodiscard]] std::string connection_line() const {
    return keep_ ? (old_ ? "Connection: keep-alive\r\n" : "") : "Connection: close\r\n";
  }

  asio::awaitable<io_result<void>> put(std::string bytes) {
    if (broken_ || peer_gone()) {
      broken_ = true;
      co_return tl::unexpected{io_failure{io_failure::stage::send, true, "the peer is gone"}};
    }
    if (bytes.empty())
      co_return io_result<void>{};
    on_.bound(lane_, of_.idle_bound());
    auto moved = co_await on_.write(asio::buffer(bytes));
    on_.rest();
    if (!moved.ec)
      co_return io_result<void>{};
    broken_ = true;
    auto why = co_await explain(on_, io_failure::stage::send, true, "sending an answer", moved.ec);
    co_return tl::unexpected{std::move(why)};
  }

  /// A peer that waits for an answer has nothing to say, but it may go: a write alone learns that only the second time. Bytes that
  /// wait on a TLS connection are a goodbye, or the start of another request, which is more than is served here.
  [[nodiscard]] bool peer_gone() const {
    return on_.peer_closed(on_.tls());
  }

  wire& on_;
  asio::any_io_executor lane_;
  const shared& of_;
  bool head_only_;
  bool keep_;
  bool old_; // HTTP/1.0
  bool begun_ = false;
  bool ended_ = false;
  bool broken_ = false;
};

/// Refuses a request that could not be read, as far as the peer still listens.
asio::awaitable<void> refuse(wire& on, asio::any_io_executor lane, unsigned status) {
  const auto text = status_line(status) + "Content-Length: 0\r\nConnection: close\r\n\r\n";
  on.bound(lane, std::chrono::steady_clock::now() + std::chrono::seconds{1});
  auto moved = co_await on.write(asio::buffer(text));
  on.finish();
  // Closing with bytes unread would reset the connection and take the refusal with it.
  auto sink = std::string(piece, '\0');
  while (!moved.ec)
    moved = co_await on.read_some(asio::buffer(sink));
}

/// One request and its answer. False: the connection is over.
asio::awaitable<bool> turn(std::shared_ptr<shared> of, wire& on, http_request_reader& from, asio::any_io_executor lane) {
  using progress = http_request_reader::progress;
  auto at = from.read();
  while (at == progress::more) {
    if (from.invites()) {
      const auto text = std::string{"HTTP/1.1 100 Continue\r\n\r\n"};
      auto told = co_await on.write(asio::buffer(text));
      if (told.ec)
        co_return false;
    }
    on.bound(lane, of->idle_bound());
    auto room = from.room();
    auto moved = co_await on.read_some(room);
    if (moved.ec)
      co_return false;
    from.arrived(moved.n);
    at = from.read();
  }
  on.rest();
  if (at == progress::refused) {
    co_await refuse(on, lane, from.refusal());
    co_return false;
  }
  auto [what, keep, old] = from.take();
  auto to = responder{on, lane, *of, what.method == "HEAD", keep, old};
  co_await of->handler(std::move(what), to);
  if (!to.begun() && !to.broken()) {
    auto answer = http_response{};
    answer.status = 500;
    auto told = co_await to.send(std::move(answer));
    if (!told)
      co_return false;
  }
  co_return to.reusable();
}

asio::awaitable<void> serve(std::shared_ptr<shared> of, tcp::socket socket) {
  auto lane = co_await asio::this_coro::executor;
  auto on = wire{std::move(socket)};
  auto fine = true;
  if (of->tls) {
    on.bound(lane, std::chrono::steady_clock::now() + std::min<std::chrono::milliseconds>(of->options.idle, std::chrono::seconds{10}));
    auto shaken = co_await on.accept_tls(of->tls);
    on.unbound();
    fine = shaken.has_value();
  }
  auto from = http_request_reader{of->options.bound};
  while (fine) {
    fine = co_await turn(of, on, from, lane);
    auto late = co_await withdrawn();
    fine = fine && !late;
  }
  --of->open;
}

asio::awaitable<void> listen(std::shared_ptr<shared> of) {
  auto lane = co_await asio::this_coro::executor;
  for (;;) {
    auto late = co_await withdrawn();
    if (late || !of->acceptor.is_open())
      break;
    auto [ec, socket] = co_await of->acceptor.async_accept(lane, quietly);
    if (ec == asio::error::operation_aborted || ec == asio::error::bad_descriptor)
      break;
    if (ec) { // out of descriptors: the next attempt waits for some
      auto pause = asio::steady_timer{lane, std::chrono::milliseconds{100}};
      [[maybe_unused]] auto [woken] = co_await pause.async_wait(quietly);
      continue;
    }
    if (of->open >= of->options.connections)
      continue; // the socket closes
    ++of->open;
    auto held = std::make_shared<tcp::socket>(std::move(socket));
    if (of->flows.start([of, held] { return serve(of, std::move(*held)); }) == 0)
      --of->open;
  }
  auto ignored = error_code{};
  of->acceptor.close(ignored);
}

class beast_server final : public http_server {
public:
  beast_server(std::shared_ptr<shared> of, std::uint16_t port) : of_(std::move(of)), port_(port) {
  }
  ~beast_server() override {
    close(nullptr);
  }
  std::uint16_t port() const override {
    return port_;
  }
  void close(std::function<void()> closed) override {
    of_->flows.close(std::move(closed));
  }

private:
  std::shared_ptr<shared> of_;
  std::uint16_t port_;
};

} // namespace

io_result<std::unique_ptr<http_server>> make_http_server(asio::any_io_executor lane, http_server_options options, http_handler handler) {
  const auto where = bracketed(options.address) + ":" + std::to_string(options.port);
  auto of = std::make_shared<shared>(std::move(lane), std::move(options), std::move(handler));
  if (!of->options.certificate.empty() || !of->options.key.empty()) {
    auto made = server_tls(of->options.certificate, of->options.key, of->options.client_authority);
    if (!made)
      return tl::unexpected{std::move(made.error())};
    of->tls = std::move(*made);
  }
  auto ec = error_code{};
  const auto address = asio::ip::make_address(of->options.address, ec);
  const auto at = tcp::endpoint{address, of->options.port};
  if (!ec)
    of->acceptor.open(at.protocol(), ec);
  if (!ec)
    of->acceptor.set_option(tcp::acceptor::reuse_address{true}, ec);
  if (!ec)
    of->acceptor.bind(at, ec);
  if (!ec)
    of->acceptor.listen(asio::socket_base::max_listen_connections, ec);
  auto bound = tcp::endpoint{};
  if (!ec)
    bound = of->acceptor.local_endpoint(ec);
  if (ec)
    return tl::unexpected{io_failure{io_failure::stage::connect, false, "cannot listen on " + where + ": " + ec.message()}};
  of->flows.start([of] { return listen(of); });
  return std::make_unique<beast_server>(of, bound.port());
}

} // namespace paddock
