#define CAF_SUITE in_cluster

#include "base/flows/http_server.hpp"
#include "k8s/flows/api_client.hpp"
#include "k8s/flows/kubeconfig.hpp"
#include "k8s/paths.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/support/temp_folder.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <array>
#include <sys/inotify.h>
#include <unistd.h>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

using reply = k8s::result<k8s::answer>;

bool has(const std::string& in, const std::string& what) {
  return in.find(what) != std::string::npos;
}

/// An API server over TLS that notes what it is asked, and the client of whoever has access.
struct pod {
  boost::asio::io_context on;
  real_flow_time time;
  test_authority authority{"cluster"};
  temp_folder in; // the service account
  std::vector<http_request> seen;
  std::unique_ptr<http_server> server;
  std::unique_ptr<http_exchange> exchange = make_http_exchange(time);

  pod() {
    in.write("ca.crt", authority.certificate());
    in.write("token", "t1\n");
    in.write("namespace", " mine\n\n");
    auto how = http_server_options{};
    const auto identity = authority.issue("IP:127.0.0.1");
    how.certificate = identity.certificate;
    how.key = identity.key;
    auto made = make_http_server(on.get_executor(), how,
                                 [this](http_request what, http_responder& to) { return answer(this, std::move(what), &to); });
    REQUIRE(made);
    server = std::move(*made);
  }
  static boost::asio::awaitable<void> answer(pod* me, http_request what, http_responder* to) {
    me->seen.push_back(std::move(what));
    auto ok = http_response{200, {{"Content-Type", "application/json"}}, "{}"};
    co_await to->send(std::move(ok));
  }
  k8s::cluster_access access() {
    auto got = k8s::in_cluster("127.0.0.1", std::to_string(server->port()), in.path());
    REQUIRE(got);
    return *got;
  }
  std::unique_ptr<k8s::api> client(k8s::cluster_access how) {
    auto made = k8s::make_api_client(*exchange, time, {how.server, how.base_path, how.credentials, 30'000, {}});
    REQUIRE(made);
    return std::move(*made);
  }
  reply get(k8s::api& api, std::string path = "/x") {
    return run_flow(on, api.send(k8s::get(std::move(path)), deadline{time, 20s}));
  }
  [[nodiscard]] std::string authorization(std::size_t n) const {
    return std::string{header(seen.at(n).headers, "Authorization").value_or("none")};
  }
};

const k8s::api_failure* failure_of(const reply& x) {
  return x ? nullptr : std::get_if<k8s::api_failure>(&x.error());
}

} // namespace

// [C 8] no pod
SCENARIO("without the variables of a pod both are named and no file is read") {
  pod it;
  const auto watch = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  for (const auto* name : {"token", "ca.crt", "namespace"})
    REQUIRE_NE(::inotify_add_watch(watch, (it.in.path() / name).c_str(), IN_OPEN), -1);
  auto room = std::array<char, 4096>{};
  for (const auto& [host, port] : {std::pair{"", "443"}, std::pair{"10.0.0.1", ""}, std::pair{"", ""}}) {
    auto got = k8s::in_cluster(host, port, it.in.path());
    REQUIRE(!got);
    CHECK(has(got.error(), "KUBERNETES_SERVICE_HOST"));
    CHECK(has(got.error(), "KUBERNETES_SERVICE_PORT"));
    CHECK_EQ(::read(watch, room.data(), room.size()), -1);
  }
  CHECK(k8s::in_cluster("10.0.0.1", "443", it.in.path()));
  CHECK(::read(watch, room.data(), room.size()) > 0); // the watch sees a reading
  ::close(watch);
}

// [C 9] white space around what the files hold
SCENARIO("the token and the namespace of a pod are sent without the white space around them") {
  pod it;
  auto access = it.access();
  auto api = it.client(access);
  CHECK(it.get(*api, k8s::pods_path(access.name_space)));
  REQUIRE_EQ(it.seen.size(), 1u);
  CHECK_EQ(it.seen[0].target, "/api/v1/namespaces/mine/pods");
  CHECK_EQ(it.authorization(0), "Bearer t1");
}

// [C 10] a rotated token
SCENARIO("a token that is rewritten between two requests is the second one's") {
  pod it;
  auto api = it.client(it.access());
  CHECK(it.get(*api));
  it.in.write("token", "t2\n");
  CHECK(it.get(*api));
  CHECK_EQ(it.authorization(0), "Bearer t1");
  CHECK_EQ(it.authorization(1), "Bearer t2");
}

// [C 11] a token that is not there for a while
SCENARIO("a missing token fails the request that wants it and no other") {
  pod it;
  std::filesystem::remove(it.in.path() / "token");
  auto api = it.client(it.access());
  auto got = it.get(*api);
  REQUIRE(failure_of(got));
  CHECK(!failure_of(got)->sent);
  CHECK(has(failure_of(got)->cause, "token"));
  CHECK(it.seen.empty());
  it.in.write("token", "t3");
  CHECK(it.get(*api));
  CHECK_EQ(it.authorization(0), "Bearer t3");
}

SCENARIO("a pod's files that are missing or odd are refused by name") {
  pod it;
  CHECK(has(k8s::in_cluster("10.0.0.1", "x", it.in.path()).error(), "KUBERNETES_SERVICE_PORT"));
  for (const auto* name : {"namespace", "ca.crt"}) {
    std::filesystem::remove(it.in.path() / name);
    CHECK(has(k8s::in_cluster("10.0.0.1", "443", it.in.path()).error(), name));
  }
}

// [C 12] slashes at the end of the server
SCENARIO("slashes at the end of a server's URL are not doubled") {
  pod it;
  const auto text =
    "current-context: o\ncontexts: [{name: o, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: 'https://127.0.0.1:"
    + std::to_string(it.server->port()) + "//', certificate-authority: ca.crt}}]\n";
  auto access = k8s::access_of(k8s::read_kubeconfig_text(text, it.in.path()).value());
  REQUIRE(access);
  auto api = it.client(*access);
  CHECK(it.get(*api, "/api/v1/pods"));
  REQUIRE_EQ(it.seen.size(), 1u);
  CHECK_EQ(it.seen[0].target, "/api/v1/pods");
}

// [C 13] whose certificate
SCENARIO("a server of another authority is not believed, and gets no token") {
  pod it;
  auto access = it.access();
  const test_authority stranger{"stranger"};
  access.server.ca = stranger.certificate();
  auto wrong = it.client(access);
  auto got = it.get(*wrong);
  REQUIRE(failure_of(got));
  CHECK(failure_of(got)->how == k8s::api_failure::transport::connect);
  CHECK(!failure_of(got)->status);
  CHECK(!failure_of(got)->sent);
  CHECK(it.seen.empty());
  access.server.ca = it.authority.certificate();
  auto right = it.client(access);
  CHECK(it.get(*right));
  WHEN("the name is another one") {
    access.server.server_name = "elsewhere.test";
    auto other = it.client(access);
    CHECK(failure_of(it.get(*other)));
    CHECK_EQ(it.seen.size(), 1u);
    THEN("it is believed only unverified") {
      access.server.ca.clear();
      access.server.insecure = true;
      auto careless = it.client(access);
      CHECK(it.get(*careless));
    }
  }
}
