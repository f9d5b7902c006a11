#define CAF_SUITE api_faults

#include "embedded/flows/api_server.hpp"
#include "k8s/flows/api_client.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/fault_proxy.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/support/scripted_server.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using nlohmann::json;
using happens = mishap::kind;

namespace {

using reply = k8s::result<k8s::answer>;
const std::string pods = "/api/v1/namespaces/default/pods";
const std::string token = "tok-3f9a";

mishap that(happens what, std::size_t after = 0) {
  auto got = mishap{};
  got.what = what;
  got.after = after;
  return got;
}

json pod(const std::string& name) {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}, {"namespace", "default"}}},
          {"spec", {{"containers", {{{"name", "main"}, {"image", "none"}}}}}}};
}

/// The embedded API server over TLS, the fault proxy in front of it, over TLS too, and a client of the proxy with a token.
struct cluster {
  boost::asio::io_context on;
  real_flow_time time;
  test_authority authority{"cluster"};
  std::unique_ptr<http_exchange> exchange;
  std::unique_ptr<embedded::api_server> server;
  std::unique_ptr<fault_proxy> proxy;
  std::unique_ptr<k8s::api> api;    // through the proxy
  std::unique_ptr<k8s::api> direct; // past it

  explicit cluster(std::vector<proxy_step> steps, std::int64_t bound_ms = 30'000, http_pool_limits kept = {}) :
    exchange(make_http_exchange(time, kept)) {
    const auto identity = authority.issue("IP:127.0.0.1");
    auto how = embedded::api_server_options{};
    how.http.certificate = identity.certificate;
    how.http.key = identity.key;
    how.tokens.push_back({secret{token}, {"admin", {"system:masters"}}});
    how.log_entries = 100;
    auto made = embedded::make_api_server(on.get_executor(), time, std::move(how));
    REQUIRE(made);
    server = std::move(*made);
    proxy = std::make_unique<fault_proxy>(fault_proxy_options{at(server->port()), identity, std::move(steps)});
    api = client(at(proxy->port()), bound_ms);
    direct = client(at(server->port()), bound_ms);
  }
  ~cluster() {
    proxy.reset();
    auto closed = false;
    server->close([&] { closed = true; });
    run_until(on, [&] { return closed; });
  }
  [[nodiscard]] http_server_address at(std::uint16_t port) const {
    auto got = http_server_address{};
    got.tls = true;
    got.host = "127.0.0.1";
    got.port = port;
    got.ca = authority.certificate();
    return got;
  }
  std::unique_ptr<k8s::api> client(http_server_address where, std::int64_t bound_ms = 30'000) {
    auto made = k8s::make_api_client(*exchange, time, {std::move(where), {}, k8s::fixed_token(secret{token}), bound_ms, {}});
    REQUIRE(made);
    return std::move(*made);
  }
  reply send(k8s::call what) {
    return run_flow(on, api->send(std::move(what), deadline{time, 20s}));
  }
  /// Whether the server has an object of that name, asked past the proxy.
  bool has(const std::string& name) {
    return run_flow(on, direct->send(k8s::get(pods + "/" + name), deadline{time, 20s})).has_value();
  }
  /// The requests that have arrived at the server, those of `has` included.
  std::size_t arrived(const std::string& method) {
    return static_cast<std::size_t>(std::ranges::count(server->requests(), method, &embedded::logged_request::method));
  }
};

const k8s::api_failure* lost(const reply& x) {
  const auto* got = x ? nullptr : std::get_if<k8s::api_failure>(&x.error());
  return got && got->how == k8s::api_failure::transport::connect ? got : nullptr;
}

bool timed_out(const reply& x) {
  return !x && std::holds_alternative<k8s::api_timeout>(x.error());
}

} // namespace

SCENARIO("a write whose answer is lost after the server has committed is of unknown outcome and is not sent again") {
  for (auto after : {0u, 5u, 60u}) {
    cluster c{{{"POST ", that(happens::lose_answer, after)}}};
    REQUIRE(c.send(k8s::get(pods))); // a connection to reuse
    auto got = c.send(k8s::post(pods, pod("a")));
    REQUIRE(lost(got));
    CHECK(k8s::outcome_unknown(got.error()));
    CHECK_EQ(c.arrived("POST"), 1u);
    CHECK(c.has("a"));
    CHECK_EQ(c.proxy->connections(), 1u);
  }
}

SCENARIO("a write that is lost on its way is of unknown outcome and is not sent again, whatever it is") {
  for (auto reset : {false, true}) {
    auto loss = that(happens::lose_request);
    loss.reset = reset;
    for (const auto& what : {k8s::post(pods, pod("a")), k8s::merge_patch(pods + "/a", json::object()),
                             k8s::json_patch(pods + "/a", json::array()), k8s::remove(pods + "/a")}) {
      cluster c{{{what.method, loss}}};
      REQUIRE(c.send(k8s::get(pods)));
      auto got = c.send(what);
      REQUIRE(lost(got));
      CHECK(k8s::outcome_unknown(got.error()));
      CHECK_EQ(c.arrived(what.method), 0u);
      CHECK_EQ(c.proxy->requests().size(), 2u);
      CHECK_EQ(c.proxy->connections(), 1u);
    }
  }
}

SCENARIO("a read that a reused connection lost before any byte of the answer goes out once more") {
  for (auto what : {happens::lose_request, happens::lose_answer}) {
    cluster c{{{"GET ", {}}, {"GET ", that(what)}}};
    REQUIRE(c.send(k8s::get(pods)));
    CHECK(c.send(k8s::get(pods)));
    CHECK_EQ(c.proxy->requests().size(), 3u);
    CHECK_EQ(c.proxy->connections(), 2u);
  }
  GIVEN("that its second sending is lost as well") {
    cluster c{{{"GET ", {}}, {"GET ", that(happens::lose_request), 2}}};
    REQUIRE(c.send(k8s::get(pods)));
    CHECK(lost(c.send(k8s::get(pods))));
    CHECK_EQ(c.proxy->requests().size(), 3u);
  }
  GIVEN("a connection that is not reused") {
    cluster c{{{"GET ", that(happens::lose_request)}}};
    CHECK(lost(c.send(k8s::get(pods))));
    CHECK_EQ(c.proxy->requests().size(), 1u);
  }
  GIVEN("that some of the answer has come") {
    cluster c{{{"GET ", {}}, {"GET ", that(happens::lose_answer, 20)}}};
    REQUIRE(c.send(k8s::get(pods)));
    CHECK(lost(c.send(k8s::get(pods))));
    CHECK_EQ(c.proxy->requests().size(), 2u);
  }
}

SCENARIO("a half-open connection ends with the bound of the request and is closed") {
  for (const auto& silent : {that(happens::stall_request), that(happens::stall_answer, 0), that(happens::stall_answer, 40)}) {
    cluster c{{{"POST ", silent}}, 2000}; // time enough to arrive on a machine busy with something else
    auto got = c.send(k8s::post(pods, pod("a")));
    REQUIRE(timed_out(got));
    CHECK(k8s::outcome_unknown(got.error()));
    CHECK(c.proxy->wait_for_closed(1));
    CHECK_EQ(c.has("a"), silent.what == happens::stall_answer);
    CHECK_EQ(c.proxy->requests().size(), 1u);
  }
}

SCENARIO("an answer that drips in is the answer, unless it takes too long") {
  auto slow = that(happens::drip);
  slow.piece = 1;
  slow.gap = 0ms;
  auto slower = slow;
  slower.gap = 60s;
  cluster patient{{{"POST ", slow}}};
  auto got = patient.send(k8s::post(pods, pod("a")));
  REQUIRE(got);
  CHECK_EQ(got->value()["metadata"]["name"].get<std::string>(), "a");
  cluster hasty{{{"GET ", slower}}, 1000};
  CHECK(timed_out(hasty.send(k8s::get(pods))));
}

SCENARIO("an answer of something in between is taken by its status and headers") {
  const auto says = [](unsigned status, const std::string& more) {
    auto got = that(happens::answer);
    got.text = script::answer(status, "{}", "application/json", more);
    return got;
  };
  cluster c{{{"POST ", says(429, "Retry-After: 7\r\n")}, {"POST ", says(302, "Location: /elsewhere\r\n")}, {"POST ", says(502, "")}}};
  for (auto status : {429u, 302u, 502u}) {
    auto got = c.send(k8s::post(pods, pod("a")));
    const auto* why = got ? nullptr : std::get_if<k8s::api_failure>(&got.error());
    REQUIRE(why);
    CHECK_EQ(why->status.value_or(0), status);
    CHECK_EQ(why->retry_after.value_or(0ms).count(), status == 429 ? 7000 : 0);
  }
  CHECK_EQ(c.arrived("POST"), 0u);
  CHECK(c.send(k8s::post(pods, pod("a")))); // the same connection serves on
  CHECK_EQ(c.proxy->connections(), 1u);
}

SCENARIO("another client certificate or authority has a connection of its own") {
  cluster c{{}};
  const auto mine = c.authority.issue("DNS:me");
  const auto ask = [&](http_server_address where) {
    auto api = c.client(std::move(where));
    REQUIRE(run_flow(c.on, api->send(k8s::get(pods), deadline{c.time, 20s})));
  };
  auto where = c.at(c.proxy->port());
  ask(where);
  ask(where);
  CHECK_EQ(c.proxy->connections(), 1u);
  where.certificate = mine.certificate;
  where.key = mine.key;
  ask(where);
  CHECK_EQ(c.proxy->connections(), 2u);
  where.ca += test_authority{"another"}.certificate();
  ask(where);
  ask(where);
  CHECK_EQ(c.proxy->connections(), 3u);
}

SCENARIO("a kept connection that waits too long is closed without anybody asking") {
  auto limits = http_pool_limits{};
  limits.longest_idle = 50ms;
  cluster c{{}, 30'000, limits};
  REQUIRE(c.send(k8s::get(pods)));
  run_until(c.on, [&] { return c.proxy->wait_for_closed(1, 0s); });
  CHECK(c.send(k8s::get(pods)));
  CHECK_EQ(c.proxy->connections(), 2u);
}

SCENARIO("of many requests at once no more connections are kept than the pool may hold") {
  auto limits = http_pool_limits{};
  limits.idle_per_server = 2;
  cluster c{{}, 30'000, limits};
  auto all = std::vector<started<reply>>{};
  for (auto i = 0; i < 5; ++i)
    all.push_back(start_flow(c.on, c.api->send(k8s::get(pods), deadline{c.time, 20s})));
  run_until(c.on, [&] { return std::ranges::all_of(all, [](const auto& x) { return x.done(); }); });
  for (auto& x : all)
    CHECK(x.get());
  CHECK_EQ(c.proxy->connections(), 5u);
  CHECK(c.proxy->wait_for_closed(3));
  CHECK(c.send(k8s::get(pods)));
  CHECK_EQ(c.proxy->connections(), 5u);
}
