// The API client against a real kube-apiserver, over TLS, as a kubeconfig says. Run by `realcluster/up -- this`.
#define CAF_SUITE api_client_real

#include "base/random.hpp"
#include "k8s/flows/api_client.hpp"
#include "k8s/flows/kubeconfig.hpp"
#include "tests/support/fault_proxy.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/support/temp_folder.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <cstdlib>
#include <fstream>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
using nlohmann::json;
using happens = mishap::kind;

namespace {

using reply = k8s::result<k8s::answer>;
const std::string maps = "/api/v1/namespaces/default/configmaps";

std::string variable(const char* name) {
  const auto* value = std::getenv(name);
  REQUIRE(value);
  return value;
}

json map_of(const std::string& name) {
  return {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}}, {"data", {{"a", std::string(2000, 'x')}}}};
}

struct client {
  boost::asio::io_context on;
  real_flow_time time;
  std::unique_ptr<http_exchange> exchange = make_http_exchange(time);
  std::vector<std::unique_ptr<k8s::api>> all;

  k8s::api& as(k8s::cluster_access how, std::int64_t bound_ms = 30'000) {
    auto made = k8s::make_api_client(*exchange, time, {how.server, how.base_path, how.credentials, bound_ms, {}});
    REQUIRE(made);
    return *all.emplace_back(std::move(*made));
  }
  reply send(k8s::api& to, k8s::call what) {
    return run_flow(on, to.send(std::move(what), deadline{time, 30s}));
  }
};

k8s::cluster_access context(const char* name) {
  auto got = k8s::read_kubeconfigs(variable("KUBECONFIG"), name);
  if (!got)
    CAF_FAIL(got.error());
  return *got;
}

const std::string credential_head = R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)";

std::string text_in(const std::string& file) {
  auto from = std::ifstream{file};
  return {std::istreambuf_iterator<char>{from}, {}};
}

/// Access by a kubeconfig in `in`, whose plug-in runs `script` there.
k8s::cluster_access plugin_context(const temp_folder& in, const std::string& script) {
  in.write_script("plugin", "cd \"$(dirname \"$0\")\"\n" + script);
  in.write("config", "current-context: o\ncontexts: [{name: o, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: '"
                       + variable("KUBE_SERVER") + "', certificate-authority: '" + variable("KUBE_CA")
                       + "'}}]\nusers: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, "
                         "interactiveMode: Never}}}]\n");
  auto got = k8s::read_kubeconfig(in.path() / "config");
  if (!got)
    CAF_FAIL(got.error());
  return *got;
}

bool is_credential_failure(const reply& x, unsigned status) {
  const auto* why = x ? nullptr : std::get_if<k8s::credential_failure>(&x.error());
  return why && why->status == status;
}

bool is_lost(const reply& x) {
  const auto* why = x ? nullptr : std::get_if<k8s::api_failure>(&x.error());
  return why && why->how == k8s::api_failure::transport::connect;
}

} // namespace

SCENARIO("client certificate and token are each let in, and a user without rights is not") {
  client it;
  CHECK(it.send(it.as(context("admin")), k8s::get(maps)));
  CHECK(it.send(it.as(context("admin-token")), k8s::get(maps)));
  CHECK(is_credential_failure(it.send(it.as(context("nobody")), k8s::get(maps)), 403));
}

SCENARIO("a plug-in whose first token is refused runs once more and the read goes out again") {
  client it;
  temp_folder in;
  in.write("token", variable("KUBE_TOKEN") + "\n");
  auto& api = it.as(plugin_context(in, "echo run >>runs\ntest -e second && read token <token || token=stale\n: >second\n"
                                       "echo '"
                                         + credential_head + "{\"token\":\"'$token'\"}}'\n"));
  CHECK(it.send(api, k8s::get(maps)));
  CHECK_EQ(in.read("runs"), "run\nrun\n");
  CHECK(it.send(api, k8s::get(maps)));
  CHECK_EQ(in.read("runs"), "run\nrun\n");
}

SCENARIO("a plug-in's client certificate is shown") {
  client it;
  temp_folder in;
  const auto status =
    json{{"clientCertificateData", text_in(variable("KUBE_CLIENT_CERT"))}, {"clientKeyData", text_in(variable("KUBE_CLIENT_KEY"))}};
  in.write("answer", credential_head + status.dump() + "}");
  CHECK(it.send(it.as(plugin_context(in, "cat answer\n")), k8s::get(maps)));
}

SCENARIO("what goes wrong between the client and a real API server is taken for what it is") {
  client it;
  auto& direct = it.as(context("admin"));
  auto access = context("admin-token");
  const test_authority authority{"proxy"};
  const auto proxy_for = [&](std::vector<proxy_step> steps) {
    return std::make_unique<fault_proxy>(fault_proxy_options{access.server, authority.issue("IP:127.0.0.1"), std::move(steps)});
  };
  const auto through = [&](const fault_proxy& proxy, std::int64_t bound_ms) -> k8s::api& {
    auto how = access;
    how.server = http_server_address{};
    how.server.tls = true;
    how.server.host = "127.0.0.1";
    how.server.port = proxy.port();
    how.server.ca = authority.certificate();
    return it.as(how, bound_ms);
  };
  GIVEN("an answer that is lost after the commit") {
    const auto name = "lost-" + new_name_suffix(8);
    auto proxy = proxy_for({{"POST ", {happens::lose_answer, true}}});
    auto got = it.send(through(*proxy, 30'000), k8s::post(maps, map_of(name)));
    REQUIRE(is_lost(got));
    CHECK(k8s::outcome_unknown(got.error()));
    CHECK(it.send(direct, k8s::get(maps + "/" + name))); // it was carried out, once
    CHECK_EQ(proxy->requests().size(), 1u);
  }
  GIVEN("a request that is lost") {
    const auto name = "unsent-" + new_name_suffix(8);
    auto proxy = proxy_for({{"POST ", {happens::lose_request}}, {"GET ", {}}, {"GET ", {happens::lose_request}}});
    auto& api = through(*proxy, 30'000);
    CHECK(is_lost(it.send(api, k8s::post(maps, map_of(name)))));
    CHECK(!it.send(direct, k8s::get(maps + "/" + name)));
    REQUIRE(it.send(api, k8s::get(maps)));
    CHECK(it.send(api, k8s::get(maps))); // a read on a reused connection goes out again
    CHECK_EQ(proxy->requests().size(), 4u);
  }
  GIVEN("a connection that goes half-open in the middle of an answer, and one that drips") {
    const auto name = "slow-" + new_name_suffix(8);
    auto slow = mishap{happens::drip};
    slow.piece = 100;
    slow.gap = 0ms;
    auto proxy = proxy_for({{"POST ", slow}, {"GET ", {happens::stall_answer, false, 300}}});
    auto& api = through(*proxy, 2'000);
    auto made = it.send(api, k8s::post(maps, map_of(name)));
    REQUIRE(made);
    CHECK_EQ(made->value()["data"]["a"].get<std::string>().size(), 2000u);
    auto got = it.send(api, k8s::get(maps + "/" + name));
    REQUIRE(!got);
    CHECK(std::holds_alternative<k8s::api_timeout>(got.error()));
    CHECK(proxy->wait_for_closed(1));
  }
}
