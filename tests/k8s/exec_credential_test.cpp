#define CAF_SUITE exec_credential

#include "k8s/exec_credential.hpp"
#include "tests/support/check_json.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock::k8s;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const std::string v1 = "client.authentication.k8s.io/v1";

std::string printed(const json& status, const std::string& version = v1) {
  return json{{"apiVersion", version}, {"kind", "ExecCredential"}, {"status", status}}.dump();
}

std::string refusal(const std::string& text) {
  auto got = read_exec_credential(text, v1);
  return got ? "none" : got.error();
}

std::int64_t expiry(const std::string& text) {
  auto got = read_exec_credential(printed({{"token", "t"}, {"expirationTimestamp", text}}), v1);
  if (!got || !got->expires)
    return -1;
  return std::chrono::duration_cast<std::chrono::seconds>(got->expires->time_since_epoch()).count();
}

bool has(const std::string& in, const std::string& what) {
  return in.find(what) != std::string::npos;
}

} // namespace

SCENARIO("an ExecCredential gives a token, a client certificate, or both") {
  auto token = read_exec_credential(printed({{"token", "t1"}}), v1);
  REQUIRE(token);
  CHECK_EQ(token->token.reveal(), "t1");
  CHECK(token->certificate.empty());
  CHECK(!token->expires);
  auto both = read_exec_credential(printed({{"token", "t1"}, {"clientCertificateData", "C"}, {"clientKeyData", "K"}}), v1);
  REQUIRE(both);
  CHECK_EQ(both->certificate, "C");
  CHECK_EQ(both->key.reveal(), "K");
  const auto beta = std::string{"client.authentication.k8s.io/v1beta1"};
  CHECK(read_exec_credential(printed({{"token", "t1"}}, beta), beta));
}

SCENARIO("what is no ExecCredential is refused in words of our own") {
  const auto secret_text = std::string{"hush-7c1"};
  CHECK(has(refusal(secret_text), "not a JSON object"));
  CHECK(has(refusal("[\"" + secret_text + "\"]"), "not a JSON object"));
  CHECK(has(refusal(R"({"kind":"hush-7c1","apiVersion":"client.authentication.k8s.io/v1"})"), "no ExecCredential"));
  CHECK(has(refusal(printed({{"token", secret_text}}, "client.authentication.k8s.io/v1beta1")), "version"));
  CHECK(has(refusal(printed(secret_text)), "no status"));
  CHECK(has(refusal(printed({{"token", json::array({secret_text})}})), "not a text"));
  CHECK(has(refusal(printed({{"token", ""}})), "neither"));
  CHECK(has(refusal(printed({{"clientCertificateData", secret_text}})), "belong together"));
  CHECK(has(refusal(printed({{"token", "t"}, {"clientKeyData", secret_text}})), "belong together"));
  CHECK(has(refusal(printed({{"token", secret_text + "\r\nX: 1"}})), "one line"));
  CHECK(has(refusal(printed({{"token", secret_text}, {"expirationTimestamp", "tomorrow"}})), "RFC 3339"));
  for (const auto& text : {secret_text, printed({{"token", secret_text + "\n"}}), printed({{"clientCertificateData", secret_text}})})
    CHECK(!has(refusal(text), "hush"));
}

SCENARIO("an expiry is an RFC 3339 instant with any offset") {
  CHECK_EQ(expiry("2026-01-02T03:04:05Z"), 1767323045);
  CHECK_EQ(expiry("2026-01-02T03:04:05.999999Z"), 1767323045);
  CHECK_EQ(expiry("2026-01-02T05:34:05+02:30"), 1767323045);
  CHECK_EQ(expiry("2026-01-01T21:04:05-06:00"), 1767323045);
  for (const auto* text :
       {"2026-01-02T03:04:05", "2026-13-02T03:04:05Z", "2026-02-30T03:04:05Z", "2026-01-02T25:04:05Z", "2026-01-02T03:04:05.Z",
        "2026-01-02T03:04:05+99:00", "2026-01-02T03:04:05+0200", "2026-01-02 03:04:05Z", "2026-01-02T03:04:05ZZ", "-1"})
    CHECK_EQ(expiry(text), -1);
}

SCENARIO("an expiry that no clock can tell is the nearest that one can") {
  CHECK_EQ(expiry("0001-01-01T00:00:00Z"), 0);
  CHECK_EQ(expiry("2262-01-01T00:00:00Z"), 9'214'646'400);
  const auto last = expiry("9999-12-31T23:59:59Z");
  CHECK(last > 9'214'646'400);
  CHECK_EQ(expiry("2400-01-01T00:00:00Z"), last);
  auto never = read_exec_credential(printed({{"token", "t"}, {"expirationTimestamp", "9999-12-31T23:59:59Z"}}), v1);
  REQUIRE(never);
  CHECK(use_until(*never, paddock::time_source::wall_clock::time_point{500'000h}).value()
        > paddock::time_source::wall_clock::time_point{2'000'000h});
}

SCENARIO("a credential is renewed shortly before it expires") {
  const auto now = paddock::time_source::wall_clock::time_point{1000h};
  auto x = exec_credential{};
  CHECK(!use_until(x, now));
  x.expires = now + 1h;
  CHECK(use_until(x, now) == now + 1h - 30s);
  x.expires = now + 60s;
  CHECK(use_until(x, now) == now + 54s);
}

SCENARIO("a plug-in is told that nobody can be asked, and of the cluster only when it wants to know") {
  auto plugin = exec_plugin{};
  plugin.api_version = v1;
  CHECK_JSON(json::parse(exec_info(plugin)), json({{"apiVersion", v1}, {"kind", "ExecCredential"}, {"spec", {{"interactive", false}}}}));
  plugin.cluster = {{"server", "https://h"}};
  CHECK_JSON(json::parse(exec_info(plugin))["spec"]["cluster"], json({{"server", "https://h"}}));
}
