#include "tests/support/fault_proxy.hpp"

#include "base/flows/dial.hpp"
#include "base/flows/io_lane.hpp"
#include "base/flows/wire.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace paddock::test {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr auto quietly = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t largest_head = 64 * 1024;
constexpr std::string_view end_of_head = "\r\n\r\n";

/// One side of a connection, plain or TLS. One read and one write may be under way at once.
class leg {
public:
  leg(tcp::socket socket, tls_context with) : socket_(std::move(socket)), context_(std::move(with)) {
    auto ignored = error_code{};
    socket_.set_option(tcp::no_delay{true}, ignored);
    if (context_)
      tls_.emplace(socket_, *context_);
  }
  asio::awaitable<bool> shake_hands(asio::ssl::stream_base::handshake_type as) {
    if (!tls_)
      co_return true;
    auto [ec] = co_await tls_->async_handshake(as, quietly);
    co_return !ec;
  }
  /// 0: it has ended.
  asio::awaitable<std::size_t> read(asio::mutable_buffer to) {
    if (tls_) {
      auto [ec, n] = co_await tls_->async_read_some(to, quietly);
      co_return ec ? 0 : n;
    }
    auto [ec, n] = co_await socket_.async_read_some(to, quietly);
    co_return ec ? 0 : n;
  }
  asio::awaitable<bool> write(std::string bytes) {
    if (tls_) {
      auto [ec, n] = co_await asio::async_write(*tls_, asio::buffer(bytes), quietly);
      co_return !ec;
    }
    auto [ec, n] = co_await asio::async_write(socket_, asio::buffer(bytes), quietly);
    co_return !ec;
  }
  void close(bool reset = false) {
    auto ignored = error_code{};
    if (reset)
      socket_.set_option(asio::socket_base::linger{true, 0}, ignored);
    socket_.close(ignored);
  }

private:
  tcp::socket socket_;
  tls_context context_; // outlives the stream
  std::optional<asio::ssl::stream<tcp::socket&>> tls_;
};

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char x) { return x >= 'A' && x <= 'Z' ? static_cast<char>(x + 32) : x; });
  return text;
}

/// How long the body after `head` is; nothing when it is no plain request.
std::optional<std::size_t> body_size(const std::string& head) {
  const auto text = lower(head);
  if (text.find("\r\ntransfer-encoding:") != std::string::npos || text.find("\r\nupgrade:") != std::string::npos)
    return std::nullopt;
  const auto at = text.find("\r\ncontent-length:");
  return at == std::string::npos ? 0 : std::stoul(text.substr(at + 17));
}

struct proxy_state {
  explicit proxy_state(fault_proxy_options x) : how(std::move(x)) {
  }

  mishap next(const std::string& line) {
    auto lock = std::lock_guard{guard};
    seen.push_back(line.substr(0, line.rfind(' ')));
    for (auto& x : how.steps)
      if (x.times != 0 && line.starts_with(x.match)) {
        --x.times;
        return x.what;
      }
    return {};
  }
  void count_closed() {
    {
      auto lock = std::lock_guard{guard};
      ++closed;
    }
    changed.notify_all();
  }

  fault_proxy_options how; // its steps under `guard`
  tls_context front;
  tls_context back;
  std::uint16_t port = 0;
  std::mutex guard; // of what follows
  std::condition_variable changed;
  std::vector<std::string> seen;
  std::size_t accepted = 0;
  std::size_t closed = 0;
  io_lane lane; // ends before what its coroutines use
};

/// One client connection and the server connection behind it.
struct passage {
  passage(proxy_state* x, tcp::socket socket) : of(x), client(std::move(socket), x->front) {
  }

  proxy_state* of;
  leg client;
  std::optional<leg> server;
  std::string unread; // of the client, read and not taken yet
  bool raw = false;   // what the client sends is no plain request any more
  mishap now;         // of the latest request
  std::size_t answered = 0;
  bool ended = false;

  void end(bool reset) {
    ended = true;
    client.close(reset);
    if (server)
      server->close();
  }
};

using passage_ptr = std::shared_ptr<passage>;

/// Hands `bytes` of an answer on, up to where the mishap cuts it. False: nothing more is to be handed on.
asio::awaitable<bool> hand_on_until_cut(passage_ptr it, std::string bytes) {
  const auto now = it->now;
  const auto size = bytes.size();
  bytes.resize(std::min(size, now.after - std::min(now.after, it->answered)));
  it->answered += size;
  const auto good = co_await it->client.write(std::move(bytes));
  const auto cut = it->answered > now.after;
  if (!good || (cut && now.what == mishap::kind::lose_answer))
    it->end(now.reset);
  co_return good && !cut; // a stalled client is still seen to go, by the other side
}

asio::awaitable<bool> drip(passage_ptr it, std::string bytes) {
  const auto now = it->now;
  auto lane = co_await asio::this_coro::executor;
  auto good = true;
  for (auto at = std::size_t{0}; good && at < bytes.size(); at += std::max<std::size_t>(now.piece, 1)) {
    auto part = bytes.substr(at, std::max<std::size_t>(now.piece, 1));
    good = co_await it->client.write(std::move(part));
    auto bell = asio::steady_timer{lane, now.gap};
    [[maybe_unused]] auto [rung] = co_await bell.async_wait(quietly);
  }
  co_return good;
}

/// Hands the server's bytes to the client, as far as the mishap lets it.
asio::awaitable<void> answer_side(passage_ptr it) {
  auto room = std::array<char, 16 * 1024>{};
  auto good = true;
  while (good) {
    const auto n = co_await it->server->read(asio::buffer(room));
    if (n == 0)
      break;
    auto bytes = std::string{room.data(), n};
    if (it->now.what == mishap::kind::lose_answer || it->now.what == mishap::kind::stall_answer) {
      const auto more = co_await hand_on_until_cut(it, std::move(bytes));
      if (!more)
        co_return;
    } else if (it->now.what == mishap::kind::drip)
      good = co_await drip(it, std::move(bytes));
    else
      good = co_await it->client.write(std::move(bytes));
  }
  it->end(false);
}

/// Connects to the server unless it is connected.
asio::awaitable<bool> reach(passage_ptr it) {
  if (it->server)
    co_return true;
  const auto& to = it->of->how.server;
  const auto until = deadline{std::chrono::steady_clock::now() + std::chrono::seconds{10}};
  auto socket = co_await dial(to.host, to.port, until);
  if (!socket || it->ended)
    co_return false;
  it->server.emplace(std::move(*socket), it->of->back);
  const auto good = co_await it->server->shake_hands(asio::ssl::stream_base::client);
  if (!good)
    co_return false;
  asio::co_spawn(it->of->lane.context(), answer_side(it), asio::detached);
  co_return true;
}

/// Reads more of the client. False: it has gone.
asio::awaitable<bool> more(passage_ptr it) {
  auto room = std::array<char, 16 * 1024>{};
  const auto n = co_await it->client.read(asio::buffer(room));
  it->unread.append(room.data(), n);
  co_return n != 0;
}

/// A whole request, or more of one that is not plain.
struct piece {
  std::string bytes;
  bool begins = true;
};

/// What the client sends next; nothing when it has gone.
asio::awaitable<std::optional<piece>> next_piece(passage_ptr it) {
  auto& text = it->unread;
  auto alive = true;
  if (it->raw) {
    if (text.empty())
      alive = co_await more(it);
    if (!alive)
      co_return std::nullopt;
    co_return piece{std::exchange(text, {}), false};
  }
  while (alive && text.find(end_of_head) == std::string::npos && text.size() < largest_head)
    alive = co_await more(it);
  const auto head = text.find(end_of_head);
  if (!alive || head == std::string::npos)
    co_return std::nullopt;
  const auto body = body_size(text.substr(0, head + 2));
  it->raw = !body;
  const auto whole = head + end_of_head.size() + body.value_or(0);
  while (alive && text.size() < whole)
    alive = co_await more(it);
  if (!alive)
    co_return std::nullopt;
  auto got = piece{text.substr(0, whole)};
  text.erase(0, whole);
  co_return got;
}

asio::awaitable<bool> forward(passage_ptr it, std::string bytes) {
  auto alive = co_await reach(it);
  if (alive)
    alive = co_await it->server->write(std::move(bytes));
  co_return alive;
}

/// Takes the client's requests one after another, until it has gone or a mishap ends the connection.
asio::awaitable<void> request_side(passage_ptr it) {
  auto alive = true;
  while (alive) {
    auto got = co_await next_piece(it);
    if (!got)
      break;
    if (got->begins) {
      it->now = it->of->next(got->bytes.substr(0, got->bytes.find("\r\n")));
      it->answered = 0;
    }
    if (it->now.what == mishap::kind::lose_request)
      co_return it->end(it->now.reset);
    if (it->now.what == mishap::kind::stall_request) {
      while (alive) { // only to see the client go
        it->unread.clear();
        alive = co_await more(it);
      }
    } else if (it->now.what == mishap::kind::answer)
      alive = co_await it->client.write(it->now.text);
    else
      alive = co_await forward(it, std::move(got->bytes));
  }
  it->end(false);
}

asio::awaitable<void> serve(passage_ptr it) {
  const auto shaken = co_await it->client.shake_hands(asio::ssl::stream_base::server);
  if (shaken)
    co_await request_side(it);
  it->client.close();
  it->of->count_closed();
}

asio::awaitable<void> listen(proxy_state* me, tcp::acceptor acceptor) {
  for (;;) {
    auto [ec, peer] = co_await acceptor.async_accept(quietly);
    if (ec)
      co_return;
    {
      auto lock = std::lock_guard{me->guard};
      ++me->accepted;
    }
    asio::co_spawn(me->lane.context(), serve(std::make_shared<passage>(me, std::move(peer))), asio::detached);
  }
}

tls_context required(io_result<tls_context> made) {
  if (!made)
    throw std::runtime_error{"the fault proxy: " + to_string(made.error())};
  return std::move(*made);
}

} // namespace

struct fault_proxy::state : proxy_state {
  using proxy_state::proxy_state;
};

fault_proxy::fault_proxy(fault_proxy_options how) : state_(std::make_shared<state>(std::move(how))) {
  if (state_->how.identity)
    state_->front = required(server_tls(state_->how.identity->certificate, state_->how.identity->key));
  if (state_->how.server.tls)
    state_->back = required(client_tls(state_->how.server));
  // The coroutine owns the acceptor, so that it goes with the lane and not while the lane still uses it.
  tcp::acceptor acceptor{state_->lane.context(), tcp::endpoint{asio::ip::address_v4::loopback(), 0}};
  state_->port = acceptor.local_endpoint().port();
  asio::co_spawn(state_->lane.context(), listen(static_cast<proxy_state*>(state_.get()), std::move(acceptor)), asio::detached);
}

fault_proxy::~fault_proxy() = default;

std::uint16_t fault_proxy::port() const {
  return state_->port;
}

void fault_proxy::add(proxy_step step) {
  auto lock = std::lock_guard{state_->guard};
  state_->how.steps.push_back(std::move(step));
}

std::vector<std::string> fault_proxy::requests() const {
  auto lock = std::lock_guard{state_->guard};
  return state_->seen;
}

std::size_t fault_proxy::connections() const {
  auto lock = std::lock_guard{state_->guard};
  return state_->accepted;
}

bool fault_proxy::wait_for_closed(std::size_t n, std::chrono::seconds bound) const {
  auto lock = std::unique_lock{state_->guard};
  return state_->changed.wait_for(lock, bound, [&] { return state_->closed >= n; });
}

} // namespace paddock::test
