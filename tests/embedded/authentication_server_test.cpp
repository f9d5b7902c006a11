#define CAF_SUITE authentication_server

#include "base/flows/http.hpp"
#include "embedded/flows/api_server.hpp"
#include "embedded/flows/authentication_key.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/check_json.hpp"
#include "tests/support/run_flow.hpp"

#include <boost/asio/io_context.hpp>
#include <caf/test/bdd_dsl.hpp>

#include <fstream>
#include <sys/stat.h>

using namespace paddock;
using namespace paddock::embedded;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

/// A server that speaks TLS and takes certificates of `clients`.
struct secured {
  boost::asio::io_context on;
  real_flow_time time;
  std::unique_ptr<http_exchange> exchange = make_http_exchange(time);
  test_authority servers{"servers"};
  test_authority clients{"clients"};
  std::unique_ptr<api_server> server;
  http_server_address where;

  secured() {
    const auto identity = servers.issue("IP:127.0.0.1");
    api_server_options options;
    options.http.certificate = identity.certificate;
    options.http.key = identity.key;
    options.http.client_authority = clients.certificate();
    options.tokens.push_back({secret{"t0ken"}, "somebody"});
    auto made = make_api_server(on.get_executor(), time, std::move(options));
    if (!made)
      CAF_FAIL(made.error());
    server = std::move(*made);
    where.tls = true;
    where.host = "127.0.0.1";
    where.port = server->port();
    where.ca = servers.certificate();
  }
  ~secured() {
    auto closed = false;
    server->close([&] { closed = true; });
    run_until(on, [&] { return closed; });
  }

  io_result<http_response> ask(const identity_pem& shown, const std::string& token) {
    auto to = where;
    to.certificate = shown.certificate;
    to.key = shown.key;
    http_request what{"POST",
                      "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                      {{"Content-Type", "application/json"}},
                      R"({"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"})"};
    if (!token.empty())
      what.headers.emplace_back("Authorization", "Bearer " + token);
    return run_flow(on, exchange->send(to, std::move(what), {}, deadline{time, 10s}));
  }
};

} // namespace

SCENARIO("a client's certificate names the user and its groups, before any token") {
  secured s;
  const auto got = s.ask(s.clients.issue_client("dora", {"builders", "system:masters"}), "wrong");
  REQUIRE(got.has_value());
  CHECK_EQ(got->status, 201u);
  const auto user = json::parse(got->body)["status"]["userInfo"];
  CHECK_JSON(user["username"], "dora");
  CHECK_JSON(user["groups"], (json{"builders", "system:masters", "system:authenticated"}));
  CHECK(user["extra"]["authentication.kubernetes.io/credential-id"][0].get<std::string>().starts_with("X509SHA256="));
}

SCENARIO("a certificate of another authority is not believed") {
  secured s;
  const test_authority strangers{"clients"};
  const auto got = s.ask(strangers.issue_client("dora", {"system:masters"}), "t0ken");
  CHECK(!got.has_value());
}

SCENARIO("who shows no certificate is known by its token") {
  secured s;
  const auto got = s.ask({}, "t0ken");
  REQUIRE(got.has_value());
  CHECK_EQ(got->status, 201u);
  CHECK_JSON(json::parse(got->body)["status"]["userInfo"]["username"], "somebody");
  const auto anonymous = s.ask({}, "");
  REQUIRE(anonymous.has_value());
  CHECK_EQ(anonymous->status, 403u);
}

SCENARIO("the key of service accounts' tokens is made once and is its owner's") {
  auto name = (std::filesystem::temp_directory_path() / "paddock-key-XXXXXX").string();
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  const auto folder = std::filesystem::path{name};
  const auto key = keep_signing_key(folder);
  REQUIRE(key.has_value());
  CHECK_EQ(key->reveal().size(), 64u);
  const auto again = keep_signing_key(folder);
  REQUIRE(again.has_value());
  CHECK(*again == *key);
  struct stat info {};
  REQUIRE_EQ(::stat((folder / "service-accounts.key").c_str(), &info), 0);
  CHECK_EQ(info.st_mode & 0777, 0600u);
  WHEN("the file is cut short") {
    std::ofstream{folder / "service-accounts.key", std::ios::trunc} << "ab";
    const auto broken = keep_signing_key(folder);
    REQUIRE(!broken.has_value());
    CHECK_NE(broken.error().find("service-accounts.key"), std::string::npos);
  }
  std::filesystem::remove_all(folder);
}
