#define CAF_SUITE http_server

#include "base/flows/dial.hpp"
#include "base/flows/http_server.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/run_flow.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

using got_response = io_result<http_response>;

/// What the handlers of a test did and saw.
struct seen {
  std::vector<http_request> requests;
  std::optional<io_failure> failure; // of a streaming handler's chunk
  int chunks = 0;
  int ended = 0;
  bool cancelled = false;
};

asio::awaitable<void> answer(std::shared_ptr<seen> in, http_request what, http_responder& to) {
  in->requests.push_back(what);
  if (what.target == "/abort") {
    to.abort();
  } else if (what.target == "/silent") {
    ++in->ended;
  } else if (what.target == "/three") {
    auto kind = http_headers{};
    kind.emplace_back("X-Kind", "pieces");
    auto begun = co_await to.begin(200, std::move(kind));
    auto pieces = std::vector<std::string>{};
    pieces = {"one", "", "two", "three"};
    for (auto piece : pieces) {
      auto ok = co_await to.chunk(piece);
      if (!begun || !ok)
        co_return;
    }
    co_await to.end();
  } else if (what.target == "/forever") {
    auto lane = co_await asio::this_coro::executor;
    auto pause = asio::steady_timer{lane};
    auto none = http_headers{};
    auto ok = co_await to.begin(200, std::move(none));
    while (ok) {
      ++in->chunks;
      ok = co_await to.chunk("x");
      pause.expires_after(1ms);
      auto [ec] = co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
      if (ec)
        break;
    }
    if (!ok)
      in->failure = ok.error();
    ++in->ended;
  } else if (what.target == "/late") {
    auto none = http_headers{};
    auto begun = co_await to.begin(200, std::move(none));
    auto pause = asio::steady_timer{co_await asio::this_coro::executor};
    for (auto piece : {"early", "late"}) {
      auto ok = co_await to.chunk(piece);
      if (!begun || !ok)
        co_return;
      pause.expires_after(150ms);
      [[maybe_unused]] auto [woken] = co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    co_await to.end();
  } else if (what.target == "/hang") {
    auto lane = co_await asio::this_coro::executor;
    auto bell = asio::steady_timer{lane, asio::steady_timer::time_point::max()};
    auto [ec] = co_await bell.async_wait(asio::as_tuple(asio::use_awaitable));
    in->cancelled = ec == asio::error::operation_aborted;
    ++in->ended;
  } else {
    auto all = http_response{};
    all.status = 200;
    all.headers.emplace_back("Content-Type", "text/plain");
    all.body = what.method + " " + what.target + " " + what.body;
    co_await to.send(std::move(all));
  }
}

struct pair {
  asio::io_context on;
  real_flow_time time;
  std::shared_ptr<seen> in = std::make_shared<seen>();
  std::unique_ptr<http_exchange> exchange = make_http_exchange(time);
  std::unique_ptr<http_server> server;
  http_server_address where;

  explicit pair(http_server_options options = {}) {
    auto made = make_http_server(on.get_executor(), std::move(options),
                                 [in = in](http_request what, http_responder& to) { return answer(in, std::move(what), to); });
    REQUIRE(made);
    server = std::move(*made);
    where.host = "127.0.0.1";
    where.port = server->port();
  }
  got_response send(http_request what, std::chrono::milliseconds bound = 10s) {
    return run_flow(on, exchange->send(where, std::move(what), {}, deadline{time, bound}));
  }
  std::string stage(http_request what, std::chrono::milliseconds bound = 10s) {
    auto got = send(std::move(what), bound);
    return got ? "none" : to_string(got.error().at);
  }
};

/// Sends bytes and reads until the peer closes.
asio::awaitable<std::string> talk(std::uint16_t port, std::string bytes) {
  auto socket = co_await dial("127.0.0.1", port, deadline{std::chrono::steady_clock::now() + 10s});
  if (!socket)
    co_return "no connection";
  [[maybe_unused]] auto [sent, size] = co_await asio::async_write(*socket, asio::buffer(bytes), asio::as_tuple(asio::use_awaitable));
  auto all = std::string{};
  auto room = std::string(4096, '\0');
  for (;;) {
    auto [ec, n] = co_await socket->async_read_some(asio::buffer(room), asio::as_tuple(asio::use_awaitable));
    all.append(room, 0, n);
    if (ec)
      co_return all;
  }
}

} // namespace

SCENARIO("requests and answers pass whole, over one connection") {
  pair it;
  auto got = it.send({"PUT", "/x?y=z", {{"X-A", "b"}}, std::string(300'000, 'p')});
  REQUIRE(got);
  CHECK_EQ(got->body, "PUT /x?y=z " + std::string(300'000, 'p'));
  REQUIRE_EQ(it.in->requests.size(), 1u);
  CHECK_EQ(header(it.in->requests[0].headers, "x-a").value_or(""), "b");
  auto pieces = it.send({"GET", "/three", {}, ""});
  REQUIRE(pieces);
  CHECK_EQ(pieces->body, "onetwothree");
  CHECK_EQ(header(pieces->headers, "x-kind").value_or(""), "pieces");
  auto head = it.send({"HEAD", "/h", {}, ""});
  REQUIRE(head);
  CHECK_EQ(head->body, "");
  CHECK_EQ(it.stage({"GET", "/", {}, ""}), "none");
}

SCENARIO("a handler that answers nothing gives a 500, and one that aborts gives no answer") {
  pair it;
  auto silent = it.send({"GET", "/silent", {}, ""});
  REQUIRE(silent);
  CHECK_EQ(silent->status, 500u);
  CHECK_EQ(it.stage({"POST", "/abort", {}, ""}), "receive");
}

SCENARIO("a peer that goes away fails the next chunk") {
  for (const auto tls : {false, true}) {
    test_authority authority{"ours"};
    auto options = http_server_options{};
    if (tls) {
      auto own = authority.issue("IP:127.0.0.1");
      options.certificate = own.certificate;
      options.key = own.key;
    }
    pair it{options};
    it.where.tls = tls;
    it.where.ca = authority.certificate();
    auto got =
      run_flow(it.on, it.exchange->stream(
                        it.where, {"GET", "/forever", {}, ""}, {}, [](std::string_view) { return false; }, 10s, deadline{it.time, 10s}));
    CHECK(got);
    run_until(it.on, [&] { return it.in->ended == 1; });
    CHECK(it.in->failure);
  }
}

SCENARIO("closing ends the handlers first, and then nobody listens") {
  pair it;
  auto flow = start_flow(it.on, it.exchange->send(it.where, {"GET", "/hang", {}, ""}, {}, deadline{it.time, 10s}));
  run_until(it.on, [&] { return !it.in->requests.empty(); });
  auto closed = 0;
  it.server->close([&] {
    ++closed;
    CHECK_EQ(it.in->ended, 1);
  });
  run_until(it.on, [&] { return closed == 1 && flow.done(); });
  CHECK(it.in->cancelled);
  CHECK(!flow.get());
  CHECK_EQ(it.stage({"GET", "/", {}, ""}), "connect");
}

SCENARIO("a port that is taken is named with its address") {
  pair it;
  auto options = http_server_options{};
  options.port = it.server->port();
  auto second = make_http_server(it.on.get_executor(), options,
                                 [in = it.in](http_request what, http_responder& to) { return answer(in, std::move(what), to); });
  REQUIRE(!second);
  CHECK_NE(second.error().text.find("127.0.0.1:" + std::to_string(options.port)), std::string::npos);
}

SCENARIO("requests beyond a bound or beyond the protocol are refused and the connection ends") {
  auto options = http_server_options{};
  options.bound = {512, 16};
  options.idle = 300ms; // ends the last conversation
  pair it{options};
  auto status = [&](std::string bytes) { return run_flow(it.on, talk(it.server->port(), std::move(bytes))).substr(0, 12); };
  CHECK_EQ(status("POST / HTTP/1.1\r\nContent-Length: 17\r\n\r\n12345678901234567"), "HTTP/1.1 413");
  CHECK_EQ(status("GET / HTTP/1.1\r\nX: " + std::string(600, 'x') + "\r\n\r\n"), "HTTP/1.1 431");
  CHECK_EQ(status("hello there\r\n\r\n"), "HTTP/1.1 400");
  CHECK(it.in->requests.empty());
  CHECK_EQ(status("POST / HTTP/1.1\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"), "HTTP/1.1 100");
}

SCENARIO("a connection without a request is closed when idle for too long") {
  auto options = http_server_options{};
  options.idle = 50ms;
  pair it{options};
  CHECK_EQ(run_flow(it.on, talk(it.server->port(), "GET / HT")), "");
}

SCENARIO("a handler may take longer than a connection may be idle, which then still counts") {
  auto options = http_server_options{};
  options.idle = 50ms;
  pair it{options};
  const auto got = run_flow(it.on, talk(it.server->port(), "GET /late HTTP/1.1\r\n\r\n"));
  CHECK_NE(got.find("early"), std::string::npos);
  CHECK_NE(got.find("late"), std::string::npos);
  CHECK(got.ends_with("0\r\n\r\n"));
}

SCENARIO("connections beyond the bound are closed at accept") {
  auto options = http_server_options{};
  options.connections = 1;
  pair it{options};
  REQUIRE_EQ(it.stage({"GET", "/", {}, ""}), "none"); // stays open, kept
  CHECK_EQ(run_flow(it.on, talk(it.server->port(), "GET / HTTP/1.1\r\n\r\n")), "");
  CHECK_EQ(it.stage({"GET", "/", {}, ""}), "none");
}

SCENARIO("a client believes a server only with a certificate of its authority for its name") {
  test_authority ours{"ours"};
  test_authority theirs{"theirs"};
  auto own = ours.issue("DNS:api.test,IP:127.0.0.1");
  auto options = http_server_options{};
  options.certificate = own.certificate;
  options.key = own.key;
  pair it{options};
  it.where.tls = true;
  it.where.ca = ours.certificate();
  CHECK_EQ(it.stage({"GET", "/", {}, ""}), "none"); // by its address
  it.where.server_name = "api.test";
  CHECK_EQ(it.stage({"GET", "/", {}, ""}), "none");
  it.where.server_name = "other.test";
  auto wrong = it.send({"GET", "/", {}, ""});
  REQUIRE(!wrong);
  CHECK_EQ(to_string(wrong.error().at), "tls");
  CHECK(!wrong.error().sent);
  it.where.server_name = "api.test";
  it.where.ca = theirs.certificate();
  CHECK_EQ(it.stage({"GET", "/", {}, ""}), "tls");
  it.where.ca = "";
  CHECK_EQ(it.stage({"GET", "/", {}, ""}), "tls");
  it.where.ca = "not a certificate";
  CHECK_EQ(it.stage({"GET", "/", {}, ""}), "tls");
  it.where.ca = "";
  it.where.insecure = true;
  CHECK_EQ(it.stage({"GET", "/", {}, ""}), "none");
  CHECK_EQ(it.in->requests.size(), 3u);
}

SCENARIO("a TLS server that is spoken to in plain HTTP closes, and the other way round fails") {
  test_authority ours{"ours"};
  auto own = ours.issue("IP:127.0.0.1");
  auto options = http_server_options{};
  options.certificate = own.certificate;
  options.key = own.key;
  pair secure{options};
  CHECK_NE(secure.stage({"GET", "/", {}, ""}), "none");
  pair open;
  open.where.tls = true;
  open.where.ca = ours.certificate();
  CHECK_EQ(open.stage({"GET", "/", {}, ""}, 5s), "tls");
}
