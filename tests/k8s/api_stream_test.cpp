#define CAF_SUITE api_stream

#include "k8s/flows/api_client.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/support/scripted_server.hpp"

#include <caf/test/bdd_dsl.hpp>

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
    const auto end = silent ? x.stream(1s, 20s) : x.stream(20s, 1s);
    REQUIRE(!end);
    CHECK(std::holds_alternative<k8s::api_timeout>(end.error()));
    CHECK_EQ(x.heard, "one");
    CHECK(server.wait_for_closed(1));
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
