#define CAF_SUITE authentication

#include "base/base64.hpp"
#include "base/hash.hpp"
#include "embedded/authentication_review.hpp"
#include "gated_world.hpp"
#include "tests/support/check_json.hpp"

using namespace paddock;
using namespace paddock::embedded;
using paddock::test::gated_world;

namespace {

constexpr std::int64_t start = 1'795'972'289;

service_account_claims claims(std::vector<std::string> audiences = {server_audience}) {
  return {"default", "robot", "uid-1", std::nullopt, std::move(audiences), "token-1", start, start + 3600};
}

std::string hex(std::string_view bytes) {
  return to_hex(std::span{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

} // namespace

SCENARIO("the signature is HMAC with SHA-256") {
  // RFC 4231, cases 1, 2 and 6.
  CHECK_EQ(hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  CHECK_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK_EQ(hex(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
           "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

SCENARIO("a service account's token says again what went into it, to whom it is for, while it lasts") {
  const service_account_tokens ours{secret{std::string(32, 'k')}};
  auto what = claims({"a", "b"});
  what.bound = bound_object{"Pod", "p", "uid-2"};
  const auto token = ours.mint(what).reveal();
  const auto verdict = [&](std::string_view text, std::vector<std::string> audiences, std::int64_t at) {
    const auto got = ours.verify(text, audiences, at);
    return !got ? "unknown" : *got ? "good" : (*got).error();
  };
  const auto good = ours.verify(token, {"b"}, start);
  REQUIRE(good && *good);
  CHECK(**good == what);
  CHECK_EQ(verdict(token, {"x", "a"}, start + 3599), "good");
  CHECK_EQ(verdict(token, {"a"}, start + 3600), "service account token has expired");
  CHECK_EQ(verdict(token, {"a"}, start - 1), "service account token is not valid yet");
  CHECK_EQ(verdict(token, {"x"}, start), R"(token audiences ["a" "b"] is invalid for the target audiences ["x"])");
  // Another key, a changed claim, a token without a signature.
  CHECK_EQ(verdict(service_account_tokens{secret{std::string(32, 'l')}}.mint(what).reveal(), {"a"}, start),
           "the signature is not this cluster's");
  auto changed = token;
  changed[changed.find('.') + 10] ^= 1;
  CHECK_EQ(verdict(changed, {"a"}, start), "the signature is not this cluster's");
  CHECK_EQ(verdict(token.substr(0, token.rfind('.') + 1), {"a"}, start), "the signature is not this cluster's");
  const auto payload = token.substr(token.find('.'), token.rfind('.') + 1 - token.find('.'));
  CHECK_EQ(verdict("eyJhbGciOiJub25lIn0" + payload, {"a"}, start), "unknown");
  for (const auto* text : {"", ".", "..", "a.b", "a.b.c.d", "known-token"})
    CHECK_EQ(verdict(text, {"a"}, start), "unknown");
}

SCENARIO("a user is who a certificate, a known token or a service account's token says") {
  gated_world w;
  const auto& who = w.gate.who();
  const auto user = [&](const std::optional<certificate_name>& certificate, const std::string& authorization) {
    return who.user_of(certificate, authorization, w.objects, w.now);
  };
  CHECK(user({}, "") == anonymous_user());
  CHECK(user({}, "Basic eDp5") == anonymous_user());
  CHECK(user({}, "Bearer known-token") == user_info("carol", {"builders", "system:authenticated"}));
  CHECK(!user({}, "Bearer known-toke"));
  CHECK(!user({}, "Bearer known-token2"));
  const certificate_name certificate{"dora", {"system:masters"}, "ab"};
  const auto by_certificate = user(certificate, "Bearer wrong");
  REQUIRE(by_certificate);
  CHECK_EQ(by_certificate->name, "dora");
  CHECK_EQ(by_certificate->groups, (std::vector<std::string>{"system:masters", "system:authenticated"}));
  CHECK(user(certificate_name{}, "") == anonymous_user());
}

SCENARIO("a review of a token tells whose it is, and the self form who asks") {
  gated_world w;
  const std::string group = "/apis/authentication.k8s.io/v1/";
  const auto review = [&](const json& spec) { return w.ask(w.root, "POST", group + "tokenreviews", {{"spec", spec}}); };
  const auto good = review({{"token", "known-token"}});
  CHECK_EQ(good.status, 201u);
  CHECK_JSON(good.body["status"], (json{{"authenticated", true},
                                        {"user", {{"username", "carol"}, {"groups", {"builders", "system:authenticated"}}}},
                                        {"audiences", {server_audience}}}));
  CHECK_JSON(review({{"token", "bad"}}).body["status"], (json{{"user", json::object()}, {"error", "invalid bearer token"}}));
  CHECK_JSON(review({{"token", "known-token"}, {"audiences", {"x"}}}).body["status"]["user"], json::object());
  CHECK_EQ(review(json::object()).status, 400u);
  CHECK_EQ(review(json::object()).message(), "token is required for TokenReview in authentication");
  const user_info alice{"alice", {"system:authenticated"}};
  const auto self = w.ask(alice, "POST", group + "selfsubjectreviews", json::object());
  CHECK_JSON(self.body["status"]["userInfo"], (json{{"username", "alice"}, {"groups", {"system:authenticated"}}}));
  CHECK_EQ(w.ask(alice, "POST", group + "tokenreviews", {{"spec", {{"token", "x"}}}}).status, 403u);
}

SCENARIO("a review of a token is known however its path is written") {
  const std::string group = "/apis/authentication.k8s.io/v1/";
  for (const auto& target :
       {group + "tokenreviews", group + "token%72eviews", group + "%74okenreviews?dryRun=All", "/" + group + "/tokenreviews/",
        std::string{"/%61pis/authentication.k8s.io/v1/tokenreviews/x"}, group + "token%7"})
    CHECK(carries_token(target));
  for (const auto& target : {group + "selfsubjectreviews", std::string{"/api/v1/namespaces/tokenreviews/pods"}, std::string{"/"},
                             std::string{"/api/v1/pods?x=/tokenreviews"}})
    CHECK(!carries_token(target));
}

SCENARIO("a service account's token ends with the account and with what it is bound to") {
  gated_world w;
  if (find_kind("", "v1", "serviceaccounts") == nullptr) { // not served: there is no account that a token could be of
    CHECK(!w.gate.who().user_of({}, "Bearer " + w.gate.who().accounts().mint(claims()).reveal(), w.objects, w.now));
    return;
  }
  w.make("/api/v1/namespaces/default/serviceaccounts", {{"metadata", {{"name", "robot"}}}});
  auto what = claims();
  what.uid = text_at(w.ask(w.root, "GET", "/api/v1/namespaces/default/serviceaccounts/robot").body, {"metadata", "uid"});
  const auto token = w.gate.who().accounts().mint(what).reveal();
  const auto user = [&] { return w.gate.who().user_of({}, "Bearer " + token, w.objects, w.now); };
  REQUIRE(user());
  CHECK_EQ(user()->name, "system:serviceaccount:default:robot");
  CHECK_EQ(user()->uid, what.uid);
  CHECK_EQ(user()->groups, (std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"}));
  REQUIRE_EQ(w.ask(w.root, "DELETE", "/api/v1/namespaces/default/serviceaccounts/robot").status, 200u);
  CHECK(!user());
  w.make("/api/v1/namespaces/default/serviceaccounts", {{"metadata", {{"name", "robot"}}}});
  CHECK(!user()); // another account under the name
}
