#define CAF_SUITE pin

#include "guest/pin.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;

namespace {

guest::pin_input whole() {
  auto x = guest::pin_input{};
  x.sandbox_uid = "S1";
  x.pod = "P1";
  x.boot = "B1";
  x.claims["workspace"] = "C1";
  return x;
}

guest::pin_identity now() {
  auto x = guest::pin_identity{};
  x.running = true;
  x.sandbox_uid = "S1";
  x.pod = pod_uid{"P1"};
  x.boot = guest_boot_id{"B1"};
  x.claims["workspace"] = "C1";
  return x;
}

std::string field_of(const guest::pin_identity& at) {
  const auto got = guest::check(*guest::pin::of(whole()), at);
  if (got)
    return {};
  CHECK(got.error().reason == guest::pin_refused::why::identity_changed);
  return got.error().field;
}

} // namespace

// [G 220] a pin without podUid
// [W 255] without guestBootId
// [W 256] an empty claim
SCENARIO("a pin that is not complete names what it lacks") {
  auto lacks = [](auto spoil) {
    auto x = whole();
    spoil(x);
    const auto got = guest::pin::of(x);
    return got ? std::vector<std::string>{} : got.error().missing;
  };
  using list = std::vector<std::string>;
  CHECK_EQ(lacks([](auto&) {}), list{});
  CHECK_EQ(lacks([](auto& x) { x.pod.reset(); }), list{"podUid"});
  CHECK_EQ(lacks([](auto& x) { x.boot.reset(); }), list{"guestBootId"});
  CHECK_EQ(lacks([](auto& x) { x.sandbox_uid = ""; }), list{"sandboxUid"});
  CHECK_EQ(lacks([](auto& x) { x.claims["workspace"] = ""; }), list{"volumeClaimUids.workspace"});
  CHECK_EQ(lacks([](auto& x) { x = {}; }), (list{"sandboxUid", "podUid", "guestBootId"}));
}

SCENARIO("a pin is a copy of what it was made from") {
  auto input = whole();
  const auto made = *guest::pin::of(input);
  input.pod = "P2";
  input.claims.clear();
  CHECK_EQ(made.pod(), pod_uid{"P1"});
  CHECK_EQ(made.claims().size(), 1u);
  const auto at = made.pinned({"10.0.0.1", 1024, secret{"P1"}});
  CHECK_EQ(at.pinned, guest_boot_id{"B1"});
}

SCENARIO("the first field that differs is named, in the order of the contract") {
  CHECK_EQ(field_of(now()), "");
  auto at = now();
  at.claims["workspace"] = "C2";
  CHECK_EQ(field_of(at), "volumeClaimUids");
  at.boot = guest_boot_id{"B2"};
  CHECK_EQ(field_of(at), "guestBootId");
  at.pod = pod_uid{"P2"};
  CHECK_EQ(field_of(at), "podUid");
  at.sandbox_uid = "S2";
  CHECK_EQ(field_of(at), "sandboxUid");
  at.pod.reset();
  CHECK_EQ(field_of(at), "podUid");
  at = now();
  at.running = false;
  at.sandbox_uid = "S2";
  CHECK_EQ(field_of(at), "podUid");
}

SCENARIO("a boot id that is not known is no difference, a claim that is not is one") {
  auto at = now();
  at.boot.reset();
  CHECK_EQ(field_of(at), "");
  at.claims["other"] = "C9";
  CHECK_EQ(field_of(at), "");
  at.claims.erase("workspace");
  CHECK_EQ(field_of(at), "volumeClaimUids");
}

SCENARIO("the failures of a pinned call are translated, and none that may have run") {
  auto refusal = [](guest::failure x) {
    auto got = guest::translate(std::move(x));
    const auto* why = std::get_if<guest::pin_refused>(&got);
    return why == nullptr ? std::string{} : std::string{guest::to_string(why->reason)};
  };
  CHECK_EQ(refusal(guest::guest_mismatch{}), "guest-replaced");
  CHECK_EQ(refusal(guest::unauthorized{}), "pod-replaced");
  CHECK_EQ(refusal(guest::unsupported{"pinned-guest"}), "guest-unsupported");
  CHECK_EQ(refusal(guest::unsupported{"quiesce"}), "");
  CHECK_EQ(refusal(guest::retiring{}), "");
  CHECK_EQ(refusal(guest::lost{"unauthorized"}), "");
  CHECK_EQ(refusal(guest::refused{"guest_mismatch: x", "guest_mismatch"}), "");
  CHECK_EQ(refusal(guest::cancellation_unknown{"guest_mismatch", {}, {}}), "");
  CHECK_EQ(refusal(guest::result_incomplete{"cancelled", true, "guest_mismatch"}), "");
  auto got = guest::translate(guest::guest_mismatch{guest_boot_id{"B2"}});
  const auto& why = std::get<guest::pin_refused>(got);
  CHECK_EQ(why.fresh_boot, guest_boot_id{"B2"});
  REQUIRE(why.cause.has_value());
  CHECK(std::holds_alternative<guest::guest_mismatch>(*why.cause));
}
