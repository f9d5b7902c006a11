#define CAF_SUITE http_tunnel

#include "base/base64.hpp"
#include "base/flows/http.hpp"
#include "base/flows/http_server.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/support/scripted_server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <caf/test/bdd_dsl.hpp>

#include <array>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

const auto established = std::string{"HTTP/1.1 200 Connection established\r\n\r\n"};
using got_response = io_result<http_response>;

/// A client of `api.test:6443` behind a proxy on loopback.
struct client {
  boost::asio::io_context on;
  real_flow_time time;
  std::unique_ptr<http_exchange> exchange = make_http_exchange(time);
  http_server_address where;

  explicit client(std::uint16_t proxy) {
    where.host = "api.test"; // no resolver knows it: only the proxy is asked
    where.port = 6443;
    where.proxy = http_proxy{"127.0.0.1", proxy, {}};
  }
  got_response get(std::chrono::milliseconds bound = 10s) {
    return run_flow(on, exchange->send(where, {"GET", "/x", {}, {}}, {}, deadline{time, bound}));
  }
};

constexpr auto quietly = asio::as_tuple(asio::use_awaitable);

asio::awaitable<void> pump(std::shared_ptr<tcp::socket> from, std::shared_ptr<tcp::socket> to) {
  auto room = std::array<char, 4096>{};
  for (;;) {
    auto [ec, n] = co_await from->async_read_some(asio::buffer(room), quietly);
    if (ec)
      break;
    co_await asio::async_write(*to, asio::buffer(room.data(), n), quietly);
  }
  auto ignored = boost::system::error_code{};
  to->close(ignored);
}

/// Connects the first who asks to `port` on loopback, whatever it asks for.
asio::awaitable<void> serve_tunnel(tcp::acceptor acceptor, std::uint16_t port) {
  auto lane = co_await asio::this_coro::executor;
  auto [ec, peer] = co_await acceptor.async_accept(quietly);
  auto client = std::make_shared<tcp::socket>(std::move(peer));
  auto server = std::make_shared<tcp::socket>(lane);
  auto head = std::string{};
  auto room = std::array<char, 4096>{};
  while (head.find("\r\n\r\n") == std::string::npos) {
    auto [failed, n] = co_await client->async_read_some(asio::buffer(room), quietly);
    if (failed)
      co_return;
    head.append(room.data(), n);
  }
  const auto to = tcp::endpoint{asio::ip::address_v4::loopback(), port};
  co_await server->async_connect(to, quietly);
  co_await asio::async_write(*client, asio::buffer(established), quietly);
  asio::co_spawn(lane, pump(server, client), asio::detached);
  co_await pump(client, server);
}

asio::awaitable<void> answer(http_responder* to) {
  auto ok = http_response{200, {}, "{}"};
  co_await to->send(std::move(ok));
}

std::string stage_of(const got_response& x) {
  return x ? "none" : to_string(x.error().at);
}

bool has(const std::string& in, const std::string& what) {
  return in.find(what) != std::string::npos;
}

const auto ok = script::answer(200, "{}");

} // namespace

SCENARIO("a proxy is asked for a tunnel once, and its connection serves request after request") {
  scripted_server proxy{{{script::read_request(), script::send(established), script::read_request(), script::send(ok),
                          script::read_request(), script::send(ok), script::stall()}}};
  client it{proxy.port()};
  it.where.proxy->authorization = secret{"Basic " + to_base64("me:hush")};
  CHECK(it.get());
  CHECK(it.get());
  CHECK_EQ(proxy.connections(), 1u);
  REQUIRE_EQ(proxy.requests().size(), 3u);
  CHECK_EQ(proxy.requests()[0],
           "CONNECT api.test:6443 HTTP/1.1\r\nHost: api.test:6443\r\nProxy-Authorization: Basic " + to_base64("me:hush") + "\r\n\r\n");
  CHECK_EQ(proxy.requests()[1], "GET /x HTTP/1.1\r\nHost: api.test:6443\r\n\r\n"); // without what is the proxy's
}

SCENARIO("through a tunnel the server is verified by its own name, and not by that of the proxy") {
  const test_authority authority{"cluster"};
  for (const auto* name : {"DNS:api.test", "IP:127.0.0.1"}) {
    client it{0};
    tcp::acceptor acceptor{it.on, tcp::endpoint{asio::ip::address_v4::loopback(), 0}};
    it.where.proxy->port = acceptor.local_endpoint().port();
    const auto identity = authority.issue(name);
    auto how = http_server_options{};
    how.certificate = identity.certificate;
    how.key = identity.key;
    auto server = make_http_server(it.on.get_executor(), how, [](http_request, http_responder& to) { return answer(&to); });
    REQUIRE(server);
    asio::co_spawn(it.on, serve_tunnel(std::move(acceptor), (*server)->port()), asio::detached);
    it.where.tls = true;
    it.where.ca = authority.certificate();
    CHECK_EQ(stage_of(it.get()), std::string_view{name} == "DNS:api.test" ? "none" : "tls");
  }
}

SCENARIO("a proxy that opens no tunnel is named, and nothing was sent to the server") {
  const auto cases = std::vector<std::tuple<std::string, std::string, std::string>>{
    {"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", "connect", "(407)"},
    {"HTTP/1.0 503 No\r\n\r\n", "connect", "(503)"},
    {"HTTP/1.1 20", "connect", "no answer"},
    {"", "connect", "no answer"},
    {"SSH-2.0-what is this\r\n\r\n", "protocol", "HTTP/1.1"},
    {"HTTP/1.1 2x0 Yes\r\n\r\n", "protocol", "HTTP/1.1"},
    {established + "HTTP/1.1 200 Planted\r\n", "protocol", "more than its answer"},
    {"HTTP/1.1 200 Yes\r\nX: " + std::string(20'000, 'x'), "too-large", "header"},
  };
  for (const auto& [bytes, stage, words] : cases) {
    scripted_server proxy{{{script::read_request(), script::send(bytes), script::close()}}};
    client it{proxy.port()};
    it.where.proxy->authorization = secret{"Basic hush"};
    auto got = it.get();
    CHECK_EQ(stage_of(got), stage);
    REQUIRE(!got);
    CHECK(!got.error().sent);
    CHECK(has(got.error().text, words));
    CHECK(has(got.error().text, "127.0.0.1:" + std::to_string(proxy.port())));
    CHECK(!has(got.error().text, "hush"));
    CHECK_EQ(proxy.requests().size(), 1u);
  }
}

SCENARIO("a proxy that says nothing ends with the deadline") {
  scripted_server proxy{{{script::read_request(), script::stall()}}};
  client it{proxy.port()};
  auto got = it.get(80ms);
  CHECK_EQ(stage_of(got), "timeout");
  CHECK(!got.error().sent);
  CHECK(proxy.wait_for_closed(1));
}

SCENARIO("a proxy is not asked for a name that would break its line") {
  scripted_server proxy{{{script::read_request(), script::send(established), script::stall()}}};
  client it{proxy.port()};
  it.where.host = "api.test\r\nX: 1";
  CHECK_EQ(stage_of(it.get()), "protocol");
  it.where.host = "api.test";
  it.where.proxy->authorization = secret{"Basic x\r\nX: 1"};
  CHECK_EQ(stage_of(it.get()), "protocol");
  CHECK(proxy.requests().empty());
}
