#define CAF_SUITE api_stream

#include "k8s/flows/api_client.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/support/scripted_credentials.hpp"
#include "tests/support/scripted_exchange.hpp"
#include "tests/support/scripted_server.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <tuple>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

constexpr auto token_text = "tok-3f9a";

/// The head of an answer without an end.
std::string endless(unsigned status = 200) {
  return "HTTP/1.1 " + std::to_string(status) + " Scripted\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
}
std::string chunk(const std::string& x) {
  return std::to_string(x.size()) + "\r\n" + x + "\r\n"; // @pre fewer than ten bytes
}

struct client {
  explicit client(std::uint16_t port) {
    auto made = k8s::make_api_client(
      *exchange, time, {{false, "127.0.0.1", port, {}, {}, {}, {}, false}, "/base", k8s::fixed_token(secret{token_text}), 1'000, {}});
    if (!made)
      CAF_FAIL(made.error());
    api = std::move(*made);
  }
  k8s::result<void> stream(time_source::clock::duration silence, time_source::clock::duration whole, std::size_t enough = SIZE_MAX) {
    auto take = [this, enough](std::string_view bytes) {
      heard += bytes;
      return heard.size() < enough;
    };
    return run_flow(on, api->stream(k8s::get("/things?watch=true"), take, silence, deadline{time, whole}));
  }

  boost::asio::io_context on;
  real_flow_time time;
  std::unique_ptr<http_exchange> exchange = make_http_exchange(time);
  std::unique_ptr<k8s::streaming_api> api;
  std::string heard;
};

/// A client over an exchange that the test answers for.
struct scripted_client {
  explicit scripted_client(std::shared_ptr<k8s::credential_source> credentials = nullptr) {
    auto made = k8s::make_api_client(exchange, time, {{}, {}, std::move(credentials), 1'000, {}});
    if (!made)
      CAF_FAIL(made.error());
    api = std::move(*made);
  }
  k8s::result<void> stream(time_source::clock::duration silence = 90s, time_source::clock::duration whole = 300s) {
    auto take = [this](std::string_view bytes) {
      heard += bytes;
      return true;
    };
    return run_flow(on, api->stream(k8s::get("/things?watch=true"), take, silence, deadline{time, whole}));
  }

  boost::asio::io_context on;
  manual_time time;
  scripted_exchange exchange;
  std::unique_ptr<k8s::streaming_api> api;
  std::string heard;
};

} // namespace

SCENARIO("a stream is handed on as it comes, with the headers of every request, until it ends") {
  auto server =
    scripted_server{{{script::read_request(), script::send(endless() + chunk("one")), script::send(chunk("two") + "0\r\n\r\n")}}};
  auto x = client{server.port()};
  CHECK(x.stream(5s, 10s));
  CHECK_EQ(x.heard, "onetwo");
  const auto asked = server.requests().at(0);
  CHECK(asked.starts_with("GET /base/things?watch=true HTTP/1.1\r\n"));
  CHECK(asked.find("Authorization: Bearer tok-3f9a\r\n") != std::string::npos);
  CHECK(asked.find("Accept: application/json\r\n") != std::string::npos);
}

SCENARIO("a stream ends well once enough was heard") {
  auto server = scripted_server{{{script::read_request(), script::send(endless() + chunk("one")), script::stall()}}};
  auto x = client{server.port()};
  CHECK(x.stream(5s, 10s, 3));
  CHECK(server.wait_for_closed(1));
}

SCENARIO("a stream that goes silent, or lasts too long, is given up") {
  for (auto silent : {true, false}) {
    auto server = scripted_server{{{script::read_request(), script::send(endless() + chunk("one")), script::stall()}}};
    auto x = client{server.port()};
    const auto end = silent ? x.stream(2s, 1h) : x.stream(1h, 2s);
    REQUIRE(!end);
    CHECK(std::holds_alternative<k8s::api_timeout>(end.error()));
    CHECK_EQ(x.heard, "one");
    CHECK(server.wait_for_closed(1));
  }
}

SCENARIO("a stream is given its own bounds, and one that was late is told which of them it broke") {
  for (auto [silence, whole, told] : {std::tuple{90s, 300s, 90'000}, std::tuple{300s, 90s, 90'000}}) {
    auto x = scripted_client{};
    x.exchange.then(http_lost(io_failure::stage::timeout), {"one"});
    const auto end = x.stream(silence, whole);
    REQUIRE(!end);
    const auto* why = std::get_if<k8s::api_timeout>(&end.error());
    REQUIRE(why != nullptr);
    CHECK_EQ(why->bound.count(), told);
    CHECK(why->sent);
    CHECK_EQ(x.heard, "one");
    REQUIRE_EQ(x.exchange.asked.size(), 1u);
    CHECK(x.exchange.asked[0].silence == silence);
    CHECK(x.exchange.asked[0].until == deadline(x.time, whole));
  }
}

SCENARIO("a stream whose credential is late is told the bound of the credential") {
  struct late_token final : k8s::credential_source {
    boost::asio::awaitable<io_result<k8s::credential>> get(const time_source&) override {
      co_return http_lost(io_failure::stage::timeout, false);
    }
  };
  auto x = scripted_client{std::make_shared<late_token>()};
  const auto end = x.stream();
  REQUIRE(!end);
  const auto* why = std::get_if<k8s::api_timeout>(&end.error());
  REQUIRE(why != nullptr);
  CHECK_EQ(why->bound.count(), 1000);
  CHECK(!why->sent);
  CHECK(x.exchange.asked.empty());
}

SCENARIO("a stream that is cut, or too large to be read, says so and keeps what was heard") {
  for (auto how : {io_failure::stage::receive, io_failure::stage::too_large, io_failure::stage::protocol}) {
    auto x = scripted_client{};
    x.exchange.then(http_lost(how), {"one", "two"});
    const auto end = x.stream();
    REQUIRE(!end);
    const auto* why = std::get_if<k8s::api_failure>(&end.error());
    REQUIRE(why != nullptr);
    CHECK(why->how == k8s::api_failure::transport::connect);
    CHECK(!why->status);
    CHECK(why->cause.find(to_string(how)) != std::string::npos);
    CHECK_EQ(x.heard, "onetwo");
    CHECK_EQ(x.exchange.asked.size(), 1u); // it is not begun anew
  }
}

SCENARIO("a stream whose credential was refused goes out once more when there is another one") {
  for (auto renews : {true, false}) {
    const auto tokens = std::make_shared<counted_tokens>();
    tokens->renews = renews;
    auto x = scripted_client{tokens};
    x.exchange.then(http_answer(401));
    x.exchange.then(http_answer(200, ""), {"one"});
    CHECK_EQ(x.stream().has_value(), renews);
    CHECK_EQ(x.heard, renews ? "one" : "");
    CHECK_EQ(x.exchange.asked.size(), renews ? 2u : 1u);
  }
}

SCENARIO("a stream that is cut is told apart from one that ended") {
  auto server = scripted_server{{{script::read_request(), script::send(endless() + chunk("one")), script::reset()}}};
  auto x = client{server.port()};
  const auto end = x.stream(5s, 10s);
  REQUIRE(!end);
  const auto* why = std::get_if<k8s::api_failure>(&end.error());
  REQUIRE(why != nullptr);
  CHECK(!why->status);
  CHECK_EQ(x.heard, "one");
}

SCENARIO("an answer that is no stream has the class of every answer, and nothing is heard of it") {
  auto server =
    scripted_server{{{script::read_request(), script::send(script::answer(403, "{}"))},
                     {script::read_request(), script::send(script::answer(410, "{}"))},
                     {script::read_request(), script::send(script::answer(429, "{}", "application/json", "Retry-After: 7\r\n"))}}};
  auto x = client{server.port()};
  auto end = x.stream(5s, 10s);
  REQUIRE(!end);
  CHECK(std::holds_alternative<k8s::credential_failure>(end.error()));
  end = x.stream(5s, 10s);
  REQUIRE(!end);
  CHECK(std::holds_alternative<k8s::already_gone>(end.error()));
  end = x.stream(5s, 10s);
  REQUIRE(!end);
  const auto* why = std::get_if<k8s::api_failure>(&end.error());
  REQUIRE(why != nullptr);
  CHECK(why->retry_after == std::chrono::milliseconds{7000});
  CHECK_EQ(x.heard, "");
}
