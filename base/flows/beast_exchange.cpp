#include "base/bracketed.hpp"
#include "base/flows/beast_body.hpp"
#include "base/flows/dial.hpp"
#include "base/flows/http_pool.hpp"
#include "base/flows/http_tunnel.hpp"
#include "base/flows/unthrown.hpp"

#include <boost/asio/this_coro.hpp>

#include <list>
#include <mutex>

namespace paddock {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

namespace {

constexpr std::size_t most_contexts = 16;
constexpr std::size_t piece = 64 * 1024;

/// What one attempt needs besides the connection.
struct order {
  http_server_address where;
  http_request what;
  http_limits bound;
  std::function<bool(std::string_view)> on_body; // empty: the body is kept
  std::optional<time_source::clock::duration> idle;
  std::chrono::steady_clock::time_point until;

  [[nodiscard]] std::chrono::steady_clock::time_point next_bound() const {
    return idle ? std::min(until, std::chrono::steady_clock::now() + *idle) : until;
  }
};

struct outcome {
  io_result<http_response> got;
  bool any = false;  // some byte of an answer arrived
  bool keep = false; // the connection may serve another request
};

std::string host_header(const http_server_address& where) {
  const auto bare = bracketed(where.host);
  return where.port == (where.tls ? 443 : 80) ? bare : bare + ":" + std::to_string(where.port);
}

/// The request up to its body, or nothing when some text of it would break out of its line.
std::optional<std::string> head_of(const http_server_address& where, const http_request& what) {
  if (what.method.find_first_of(" \t") != std::string::npos || what.target.find_first_of(" \t") != std::string::npos || what.target.empty()
      || what.method.empty() || !one_line(what.method) || !one_line(what.target) || !one_line(where.host))
    return std::nullopt;
  auto text = what.method + " " + what.target + " HTTP/1.1\r\n";
  if (!has_header(what.headers, "Host"))
    text += "Host: " + host_header(where) + "\r\n";
  for (const auto& [name, value] : what.headers) {
    if (name.empty() || name.find_first_of(": \t") != std::string::npos || !one_line(name) || !one_line(value))
      return std::nullopt;
    text += name + ": " + value + "\r\n";
  }
  const auto needs = what.method == "POST" || what.method == "PUT" || what.method == "PATCH";
  if ((needs || !what.body.empty()) && !has_header(what.headers, "Content-Length"))
    text += "Content-Length: " + std::to_string(what.body.size()) + "\r\n";
  return text + "\r\n";
}

asio::awaitable<io_result<http_response>> read_answer(wire& on, order& it, asio::any_io_executor lane, bool& any, bool& keep) {
  auto buffer = boost::beast::flat_buffer{};
  for (;;) {
    auto parser = http::response_parser<piece_body>{};
    parser.header_limit(static_cast<std::uint32_t>(std::min<std::size_t>(it.bound.header, UINT32_MAX)));
    parser.body_limit(boost::none);
    parser.skip(it.what.method == "HEAD");
    auto& body = parser.get().body();
    body.bound = it.bound.body;
    body.on = it.on_body;
    auto ec = error_code{};
    auto stage = io_failure::stage::protocol;
    while (feed(parser, buffer, it.bound.header + piece, ec) && !body.stopped) {
      if (ec)
        break;
      on.bound(lane, it.next_bound());
      auto room = buffer.prepare(buffer.capacity() == 0 ? 16 * 1024 : piece);
      auto moved = co_await on.read_some(room);
      if (moved.ec == asio::error::eof && parser.got_some()) {
        parser.put_eof(ec);
        if (ec)
          stage = io_failure::stage::receive;
        break;
      }
      if (moved.ec) {
        ec = moved.ec;
        stage = io_failure::stage::receive;
        break;
      }
      any = true;
      buffer.commit(moved.n);
    }
    if (body.stopped)
      ec = {};
    if (ec) {
      if (is_limit(ec))
        stage = io_failure::stage::too_large;
      auto why = co_await explain(on, stage, true, "reading the answer of " + host_header(it.where), ec);
      co_return tl::unexpected{std::move(why)};
    }
    auto& message = parser.get();
    if (message.result_int() / 100 == 1 && message.result_int() != 101)
      continue;
    keep = !body.stopped && parser.is_done() && parser.keep_alive() && buffer.size() == 0 && message.result_int() != 101;
    co_return http_response{message.result_int(), headers_of(message), std::move(body.whole)};
  }
}

asio::awaitable<outcome> converse(wire& on, order& it, asio::any_io_executor lane) {
  auto end = outcome{};
  auto head = head_of(it.where, it.what);
  if (!head) {
    end.got = tl::unexpected{io_failure{io_failure::stage::protocol, false, "the request has a line break or a blank where none may be"}};
    co_return end;
  }
  const auto joined = it.what.body.size() <= piece;
  if (joined)
    *head += it.what.body;
  on.bound(lane, it.until);
  auto moved = co_await on.write(asio::buffer(*head));
  auto sent = moved.n != 0;
  if (!moved.ec && !joined)
    moved = co_await on.write(asio::buffer(it.what.body));
  if (moved.ec) {
    auto why = co_await explain(on, io_failure::stage::send, sent, "sending to " + host_header(it.where), moved.ec);
    end.got = tl::unexpected{std::move(why)};
    co_return end;
  }
  end.got = co_await read_answer(on, it, lane, end.any, end.keep);
  co_return end;
}

class beast_exchange final : public http_exchange {
public:
  beast_exchange(const time_source& time, http_pool_limits limits) : time_(time), kept_(limits) {
  }

  asio::awaitable<io_result<http_response>> send(http_server_address where, http_request what, http_limits bound, deadline until) override {
    return unthrown(exchange(order{std::move(where), std::move(what), bound, nullptr, std::nullopt, real(until)}));
  }

  asio::awaitable<io_result<http_response>> stream(http_server_address where, http_request what, http_limits bound,
                                                   std::function<bool(std::string_view)> on_body, time_source::clock::duration idle,
                                                   deadline until) override {
    return unthrown(exchange(order{std::move(where), std::move(what), bound, std::move(on_body), idle, real(until)}));
  }

private:
  /// The timers run on the machine's clock, whatever the time source is.
  std::chrono::steady_clock::time_point real(deadline until) const {
    const auto left = std::min<time_source::clock::duration>(until.left(time_), std::chrono::hours{24 * 365});
    return std::chrono::steady_clock::now() + left;
  }

  asio::awaitable<io_result<http_response>> exchange(order it) {
    auto lane = co_await asio::this_coro::executor;
    auto late = co_await withdrawn();
    if (late)
      co_return tl::unexpected{io_failure{io_failure::stage::cancelled, false, "withdrawn by the caller"}};
    if (std::chrono::steady_clock::now() >= it.until)
      co_return tl::unexpected{io_failure{io_failure::stage::timeout, false, "out of time"}};
    auto on = kept_.take(it.where, lane);
    auto again = false;
    if (on) {
      auto end = co_await converse(*on, it, lane);
      const auto lost =
        !end.got && !end.any && (end.got.error().at == io_failure::stage::receive || end.got.error().at == io_failure::stage::send);
      again = lost && it.what.method == "GET";
      if (!again) {
        if (end.got && end.keep)
          kept_.keep(it.where, lane, std::move(on));
        co_return std::move(end.got);
      }
    }
    auto fresh = co_await open(it, lane);
    if (!fresh) {
      fresh.error().sent = fresh.error().sent || again;
      co_return tl::unexpected{std::move(fresh.error())};
    }
    auto end = co_await converse(**fresh, it, lane);
    if (end.got && end.keep)
      kept_.keep(it.where, lane, std::move(*fresh));
    if (!end.got)
      end.got.error().sent = end.got.error().sent || again;
    co_return std::move(end.got);
  }

  asio::awaitable<io_result<std::unique_ptr<wire>>> open(order& it, asio::any_io_executor lane) {
    auto with = tls_context{};
    if (it.where.tls) {
      auto made = context_for(it.where);
      if (!made)
        co_return tl::unexpected{std::move(made.error())};
      with = std::move(*made);
    }
    const auto proxy = it.where.proxy;
    const auto host = proxy ? proxy->host : it.where.host;
    const auto port = proxy ? proxy->port : it.where.port;
    auto socket = co_await dial(host, port, deadline{it.until});
    if (!socket)
      co_return tl::unexpected{std::move(socket.error())};
    auto on = std::make_unique<wire>(std::move(*socket));
    on->bound(lane, it.until);
    if (proxy) {
      auto open = co_await open_tunnel(*on, *proxy, it.where);
      if (!open)
        co_return tl::unexpected{std::move(open.error())};
    }
    if (it.where.tls) {
      const auto name = it.where.server_name.empty() ? it.where.host : it.where.server_name;
      auto shaken = co_await on->connect_tls(with, name, it.where.insecure);
      if (!shaken)
        co_return tl::unexpected{std::move(shaken.error())};
    }
    co_return std::move(on);
  }

  io_result<tls_context> context_for(const http_server_address& where) {
    auto lock = std::lock_guard{guard_};
    for (const auto& [to, context] : contexts_)
      if (to == where)
        return context;
    auto made = client_tls(where);
    if (made) {
      contexts_.emplace_front(where, *made);
      if (contexts_.size() > most_contexts)
        contexts_.pop_back();
    }
    return made;
  }

  const time_source& time_;
  http_pool kept_;
  std::mutex guard_; // of what follows
  std::list<std::pair<http_server_address, tls_context>> contexts_;
};

} // namespace

std::unique_ptr<http_exchange> make_http_exchange(const time_source& time, http_pool_limits kept) {
  return std::make_unique<beast_exchange>(time, kept);
}

} // namespace paddock
