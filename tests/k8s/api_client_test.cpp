#define CAF_SUITE api_client

#include "k8s/flows/api_client.hpp"
#include "k8s/objects.hpp"
#include "k8s/paths.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/support/scripted_credentials.hpp"
#include "tests/support/scripted_server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using nlohmann::json;

namespace {

using reply = k8s::result<k8s::answer>;

constexpr auto token_text = "tok-3f9a";

/// Calls only after the coroutine has been withdrawn.
asio::awaitable<reply> when_withdrawn(k8s::api& to, k8s::call what, deadline until) {
  co_await asio::this_coro::throw_if_cancelled(false);
  auto lane = co_await asio::this_coro::executor;
  auto bell = asio::steady_timer{lane, asio::steady_timer::time_point::max()};
  co_await bell.async_wait(asio::as_tuple(asio::use_awaitable));
  auto got = co_await to.send(std::move(what), until);
  co_return got;
}

struct client {
  asio::io_context on;
  real_flow_time time;
  std::unique_ptr<http_exchange> exchange = make_http_exchange(time);
  std::shared_ptr<counted_tokens> tokens = std::make_shared<counted_tokens>();
  std::unique_ptr<k8s::api> api;

  explicit client(std::uint16_t port, std::int64_t bound_ms = 30'000) {
    make(port, tokens, bound_ms, time);
  }
  client(std::uint16_t port, std::shared_ptr<k8s::credential_source> credentials, std::int64_t bound_ms) {
    make(port, std::move(credentials), bound_ms, time);
  }
  void make(std::uint16_t port, std::shared_ptr<k8s::credential_source> credentials, std::int64_t bound_ms, const time_source& clock) {
    auto options = k8s::api_client_options{};
    options.server.host = "127.0.0.1";
    options.server.port = port;
    options.credentials = std::move(credentials);
    options.request_timeout_ms = bound_ms;
    auto made = k8s::make_api_client(*exchange, clock, std::move(options));
    REQUIRE(made);
    api = std::move(*made);
  }
  started<reply> begin(k8s::call what, std::chrono::milliseconds budget = 20s) {
    return start_flow(on, api->send(std::move(what), deadline{time, budget}));
  }
  reply send(k8s::call what, std::chrono::milliseconds budget = 20s) {
    return run_flow(on, api->send(std::move(what), deadline{time, budget}));
  }
};

/// One request that is answered so, and what the client made of it.
reply answered(const std::string& bytes, k8s::call what = k8s::get("/x")) {
  scripted_server server{{{script::read_request(), script::send(bytes), script::stall()}}};
  client it{server.port()};
  return it.send(std::move(what));
}

reply answered(unsigned status, k8s::call what = k8s::get("/x"), const std::string& more = {}) {
  return answered(script::answer(status, R"({"kind":"Status"})", "application/json", more), std::move(what));
}

template <class T>
const T* error(const reply& x) {
  return x ? nullptr : std::get_if<T>(&x.error());
}

std::string decoded(std::string_view text) {
  auto got = std::string{};
  for (auto i = std::size_t{0}; i < text.size(); ++i)
    if (text[i] == '%') {
      got += static_cast<char>(std::stoi(std::string{text.substr(i + 1, 2)}, nullptr, 16));
      i += 2;
    } else
      got += text[i];
  return got;
}

std::string first_line(const std::string& request) {
  return request.substr(0, request.find("\r\n"));
}

bool has(const std::string& in, const std::string& what) {
  return in.find(what) != std::string::npos;
}

} // namespace

// [C 32] content types, and nothing where there is no body
SCENARIO("each kind of call carries its content type, a fresh token and nothing that was not asked for") {
  const auto ok = script::answer(200, "{}");
  auto talk = scripted_server::connection{};
  for (auto i = 0; i < 6; ++i) {
    talk.push_back(script::read_request());
    talk.push_back(script::send(ok));
  }
  scripted_server server{{talk}};
  client it{server.port()};
  REQUIRE(it.send(k8s::get("/g")));
  REQUIRE(it.send(k8s::post("/p", {{"a", 1}})));
  REQUIRE(it.send(k8s::merge_patch("/m", {{"b", nullptr}})));
  REQUIRE(it.send(k8s::json_patch("/j", json::array())));
  REQUIRE(it.send(k8s::remove("/d")));
  REQUIRE(it.send(k8s::remove("/o", json{{"kind", "DeleteOptions"}})));
  const auto seen = server.requests();
  const auto base = [&](const char* line, int n) {
    return std::string{line} + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) + "\r\nAccept: application/json\r\n" + "%"
           + "Authorization: Bearer tok-3f9a" + std::to_string(n) + "\r\n";
  };
  const auto expected = [&](const char* line, int n, const std::string& type, const std::string& body) {
    auto text = base(line, n);
    text.replace(text.find('%'), 1, type.empty() ? "" : "Content-Type: " + type + "\r\n");
    return text + (body.empty() ? "\r\n" : "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  };
  REQUIRE_EQ(seen.size(), 6u);
  CHECK_EQ(seen[0], expected("GET /g", 1, "", ""));
  CHECK_EQ(seen[1], expected("POST /p", 2, "application/json", R"({"a":1})"));
  CHECK_EQ(seen[2], expected("PATCH /m", 3, "application/merge-patch+json", R"({"b":null})"));
  CHECK_EQ(seen[3], expected("PATCH /j", 4, "application/json-patch+json", "[]"));
  CHECK_EQ(seen[4], expected("DELETE /d", 5, "", ""));
  CHECK_EQ(seen[5], expected("DELETE /o", 6, "application/json", R"({"kind":"DeleteOptions"})"));
}

// [C 33] a name is one segment
// [C 34] a selector arrives as it was given
SCENARIO("names and selectors arrive as they were given") {
  const auto ok = script::answer(200, "{}");
  scripted_server server{{{script::read_request(), script::send(ok), script::read_request(), script::send(ok)}}};
  client it{server.port()};
  REQUIRE(it.send(k8s::get(k8s::pods_path("n/s", "a/b%c"))));
  REQUIRE(it.send(k8s::get(k8s::with_selector(k8s::pods_path("ns"), "a=b,c in (d)"))));
  const auto seen = server.requests();
  CHECK_EQ(first_line(seen.at(0)), "GET /api/v1/namespaces/n%2Fs/pods/a%2Fb%25c HTTP/1.1");
  const auto line = first_line(seen.at(1));
  const auto at = line.find("?labelSelector=");
  REQUIRE_NE(at, std::string::npos);
  const auto value = line.substr(at + 15, line.rfind(' ') - at - 15);
  CHECK_EQ(decoded(value), "a=b,c in (d)");
  CHECK_EQ(line.substr(0, at), "GET /api/v1/namespaces/ns/pods");
}

// [C 35] a refused credential is not repeated
SCENARIO("a refused credential names verb, resource and status and neither the token nor the answer") {
  for (auto status : {401u, 403u}) {
    auto got = answered(script::answer(status, R"({"message":"bad tok-3f9a1 here"})"), k8s::post("/p?q=1", json::object()));
    const auto* why = error<k8s::credential_failure>(got);
    REQUIRE(why);
    CHECK_EQ(why->verb, "POST");
    CHECK_EQ(why->resource, "/p?q=1");
    CHECK_EQ(why->status, status);
    const auto text = to_string(got.error());
    CHECK(has(text, "POST") && has(text, "/p?q=1") && has(text, std::to_string(status)));
    CHECK(!has(text, "tok-3f9a"));
    CHECK(!has(text, "here"));
  }
}

// [C 36] what is not there
// [C 37] a conflict
SCENARIO("404 and 410 are gone with their status, 409 is a conflict, whatever was asked") {
  for (const auto& what : {k8s::get("/x"), k8s::post("/x", json::object()), k8s::json_patch("/x", json::array()), k8s::remove("/x")}) {
    for (auto status : {404u, 410u}) {
      auto got = answered(status, what);
      const auto* why = error<k8s::already_gone>(got);
      REQUIRE(why);
      CHECK_EQ(why->status, status);
      CHECK_EQ(why->method, what.method);
      CHECK_EQ(why->resource, "/x");
    }
    auto got = answered(409, what);
    const auto* why = error<k8s::conflict>(got);
    REQUIRE(why);
    CHECK_EQ(why->method, what.method);
    CHECK_EQ(why->resource, "/x");
  }
}

// [C 38] 422 depends on what was sent
SCENARIO("422 means a patch that was not applied only for a JSON patch") {
  auto patched = answered(422, k8s::json_patch("/x", json::array()));
  const auto* why = error<k8s::patch_not_applied>(patched);
  REQUIRE(why);
  CHECK_EQ(why->status, 422u);
  for (const auto& what : {k8s::post("/x", json::object()), k8s::merge_patch("/x", json::object())}) {
    auto got = answered(422, what);
    const auto* other = error<k8s::api_failure>(got);
    REQUIRE(other);
    CHECK_EQ(other->status.value_or(0), 422u);
    CHECK(other->how == k8s::api_failure::transport::status);
    const auto text = to_string(got.error());
    CHECK(has(text, what.method) && has(text, "/x") && has(text, "422") && has(text, "Status"));
  }
}

// [C 39] Retry-After of a 429
// [C 40] ... of other answers
SCENARIO("Retry-After is read of 429 and 503 only") {
  const auto at = [](unsigned status, const std::string& value) {
    scripted_server server{
      {{script::read_request(), script::send(script::answer(status, "{}", "application/json", "Retry-After: " + value + "\r\n")),
        script::stall()}}};
    client it{server.port()};
    manual_time clock; // its wall clock stands at 03:04:05
    it.exchange = make_http_exchange(clock);
    it.make(server.port(), k8s::fixed_token(secret{"t"}), 30'000, clock);
    auto got = run_flow(it.on, it.api->send(k8s::get("/x"), deadline{clock, 20s}));
    const auto* why = error<k8s::api_failure>(got);
    REQUIRE(why);
    CHECK_EQ(why->status.value_or(0), status);
    return why->retry_after ? why->retry_after->count() : -1;
  };
  CHECK_EQ(at(429, "7"), 7000);
  CHECK_EQ(at(429, "Fri, 02 Jan 2026 03:04:08 GMT"), 3000);
  CHECK_EQ(at(429, "Fri, 02 Jan 2026 03:04:04 GMT"), 0);
  CHECK_EQ(at(429, "-1"), 0);
  CHECK_EQ(at(429, "soon"), -1);
  CHECK_EQ(at(500, "7"), -1);
  CHECK_EQ(at(503, "7"), 7000);
}

// [C 41] nobody listens
SCENARIO("a refused connection is a connect failure with a cause and no status, and nothing was sent") {
  asio::io_context other;
  asio::ip::tcp::acceptor taken{other};
  taken.open(asio::ip::tcp::v4());
  taken.bind({asio::ip::address_v4::loopback(), 0});
  client it{taken.local_endpoint().port()};
  auto got = it.send(k8s::post("/x", json::object()));
  const auto* why = error<k8s::api_failure>(got);
  REQUIRE(why);
  CHECK(why->how == k8s::api_failure::transport::connect);
  CHECK(!why->status);
  CHECK(has(why->cause, "refused"));
  CHECK(!outcome_unknown(got.error()));
}

// [C 42] the connection is reset
SCENARIO("a reset after the request was read is a connect failure of unknown outcome") {
  scripted_server server{{{script::read_request(), script::reset()}}};
  client it{server.port()};
  auto got = it.send(k8s::post("/x", json::object()));
  const auto* why = error<k8s::api_failure>(got);
  REQUIRE(why);
  CHECK(why->how == k8s::api_failure::transport::connect);
  CHECK(!why->status);
  CHECK(outcome_unknown(got.error()));
  CHECK_EQ(server.requests().size(), 1u);
}

// [C 43] no answer
// [C 44] half an answer
// [C 45] no token
SCENARIO("the bound of a request covers its token, its answer and the answer's body") {
  scripted_server silent{{{script::read_request(), script::stall()}}};
  scripted_server stalled{{{script::read_request(), script::send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), script::stall()}}};
  scripted_server unasked{{{script::stall()}}};
  auto tokens = std::make_shared<no_token>();
  client one{silent.port(), 1000};
  client two{stalled.port(), 1000};
  client three{unasked.port(), tokens, 1000};
  const auto begin = std::chrono::steady_clock::now();
  // All on one context, so that the test waits for the bound once.
  const auto send = [&](client& x) { return start_flow(one.on, x.api->send(k8s::post("/x", json::object()), deadline{x.time, 1h})); };
  auto flows = std::vector{send(one), send(two), send(three)};
  run_until(one.on, [&] { return std::ranges::all_of(flows, [](const auto& x) { return x.done(); }); });
  const auto took = std::chrono::steady_clock::now() - begin;
  CHECK(took >= 1000ms);
  CHECK(took < 8s);
  for (auto& x : flows) {
    const auto* why = error<k8s::api_timeout>(x.get());
    REQUIRE(why);
    CHECK_EQ(why->bound.count(), 1000);
    CHECK_EQ(why->verb, "POST");
    CHECK_EQ(why->resource, "/x");
  }
  CHECK(silent.wait_for_closed(1));
  CHECK(stalled.wait_for_closed(1));
  CHECK_EQ(tokens->asked, 1);
  CHECK_EQ(unasked.connections(), 0u);
  CHECK(outcome_unknown(flows[0].get().error()));
  CHECK(outcome_unknown(flows[1].get().error()));
  CHECK(!outcome_unknown(flows[2].get().error()));
}

// [C 46] withdrawn before it began
SCENARIO("a caller that has withdrawn asks for no token and opens no connection") {
  scripted_server server{{{script::read_request(), script::stall()}}};
  client it{server.port()};
  auto flow = start_flow(it.on, when_withdrawn(*it.api, k8s::get("/x"), deadline{it.time, 20s}));
  run_ready(it.on);
  flow.cancel();
  run_until(it.on, [&] { return flow.done(); });
  const auto* why = error<k8s::cancelled>(flow.get());
  REQUIRE(why);
  CHECK(!why->sent);
  CHECK_EQ(it.tokens->asked, 0);
  CHECK_EQ(server.connections(), 0u);
}

// [C 47] withdrawn before the deadline
SCENARIO("a caller that withdraws in the middle gets no timeout") {
  scripted_server server{{{script::read_request(), script::stall()}}};
  client it{server.port()};
  auto flow = it.begin(k8s::post("/x", json::object()));
  run_until(it.on, [&] { return !server.requests().empty(); });
  flow.cancel();
  run_until(it.on, [&] { return flow.done(); });
  const auto* why = error<k8s::cancelled>(flow.get());
  REQUIRE(why);
  CHECK(why->sent);
  CHECK(outcome_unknown(flow.get().error()));
  CHECK(server.wait_for_closed(1));
  GIVEN("a withdrawal while the token is fetched") {
    auto tokens = std::make_shared<no_token>();
    client other{server.port(), tokens, 30'000};
    auto waiting = other.begin(k8s::get("/x"));
    run_until(other.on, [&] { return tokens->asked == 1; });
    waiting.cancel();
    run_until(other.on, [&] { return waiting.done(); });
    THEN("it is a withdrawal too, and nothing was sent") {
      const auto* early = error<k8s::cancelled>(waiting.get());
      REQUIRE(early);
      CHECK(!early->sent);
    }
  }
}

// [C 48] success without a value
SCENARIO("204, an empty 200 and a 200 that is not JSON are no value and no error") {
  for (const auto& bytes :
       {std::string{"HTTP/1.1 204 No Content\r\n\r\n"}, script::answer(200, ""), script::answer(200, "hello", "text/plain")}) {
    auto got = answered(bytes);
    REQUIRE(got);
    CHECK(!*got);
  }
  auto value = answered(script::answer(200, R"({"a":1})", "application/json; charset=utf-8"));
  REQUIRE(value);
  CHECK_EQ(value->value().dump(), R"({"a":1})");
  auto broken = answered(script::answer(200, "{\"a\":"), k8s::post("/x", json::object()));
  const auto* why = error<k8s::api_failure>(broken);
  REQUIRE(why);
  CHECK(why->how == k8s::api_failure::transport::connect);
  CHECK(outcome_unknown(broken.error()));
}

// [C 49] a list without items
SCENARIO("a list without items reads as empty") {
  for (const auto* body : {R"({"kind":"PodList"})", R"({"items":null})", R"({"items":{"a":1}})", "[]"}) {
    auto got = answered(script::answer(200, body));
    REQUIRE(got);
    CHECK(k8s::items_of(*got).empty());
  }
  auto two = answered(script::answer(200, R"({"items":[{"a":1},{"a":2}]})"));
  REQUIRE(two);
  CHECK_EQ(k8s::items_of(*two).size(), 2u);
}

// [C 50] nothing is retried
SCENARIO("a 503 is answered to one request only") {
  scripted_server server{
    {{script::read_request(), script::send(script::answer(503, "{}")), script::stall()}, {script::read_request(), script::stall()}}};
  client it{server.port()};
  auto got = it.send(k8s::get("/x"));
  REQUIRE(error<k8s::api_failure>(got));
  it.exchange.reset(); // its kept connection closes: what the server has read by then is all
  CHECK(server.wait_for_closed(1));
  CHECK_EQ(server.requests().size(), 1u);
  CHECK_EQ(server.connections(), 1u);
}

SCENARIO("a redirect is not followed, neither to the same server nor to another") {
  scripted_server elsewhere{{{script::read_request(), script::send(script::answer(200, "{}"))}}};
  const auto other = "http://127.0.0.1:" + std::to_string(elsewhere.port()) + "/x";
  for (auto status : {301u, 302u, 303u, 307u, 308u})
    for (const auto& to : {std::string{"/elsewhere"}, other}) {
      scripted_server server{{{script::read_request(), script::send(script::answer(status, "", "text/plain", "Location: " + to + "\r\n")),
                               script::read_request(), script::send(script::answer(200, "{}"))}}};
      client it{server.port()};
      auto got = it.send(k8s::get("/x"));
      const auto* why = error<k8s::api_failure>(got);
      REQUIRE(why);
      CHECK_EQ(why->status.value_or(0), status);
      CHECK_EQ(server.requests().size(), 1u);
    }
  CHECK_EQ(elsewhere.connections(), 0u);
}

// [C 14] one credential a request
SCENARIO("each request asks for its token once") {
  const auto ok = script::answer(200, "{}");
  scripted_server server{{{script::read_request(), script::send(ok), script::read_request(), script::send(ok), script::read_request(),
                           script::send(ok), script::stall()}}};
  client it{server.port()};
  for (auto i = 0; i < 3; ++i)
    CHECK(it.send(k8s::get("/x")));
  CHECK_EQ(it.tokens->asked, 3);
  REQUIRE_EQ(server.requests().size(), 3u);
  for (auto i = 0u; i < 3; ++i)
    CHECK(has(server.requests()[i], "Authorization: Bearer " + (token_text + std::to_string(i + 1)) + "\r\n"));
}

SCENARIO("a read whose credential was refused goes out once more when there is another one, and a write does not") {
  const auto no = script::answer(401, "{}");
  const auto ok = script::answer(200, "{}");
  GIVEN("a source that gives another token") {
    WHEN("a read is refused once") {
      scripted_server server{{{script::read_request(), script::send(no), script::read_request(), script::send(ok), script::stall()}}};
      client it{server.port()};
      it.tokens->renews = true;
      CHECK(it.send(k8s::get("/x")));
      REQUIRE_EQ(server.requests().size(), 2u);
      CHECK(has(server.requests()[1], "Bearer tok-3f9a2\r\n"));
    }
    WHEN("a read is refused again") {
      scripted_server server{
        {{script::read_request(), script::send(no), script::read_request(), script::send(no), script::read_request(), script::send(ok)}}};
      client it{server.port()};
      it.tokens->renews = true;
      CHECK(error<k8s::credential_failure>(it.send(k8s::get("/x"))));
      CHECK_EQ(server.requests().size(), 2u);
      CHECK_EQ(it.tokens->refusals, std::vector<std::string>({"tok-3f9a1", "tok-3f9a2"}));
    }
    for (const auto& what : {k8s::post("/x", json::object()), k8s::merge_patch("/x", json::object()), k8s::remove("/x")}) {
      scripted_server server{{{script::read_request(), script::send(no), script::read_request(), script::send(ok)}}};
      client it{server.port()};
      it.tokens->renews = true;
      auto got = it.send(what);
      CHECK(error<k8s::credential_failure>(got));
      CHECK_EQ(server.requests().size(), 1u);
      CHECK_EQ(it.tokens->refusals.size(), 1u); // the next request gets another one
    }
  }
  GIVEN("a source that has no other") {
    scripted_server server{{{script::read_request(), script::send(no), script::read_request(), script::send(ok)}}};
    client it{server.port()};
    CHECK(error<k8s::credential_failure>(it.send(k8s::get("/x"))));
    CHECK_EQ(server.requests().size(), 1u);
  }
  GIVEN("a 403") {
    scripted_server server{{{script::read_request(), script::send(script::answer(403, "{}")), script::read_request(), script::send(ok)}}};
    client it{server.port()};
    it.tokens->renews = true;
    CHECK(error<k8s::credential_failure>(it.send(k8s::get("/x"))));
    CHECK_EQ(server.requests().size(), 1u);
    CHECK(it.tokens->refusals.empty());
  }
}

// [W 9] a bound that is too small
SCENARIO("a bound below a second is refused when the client is made, and nothing is sent") {
  real_flow_time time;
  auto exchange = make_http_exchange(time);
  scripted_server server{{{script::stall()}}};
  for (auto ms : {500, 0, 999, -1}) {
    auto options = k8s::api_client_options{};
    options.server.host = "127.0.0.1";
    options.server.port = server.port();
    options.credentials = k8s::fixed_token(secret{"t"});
    options.request_timeout_ms = ms;
    auto made = k8s::make_api_client(*exchange, time, std::move(options));
    REQUIRE(!made);
    CHECK(has(made.error(), "apiRequestTimeoutMs"));
  }
  CHECK_EQ(server.connections(), 0u);
}

SCENARIO("what is known of a write's outcome follows from how it failed") {
  const auto what = k8s::post("/x", json::object());
  for (auto status : {429u, 500u, 502u, 503u, 504u})
    CHECK(outcome_unknown(answered(status, what).error()));
  for (auto status : {400u, 401u, 403u, 404u, 405u, 409u, 410u, 415u, 422u})
    CHECK(!outcome_unknown(answered(status, what).error()));
}

SCENARIO("a token that is no line of text, or cannot be had, sends nothing and is not shown") {
  scripted_server server{{{script::stall()}}};
  client broken{server.port(), k8s::fixed_token(secret{"tok-3f9a\r\nX: 1"}), 30'000};
  client absent{server.port(), k8s::token_file("/nonexistent/token"), 30'000};
  for (auto* it : {&broken, &absent}) {
    auto got = it->send(k8s::get("/x"));
    const auto* why = error<k8s::api_failure>(got);
    REQUIRE(why);
    CHECK(!why->sent);
    CHECK(!has(to_string(got.error()), "tok-3f9a"));
  }
  CHECK_EQ(server.connections(), 0u);
}
