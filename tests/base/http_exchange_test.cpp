#define CAF_SUITE http_exchange

#include "base/flows/http.hpp"
#include "base/flows/http_server.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/support/scripted_server.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

using got_response = io_result<http_response>;

http_server_address plain(std::uint16_t port) {
  auto at = http_server_address{};
  at.host = "127.0.0.1";
  at.port = port;
  return at;
}

http_request ask(std::string method, std::string target = "/", std::string body = {}) {
  return {std::move(method), std::move(target), {}, std::move(body)};
}

/// An exchange and the context its flows run on.
struct client {
  asio::io_context on;
  real_flow_time time;
  std::unique_ptr<http_exchange> exchange = make_http_exchange(time);

  started<got_response> begin(std::uint16_t port, http_request what, std::chrono::milliseconds bound = 10s, http_limits limits = {}) {
    return start_flow(on, exchange->send(plain(port), std::move(what), limits, deadline{time, bound}));
  }
  got_response send(http_server_address where, http_request what, std::chrono::milliseconds bound = 10s, http_limits limits = {}) {
    return run_flow(on, exchange->send(std::move(where), std::move(what), limits, deadline{time, bound}));
  }
  got_response send(std::uint16_t port, http_request what, std::chrono::milliseconds bound = 10s, http_limits limits = {}) {
    return send(plain(port), std::move(what), bound, limits);
  }
  got_response stream(std::uint16_t port, std::function<bool(std::string_view)> on_body, std::chrono::milliseconds idle = 10s) {
    return run_flow(on, exchange->stream(plain(port), ask("GET", "/watch"), {}, std::move(on_body), idle, deadline{time, 10s}));
  }
};

std::string stage_of(const got_response& x) {
  return x ? "none" : to_string(x.error().at);
}

const auto ok = script::answer(200, "{}");

// A bound that is to pass, but not before a request has gone and what was ready has come, on a machine busy with something else.
constexpr auto enough_to_send = 2s;

} // namespace

SCENARIO("one connection serves request after request") {
  scripted_server server{
    {{script::read_request(), script::send(ok), script::read_request(), script::send(script::answer(404, "no")), script::stall()}}};
  client it;
  auto first = it.send(server.port(), {"POST", "/a?b=c", {{"X-One", "1"}}, "body"});
  auto second = it.send(server.port(), ask("GET", "/d"));
  REQUIRE(first);
  CHECK_EQ(first->status, 200u);
  CHECK_EQ(first->body, "{}");
  CHECK_EQ(header(first->headers, "content-TYPE").value_or(""), "application/json");
  REQUIRE(second);
  CHECK_EQ(second->status, 404u);
  CHECK_EQ(second->body, "no");
  CHECK_EQ(server.connections(), 1u);
  const auto port = std::to_string(server.port());
  REQUIRE_EQ(server.requests().size(), 2u);
  CHECK_EQ(server.requests()[0], "POST /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nX-One: 1\r\nContent-Length: 4\r\n\r\nbody");
  CHECK_EQ(server.requests()[1], "GET /d HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\n\r\n");
}

SCENARIO("an answer that asks to close is the connection's last") {
  const auto last = script::answer(200, "{}", "application/json", "Connection: close\r\n");
  scripted_server server{
    {{script::read_request(), script::send(last), script::stall()}, {script::read_request(), script::send(ok), script::stall()}}};
  client it;
  CHECK(it.send(server.port(), ask("GET")));
  CHECK(it.send(server.port(), ask("GET")));
  CHECK_EQ(server.connections(), 2u);
}

SCENARIO("bytes beyond an answer end the connection's use") {
  scripted_server server{{{script::read_request(), script::send(ok + "HTTP/1.1 200 Planted\r\n"), script::stall()},
                          {script::read_request(), script::send(ok), script::stall()}}};
  client it;
  CHECK(it.send(server.port(), ask("GET")));
  auto second = it.send(server.port(), ask("GET"));
  REQUIRE(second);
  CHECK_EQ(second->body, "{}");
  CHECK_EQ(server.connections(), 2u);
}

SCENARIO("no more connections are kept than the pool may hold, whatever they lead to") {
  const auto once =
    scripted_server::connection{script::read_request(), script::send(ok), script::read_request(), script::send(ok), script::stall()};
  scripted_server server{{once, once, once, once}};
  auto limits = http_pool_limits{};
  limits.idle = 2;
  client it;
  it.exchange = make_http_exchange(it.time, limits);
  const auto ask_as = [&](const char* name) {
    auto where = plain(server.port());
    where.server_name = name; // another address each
    REQUIRE(it.send(where, ask("GET")));
  };
  ask_as("a");
  ask_as("b");
  CHECK(!server.wait_for_closed(1, 0s));
  ask_as("c");
  CHECK(server.wait_for_closed(1)); // the one that had waited longest
  ask_as("b");
  ask_as("c");
  CHECK_EQ(server.connections(), 3u);
  ask_as("a");
  CHECK_EQ(server.connections(), 4u);
}

SCENARIO("a read goes out again when its kept connection ends without an answer, and only once") {
  GIVEN("a server that ends a kept connection upon the second request") {
    WHEN("that is a GET") {
      scripted_server server{
        {{script::read_request(), script::send(ok), script::read_request()}, {script::read_request(), script::send(ok), script::stall()}}};
      client it;
      CHECK(it.send(server.port(), ask("GET", "/1")));
      auto second = it.send(server.port(), ask("GET", "/2"));
      THEN("a fresh connection answers it") {
        CHECK(second);
        CHECK_EQ(server.connections(), 2u);
        CHECK_EQ(server.requests().size(), 3u);
      }
    }
    WHEN("the fresh connection ends too") {
      scripted_server server{{{script::read_request(), script::send(ok), script::read_request()}, {script::read_request()}}};
      client it;
      CHECK(it.send(server.port(), ask("GET", "/1")));
      auto second = it.send(server.port(), ask("GET", "/2"));
      THEN("that is the end") {
        CHECK_EQ(stage_of(second), "receive");
        CHECK(second.error().sent);
        CHECK_EQ(server.connections(), 2u);
      }
    }
    WHEN("that is a PATCH") {
      scripted_server server{
        {{script::read_request(), script::send(ok), script::read_request()}, {script::read_request(), script::send(ok), script::stall()}}};
      client it;
      CHECK(it.send(server.port(), ask("GET", "/1")));
      auto second = it.send(server.port(), ask("PATCH", "/2", "x"));
      THEN("it is not repeated, and may have happened") {
        CHECK_EQ(stage_of(second), "receive");
        CHECK(second.error().sent);
        CHECK_EQ(server.connections(), 1u);
      }
    }
  }
}

SCENARIO("a silent server ends with the deadline and the connection is closed") {
  scripted_server server{{{script::read_request(), script::stall()}}};
  client it;
  auto got = it.send(server.port(), ask("GET"), enough_to_send);
  CHECK_EQ(stage_of(got), "timeout");
  CHECK(got.error().sent);
  CHECK(server.wait_for_closed(1));
}

SCENARIO("a stalled body ends with the deadline") {
  scripted_server server{{{script::read_request(), script::send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), script::stall()}}};
  client it;
  CHECK_EQ(stage_of(it.send(server.port(), ask("GET"), 80ms)), "timeout");
  CHECK(server.wait_for_closed(1));
}

SCENARIO("a reset after the request was read is a lost answer of a request that was sent") {
  scripted_server server{{{script::read_request(), script::reset()}}};
  client it;
  auto got = it.send(server.port(), ask("POST", "/", "x"));
  CHECK_EQ(stage_of(got), "receive");
  CHECK(got.error().sent);
}

SCENARIO("a refused connection sent nothing") {
  asio::io_context other;
  asio::ip::tcp::acceptor taken{other};
  taken.open(asio::ip::tcp::v4());
  taken.bind({asio::ip::address_v4::loopback(), 0});
  client it;
  auto got = it.send(taken.local_endpoint().port(), ask("POST", "/", "x"));
  CHECK_EQ(stage_of(got), "connect");
  CHECK(!got.error().sent);
}

SCENARIO("an answer cut at any byte is a failure and never a shorter answer") {
  const auto whole = script::answer(200, "{\"a\":1}");
  for (auto n = std::size_t{0}; n <= whole.size(); ++n) {
    scripted_server server{{{script::read_request(), script::send(whole.substr(0, n))}}};
    client it;
    auto got = it.send(server.port(), ask("POST", "/", "x"));
    if (n == whole.size())
      CHECK(got);
    else
      REQUIRE_EQ(stage_of(got), "receive");
  }
  const auto chunked = std::string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"};
  for (auto n = std::size_t{0}; n <= chunked.size(); ++n) {
    scripted_server server{{{script::read_request(), script::send(chunked.substr(0, n))}}};
    client it;
    auto got = it.send(server.port(), ask("GET"));
    if (n == chunked.size()) {
      REQUIRE(got);
      CHECK_EQ(got->body, "abcde");
    } else
      REQUIRE_EQ(stage_of(got), "receive");
  }
}

SCENARIO("answers beyond a bound are refused as too large") {
  const auto limits = http_limits{256, 8};
  const auto cases = std::vector<std::pair<std::string, std::string>>{
    {script::answer(200, "12345678"), "none"},
    {script::answer(200, "123456789"), "too-large"},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n5\r\nfghij\r\n0\r\n\r\n", "too-large"},
    {"HTTP/1.1 200 OK\r\nX: " + std::string(400, 'x') + "\r\nContent-Length: 0\r\n\r\n", "too-large"},
    {"HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x'), "too-large"},
    {"SSH-2.0-what is this\r\n\r\n", "protocol"},
  };
  for (const auto& [bytes, stage] : cases) {
    scripted_server server{{{script::read_request(), script::send(bytes), script::stall()}}};
    client it;
    CHECK_EQ(stage_of(it.send(server.port(), ask("GET"), 10s, limits)), stage);
  }
}

SCENARIO("a withdrawn request ends as cancelled, and a withdrawn caller asks nobody") {
  scripted_server server{{{script::read_request(), script::stall()}}};
  client it;
  auto flow = it.begin(server.port(), ask("POST", "/", "x"));
  run_until(it.on, [&] { return !server.requests().empty(); });
  REQUIRE(!flow.done());
  flow.cancel();
  run_until(it.on, [&] { return flow.done(); });
  CHECK_EQ(stage_of(flow.get()), "cancelled");
  CHECK(flow.get().error().sent);
  CHECK(server.wait_for_closed(1));
  CHECK_EQ(server.connections(), 1u);
}

SCENARIO("a line break in a header or target is refused unsent") {
  scripted_server server{{{script::stall()}}};
  client it;
  for (auto bad : {http_request{"GET", "/ HTTP/1.1\r\nX: 1", {}, ""}, http_request{"GET", "/", {{"X", "1\r\nY: 2"}}, ""},
                   http_request{"GET", "/", {{"X: 1\r\nY", "2"}}, ""}, http_request{"G ET", "/", {}, ""}}) {
    auto got = it.send(server.port(), bad);
    CHECK_EQ(stage_of(got), "protocol");
    CHECK(!got.error().sent);
  }
  CHECK(server.requests().empty());
}

SCENARIO("a stream hands out a body piece by piece and ends when it is told to") {
  const auto head = std::string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"};
  GIVEN("a stream of two pieces with an end") {
    scripted_server server{
      {{script::read_request(), script::send(head + "3\r\none\r\n"), script::send("3\r\ntwo\r\n0\r\n\r\n"), script::stall()}}};
    client it;
    auto all = std::string{};
    auto got = it.stream(server.port(), [&](std::string_view x) {
      all += x;
      return true;
    });
    REQUIRE(got);
    CHECK_EQ(all, "onetwo");
    CHECK_EQ(got->body, "");
    CHECK_EQ(got->status, 200u);
  }
  GIVEN("a listener that has enough after the first piece") {
    scripted_server server{{{script::read_request(), script::send(head + "3\r\none\r\n"), script::stall()}}};
    client it;
    auto got = it.stream(server.port(), [](std::string_view) { return false; });
    CHECK(got);
    CHECK(server.wait_for_closed(1));
  }
  GIVEN("silence after the first piece") {
    scripted_server server{{{script::read_request(), script::send(head + "3\r\none\r\n"), script::stall()}}};
    client it;
    auto all = std::string{};
    auto got = it.stream(
      server.port(),
      [&](std::string_view x) {
        all += x;
        return true;
      },
      enough_to_send);
    CHECK_EQ(stage_of(got), "timeout");
    CHECK_EQ(all, "one");
    CHECK(server.wait_for_closed(1));
  }
  GIVEN("an answer that is not 2xx") {
    scripted_server server{{{script::read_request(), script::send(script::answer(410, "gone")), script::stall()}}};
    client it;
    auto pieces = 0;
    auto got = it.stream(server.port(), [&](std::string_view) {
      ++pieces;
      return true;
    });
    REQUIRE(got);
    CHECK_EQ(got->status, 410u);
    CHECK_EQ(got->body, "gone");
    CHECK_EQ(pieces, 0);
  }
  GIVEN("a stream that breaks off") {
    scripted_server server{{{script::read_request(), script::send(head + "3\r\none\r\n"), script::reset()}}};
    client it;
    CHECK_EQ(stage_of(it.stream(server.port(), [](std::string_view) { return true; })), "receive");
  }
}
