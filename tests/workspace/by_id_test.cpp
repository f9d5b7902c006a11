#define CAF_SUITE by_id

// Suspends and deletes of workspaces that no session is held of ([W] 3.11), and of a Sandbox that the caller names.

#include "tests/workspace/desk.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::workspace;
using namespace paddock::workspace::test;
namespace pt = paddock::test;
using nlohmann::json;
using strings = std::vector<std::string>;
using host = desk::host;
using server = desk::api_server;

namespace {

suspend_options by_id() {
  auto x = suspend_options{};
  x.flush = false;
  x.by_id = true;
  return x;
}

} // namespace

// -- suspend -----------------------------------------------------------------

// [W 136] a pod that drains for three reads
SCENARIO("a suspend by id is one patch and a wait for the pod, and asks no guest") {
  auto x = desk{};
  x.cluster.stand("Running");
  drain_for(x, 3);
  auto at = x.now();
  auto got = x.suspend({}, by_id());
  REQUIRE(got.answer.has_value());
  CHECK_JSON(x.bodies(), (std::vector<json>{desk::merge("Suspended", at)}));
  CHECK_EQ(x.requests(), (strings{"GET SB", "PATCH SB merge", "GET POD", "GET POD", "GET POD", "GET POD"}));
  CHECK(x.guest.calls.empty());
  CHECK(got.after.at == state::suspended);
}

// [W 137] the pod outlives the budget
SCENARIO("a suspend by id whose pod stays is out of time, and the object stays Suspended") {
  auto x = desk{};
  x.cluster.stand("Running");
  drain_for(x, 1'000'000);
  auto got = x.suspend({}, by_id());
  const auto* why = failed_with<suspend_timeout>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->bound, x.on.how.ready_timeout);
  CHECK_EQ(x.cluster.mode(), "Suspended");
  CHECK(x.guest.calls.empty());
}

// [W 138] nothing stands
SCENARIO("a suspend by id of nothing is no success") {
  auto x = desk{};
  auto got = x.suspend({}, by_id());
  CHECK(api_failed_with<k8s::already_gone>(got) != nullptr);
  CHECK_EQ(x.sent("PATCH"), 0u);
}

// [W 139] words that need a guest
SCENARIO("a suspend by id that is to flush or to quiesce is refused before anything is asked") {
  auto flushes = by_id();
  flushes.flush = true;
  auto flushes_within = flushes;
  flushes_within.flush_bound = std::chrono::milliseconds{5'000};
  auto quiesces = by_id();
  quiesces.quiesce = true;
  auto x = desk{};
  x.cluster.stand("Running");
  for (const auto& how : {flushes, flushes_within, quiesces}) {
    CHECK(failed_with<illegal_argument>(x.suspend({}, how)) != nullptr);
    CHECK(x.api.calls.empty());
  }
  CHECK(x.suspend({}, by_id()).answer.has_value());
}

// [W 140] another Sandbox than the caller names
SCENARIO("a suspend of a named Sandbox writes to no other") {
  for (auto mode : {"Running", "Suspended"}) {
    auto x = desk{host::unfenced, server::with_uids};
    x.cluster.stand(mode, std::nullopt, "S2");
    auto how = by_id();
    how.expect = sandbox_uid{"S1"};
    auto got = x.suspend({}, how);
    const auto* why = failed_with<replaced>(got);
    REQUIRE(why != nullptr);
    CHECK_EQ(why->expected, sandbox_uid{"S1"});
    CHECK_EQ(why->actual, sandbox_uid{"S2"});
    CHECK_EQ(x.requests(), strings{"GET SB"});
    CHECK_EQ(x.cluster.mode(), mode);
  }
}

SCENARIO("a suspend and a delete of a named Sandbox carry its uid") {
  auto x = desk{host::unfenced, server::with_uids};
  x.cluster.stand("Running");
  auto how = by_id();
  how.expect = sandbox_uid{"S1"};
  auto at = x.now();
  auto got = x.suspend({}, how);
  REQUIRE(got.answer.has_value());
  CHECK_JSON(
    x.bodies(),
    (std::vector<json>{json::array({test_op("/metadata/uid", "S1"), add_op(changed_at, at), add_op("/spec/operatingMode", "Suspended")})}));
  x.forget();
  CHECK(failed_with<replaced>(x.remove({}, {sandbox_uid{"S9"}})) != nullptr);
  CHECK_EQ(x.requests(), strings{"GET SB"});
  REQUIRE(x.remove({}, {sandbox_uid{"S1"}}).answer.has_value());
  CHECK_EQ(x.api.sent("DELETE").at(0).body.at("preconditions").at("uid"), "S1");
}

// [W 141] a name without a text
SCENARIO("an empty expected uid is refused before anything is asked") {
  auto x = desk{host::unfenced, server::with_uids};
  x.cluster.stand("Running");
  auto how = by_id();
  how.expect = sandbox_uid{};
  CHECK(failed_with<illegal_argument>(x.suspend({}, how)) != nullptr);
  CHECK(failed_with<illegal_argument>(x.remove({}, {sandbox_uid{}})) != nullptr);
  auto opening = open_options{};
  opening.expect = sandbox_uid{};
  CHECK(failed_with<illegal_argument>(x.open({}, opening)) != nullptr);
  CHECK(failed_with<illegal_argument>(x.resume({}, opening)) != nullptr);
  CHECK(x.api.calls.empty());
}

// [W 157] an epoch that nobody can read
SCENARIO("a suspend by id of an unreadable epoch is refused with its text") {
  auto x = desk{};
  x.cluster.stand("Running", "latest");
  auto got = x.suspend(at_epoch(9), by_id());
  const auto* why = failed_with<precondition>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->operation, "suspendKubernetesWorkspace");
  CHECK_EQ(why->epoch, 9u);
  CHECK_EQ(why->stored_epoch, std::nullopt);
  CHECK_EQ(why->stored_annotation, "latest");
  CHECK_EQ(x.sent("PATCH"), 0u);
}

SCENARIO("a suspend by id of a session that is held dials nothing either") {
  auto x = desk{host::fenced, server::with_uids};
  auto held = x.open().after;
  const auto calls = x.guest.calls.size();
  REQUIRE(x.suspend(held, by_id()).answer.has_value());
  CHECK_EQ(x.guest.calls.size(), calls);
}

SCENARIO("what was held of another Sandbox says nothing of the one that is named") {
  auto x = desk{host::fenced, server::with_uids};
  const auto held = x.open().after;
  x.cluster.stand("Running", "0", "S2");
  auto how = suspend_options{};
  how.expect = sandbox_uid{"S2"};
  const auto calls = x.guest.calls.size();
  const auto asleep = x.suspend(held, how);
  REQUIRE(asleep.answer.has_value());
  CHECK_EQ(x.cluster.mode(), "Suspended");
  CHECK(asleep.after.at == state::suspended);
  CHECK_EQ(asleep.after.sandbox, sandbox_uid{"S2"});
  CHECK_EQ(asleep.after.epoch, held.epoch);
  CHECK_NE(asleep.after.retired_pod, held.pod);
  // Its disks were never read, nor was it proved what it reaches.
  CHECK(asleep.after.claims.empty());
  CHECK(!asleep.after.claims_read);
  CHECK_EQ(x.guest.calls.size(), calls);
}

// -- delete ------------------------------------------------------------------

SCENARIO("that another Sandbox was deleted is no answer for the one that is named") {
  auto x = desk{host::fenced, server::with_uids};
  const auto gone = x.remove(x.open().after).after;
  REQUIRE(gone.at == state::deleted);
  x.cluster.stand("Suspended", "0", "S2");
  x.forget();
  CHECK(x.remove(gone).answer.has_value());
  CHECK(x.remove(gone, {sandbox_uid{"S1"}}).answer.has_value());
  CHECK(x.requests().empty());
  const auto got = x.remove(gone, {sandbox_uid{"S2"}});
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET SB", "DELETE SB"}));
  CHECK(got.after.at == state::deleted);
  CHECK(!x.cluster.sandbox.has_value());
}

// [W 128] the object was made anew (that it is read first, and its version sent too, is [W] P10)
SCENARIO("a delete of an object that was made anew is refused, and the new one stands") {
  auto x = desk{host::unfenced, server::with_uids};
  auto before = x.open().after;
  x.cluster.intercept = [&x](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    if (what.method == "DELETE")
      x.cluster.stand("Running", std::nullopt, "S2");
    return std::nullopt;
  };
  x.forget();
  auto got = x.remove(before);
  const auto* why = failed_with<replaced>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->expected, sandbox_uid{"S1"});
  CHECK_EQ(why->actual, sandbox_uid{"S2"});
  CHECK_EQ(x.requests(), (strings{"GET SB", "DELETE SB", "GET SB"}));
  CHECK(x.cluster.sandbox.has_value());
}

// [W 129] the object is the same, and the server refuses (as above, [W] P10)
SCENARIO("a delete without an epoch that is refused with a conflict is not sent again") {
  auto x = desk{host::unfenced, server::with_uids};
  auto before = x.open().after;
  x.cluster.intercept = [](const k8s::call& what, std::size_t) {
    return what.method == "DELETE" ? std::optional{pt::taken(what)} : std::nullopt;
  };
  auto got = x.remove(before);
  CHECK(api_failed_with<k8s::conflict>(got) != nullptr);
  CHECK_EQ(x.sent("DELETE"), 1u);
}

// [W 131] nothing stands
SCENARIO("a delete by id of nothing succeeds") {
  for (auto how : {host::unfenced, host::fenced}) {
    auto x = desk{how, server::with_uids};
    CHECK(x.remove({}).answer.has_value());
    CHECK_EQ(x.sent("DELETE"), 0u);
  }
}

// [W 132] the DELETE fails
SCENARIO("a delete by id that failed is sent again when it is asked for again") {
  auto x = desk{};
  x.cluster.stand("Suspended");
  x.cluster.intercept = [](const k8s::call& what, std::size_t) {
    return what.method == "DELETE" ? std::optional{pt::status(what, 500)} : std::nullopt;
  };
  auto got = x.remove({});
  REQUIRE(!got.answer);
  CHECK_EQ(status_of(got.answer.error()), 500u);
  CHECK_EQ(std::get<write_unknown>(got.answer.error()).operation, "deleteKubernetesWorkspace");
  x.cluster.intercept = {};
  CHECK(x.remove({}).answer.has_value());
  CHECK_EQ(x.sent("DELETE"), 2u);
  CHECK(!x.cluster.sandbox.has_value());
  CHECK(x.guest.calls.empty());
}

// [W 158] under an epoch, where no uid is reported
SCENARIO("a delete by id under an epoch is conditioned on the version that was read") {
  auto x = desk{};
  x.cluster.stand("Running", "5");
  const auto version = version_of(x);
  REQUIRE(x.remove(at_epoch(5)).answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET SB", "DELETE SB"}));
  CHECK_JSON(x.api.sent("DELETE").at(0).body,
             (json{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", {{"resourceVersion", version}}}}));
}
