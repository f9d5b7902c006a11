#define CAF_SUITE control_client

#include "embedded/flows/control_client.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/support/scripted_credentials.hpp"
#include "tests/support/scripted_exchange.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

using strings = std::vector<std::string>;
using reply = tl::expected<json, embedded::call_failure>;

struct world {
  boost::asio::io_context on;
  manual_time time;
  scripted_exchange exchange;
  std::shared_ptr<counted_tokens> tokens = std::make_shared<counted_tokens>();
  embedded::control_client client{exchange, time, k8s::cluster_access{{}, "/base", tokens, {}}};

  reply send(k8s::call what) {
    return run_flow(on, client.send(std::move(what)));
  }
  tl::expected<void, embedded::call_failure> stream() {
    auto take = [this](std::string_view bytes) {
      heard += bytes;
      return heard.size() < enough;
    };
    return run_flow(on, client.stream(k8s::get("/x?watch=true"), take, 90s, deadline{time, 5min}));
  }
  /// What the requests showed, in order.
  [[nodiscard]] strings shown() const {
    auto got = strings{};
    for (const auto& x : exchange.asked)
      got.emplace_back(header(x.what.headers, "authorization").value_or("none"));
    return got;
  }

  std::string heard;
  std::size_t enough = SIZE_MAX;
};

bool has(const std::string& in, const std::string& what) {
  return in.find(what) != std::string::npos;
}

} // namespace

SCENARIO("a request goes to the server's own path with a credential, and its answer is the object") {
  auto x = world{};
  x.exchange.then(http_answer(201, R"({"a":1})"));
  auto got = x.send(k8s::post("/things", {{"b", 2}}));
  REQUIRE(got);
  CHECK_EQ(got->dump(), R"({"a":1})");
  REQUIRE_EQ(x.exchange.asked.size(), 1u);
  CHECK_EQ(x.exchange.asked[0].what.target, "/base/things");
  CHECK_EQ(x.exchange.asked[0].what.body, R"({"b":2})");
  CHECK(x.exchange.asked[0].until == deadline(x.time, 10s));
  CHECK_EQ(x.shown(), strings{"Bearer tok-3f9a1"});
}

SCENARIO("a credential that does not come ends the request within its bound, and nothing is sent") {
  boost::asio::io_context on;
  leaping_time time;
  scripted_exchange exchange;
  const auto source = std::make_shared<no_token>();
  auto client = embedded::control_client{exchange, time, k8s::cluster_access{{}, {}, source, {}}};
  auto got = run_flow(on, client.send(k8s::get("/x")));
  REQUIRE(!got);
  CHECK_EQ(got.error().status, 0u);
  CHECK(has(got.error().message, "credential"));
  auto end = run_flow(on, client.stream(
                            k8s::get("/x?watch=true"), [](std::string_view) { return true; }, 1h, deadline{time, 1000h}));
  CHECK(!end);
  CHECK_EQ(source->asked, 2);
  CHECK(exchange.asked.empty());
}

SCENARIO("a caller that withdraws while the credential is fetched gets its end") {
  boost::asio::io_context on;
  manual_time time;
  scripted_exchange exchange;
  const auto source = std::make_shared<no_token>();
  auto client = embedded::control_client{exchange, time, k8s::cluster_access{{}, {}, source, {}}};
  auto flow = start_flow(on, client.send(k8s::get("/x")));
  run_until(on, [&] { return source->asked == 1; });
  flow.cancel();
  run_until(on, [&] { return flow.done(); });
  CHECK(!flow.get());
  CHECK(exchange.asked.empty());
}

SCENARIO("a read whose credential was refused goes out once more when there is another one, and only then") {
  GIVEN("a source that gives another token") {
    WHEN("the second one is taken") {
      auto x = world{};
      x.tokens->renews = true;
      x.exchange.then(http_answer(401));
      x.exchange.then(http_answer(200));
      CHECK(x.send(k8s::get("/x")));
      CHECK_EQ(x.shown(), strings({"Bearer tok-3f9a1", "Bearer tok-3f9a2"}));
    }
    WHEN("the second one is refused too") {
      auto x = world{};
      x.tokens->renews = true;
      x.exchange.then(http_answer(401));
      x.exchange.then(http_answer(401));
      auto got = x.send(k8s::get("/x"));
      REQUIRE(!got);
      CHECK_EQ(got.error().status, 401u);
      CHECK_EQ(x.exchange.asked.size(), 2u);
      CHECK_EQ(x.tokens->refusals, strings({"tok-3f9a1", "tok-3f9a2"}));
    }
    WHEN("a watch is refused") {
      auto x = world{};
      x.tokens->renews = true;
      x.exchange.then(http_answer(401));
      x.exchange.then(http_answer(200, ""), {"one"});
      CHECK(x.stream());
      CHECK_EQ(x.heard, "one");
      CHECK_EQ(x.shown(), strings({"Bearer tok-3f9a1", "Bearer tok-3f9a2"}));
    }
    WHEN("a write is refused") {
      auto x = world{};
      x.tokens->renews = true;
      x.exchange.then(http_answer(401));
      auto got = x.send(k8s::post("/x", json::object()));
      REQUIRE(!got);
      CHECK_EQ(got.error().status, 401u);
      CHECK_EQ(x.exchange.asked.size(), 1u);
      CHECK_EQ(x.tokens->refusals, strings{"tok-3f9a1"}); // the next request shows another one
    }
    WHEN("it is forbidden") {
      auto x = world{};
      x.tokens->renews = true;
      x.exchange.then(http_answer(403));
      CHECK(!x.send(k8s::get("/x")));
      CHECK_EQ(x.exchange.asked.size(), 1u);
      CHECK(x.tokens->refusals.empty());
    }
  }
  GIVEN("a source that has no other") {
    auto x = world{};
    x.exchange.then(http_answer(401));
    CHECK(!x.send(k8s::get("/x")));
    CHECK_EQ(x.exchange.asked.size(), 1u);
    x.exchange.then(http_answer(401));
    CHECK(!x.stream());
    CHECK_EQ(x.exchange.asked.size(), 2u);
  }
}

SCENARIO("a body that is not UTF-8 is refused by its request and not sent") {
  auto x = world{};
  auto got = x.send(k8s::merge_patch("/x", {{"a", "\xff"}}));
  REQUIRE(!got);
  CHECK(has(got.error().message, "PATCH /x"));
  CHECK(has(got.error().message, "not UTF-8"));
  CHECK_EQ(x.tokens->asked, 0);
  CHECK(x.exchange.asked.empty());
}

SCENARIO("what the server says of a refusal is kept, and a server that says nothing is quoted by its status") {
  auto x = world{};
  x.exchange.then(http_answer(409, R"({"kind":"Status","reason":"AlreadyExists","message":"there is one"})"));
  auto got = x.send(k8s::post("/x", json::object()));
  REQUIRE(!got);
  CHECK_EQ(got.error().status, 409u);
  CHECK_EQ(got.error().reason, "AlreadyExists");
  CHECK_EQ(got.error().message, "there is one");
  x.exchange.then(http_answer(502, "<html>"));
  got = x.send(k8s::get("/x"));
  REQUIRE(!got);
  CHECK_EQ(got.error().status, 502u);
  CHECK(has(got.error().message, "502"));
}

SCENARIO("a watch ends well with its stream or when enough was heard, and else says how it ended") {
  auto x = world{};
  x.exchange.then(http_answer(200, ""), {"one", "two"});
  CHECK(x.stream());
  CHECK_EQ(x.heard, "onetwo");
  CHECK(x.exchange.asked[0].silence == 90s);
  CHECK(x.exchange.asked[0].until == deadline(x.time, 5min));
  for (auto how : {io_failure::stage::receive, io_failure::stage::timeout, io_failure::stage::too_large}) {
    x.heard.clear();
    x.exchange.then(http_lost(how), {"one"});
    auto end = x.stream();
    REQUIRE(!end);
    CHECK_EQ(end.error().status, 0u);
    CHECK(has(end.error().message, to_string(how)));
    CHECK_EQ(x.heard, "one");
  }
  x.heard.clear();
  x.enough = 3;
  x.exchange.then(http_lost(io_failure::stage::receive), {"one", "two"});
  CHECK(x.stream());
  CHECK_EQ(x.heard, "one");
}
