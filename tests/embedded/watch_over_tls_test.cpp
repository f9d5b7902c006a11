#define CAF_SUITE watch_over_tls

#include "embedded/flows/cluster.hpp"
#include "k8s/flows/api_client.hpp"
#include "k8s/flows/watches.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/support/tcp_relay.hpp"
#include "tests/support/watch_log.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <future>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

constexpr auto collection = "/api/v1/namespaces/default/configmaps";

const k8s::projection& nothing_else() {
  static const auto it = k8s::projection{"/data"};
  return it;
}

/// An embedded cluster, its API over TLS through a relay, and a watch of the ConfigMaps.
struct world {
  world() {
    auto how = embedded::cluster_options{};
    how.guest_program = PADDOCK_GUEST_PROGRAM;
    auto started = embedded::start_cluster(std::move(how));
    if (!started)
      CAF_FAIL(started.error());
    cluster = std::move(*started);
    relay = std::make_unique<tcp_relay>(on, cluster->server().port);
    auto address = cluster->server();
    address.port = relay->port();
    api = make(address);
    direct = make(cluster->server());
    port = k8s::make_watches(
      *api, time, *flows, [] { return 0.0; }, k8s::list_watch_options{});
    port->start(1, {"default", {collection, {}, {}}, &nothing_else()}, log.teller());
  }
  ~world() {
    auto closed = false;
    flows->close([&] { closed = true; });
    run_until(on, [&] { return closed; });
  }
  std::unique_ptr<k8s::streaming_api> make(const http_server_address& address) {
    auto made = k8s::make_api_client(*exchange, time, {address, {}, k8s::fixed_token(cluster->token()), 30'000, {}});
    if (!made)
      CAF_FAIL(made.error());
    return std::move(*made);
  }
  void must(k8s::call what) {
    auto got = run_flow(on, direct->send(std::move(what), deadline{time, 10s}));
    if (!got)
      CAF_FAIL(k8s::to_string(got.error()));
  }
  void put(const std::string& name) {
    must(k8s::post(collection, {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}}}));
  }
  void change(const std::string& name, int value) {
    must(k8s::merge_patch(collection + ("/" + name), {{"data", {{"value", std::to_string(value)}}}}));
  }
  void until(const std::function<bool()>& enough) {
    run_until(on, enough);
  }
  std::string value_of(const std::string& name) {
    const auto found = log.cache.find({"default", name});
    return found ? found->open()->value("/data/value"_json_pointer, "") : "";
  }

  boost::asio::io_context on;
  real_flow_time time;
  std::unique_ptr<embedded::cluster> cluster;
  std::unique_ptr<http_exchange> exchange = make_http_exchange(time);
  std::unique_ptr<tcp_relay> relay;
  std::unique_ptr<k8s::streaming_api> api;    // through the relay
  std::unique_ptr<k8s::streaming_api> direct; // past it
  watch_log log;
  std::unique_ptr<flow_group> flows = std::make_unique<flow_group>(on.get_executor());
  std::unique_ptr<k8s::watch_port> port;
};

} // namespace

SCENARIO("a collection is followed over TLS, and a reset connection loses and doubles nothing") {
  auto x = world{};
  x.until([&] { return x.log.lists == 1; });
  x.put("a");
  x.put("b");
  x.until([&] { return x.log.history("a") == "+" && x.log.history("b") == "+"; });
  for (auto round = 1; round <= 5; ++round) {
    x.relay->cut();
    x.change("a", round);
    x.until([&] { return x.value_of("a") == std::to_string(round); });
  }
  x.relay->cut();
  x.must(k8s::remove(collection + std::string{"/b"}));
  x.until([&] { return !x.log.cache.find({"default", "b"}); });
  CHECK_EQ(x.log.history("a"), "+~~~~~");
  CHECK_EQ(x.log.history("b"), "+-");
  CHECK_EQ(x.log.lists, 1u);
  CHECK_GE(x.log.lost.size(), 6u);
  CHECK_GE(x.relay->connections, 7u);
}

SCENARIO("who may not read is told so") {
  auto x = world{};
  auto refused = watch_log{};
  auto address = x.cluster->server();
  auto made = k8s::make_api_client(*x.exchange, x.time, {address, {}, k8s::fixed_token(secret{"nobody's"}), 30'000, {}});
  REQUIRE(made);
  auto port = k8s::make_watches(
    **made, x.time, *x.flows, [] { return 0.5; }, k8s::list_watch_options{});
  port->start(2, {"default", {collection, {}, {}}, &nothing_else()}, refused.teller());
  x.until([&] { return !refused.lost.empty(); });
  CHECK_EQ(refused.lost[0].status, 401u);
  CHECK(refused.lost[0].text.find("nobody's") == std::string::npos);
  CHECK_EQ(refused.lists, 0u);
  port->stop(2);
}
