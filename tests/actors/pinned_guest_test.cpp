#define CAF_SUITE pinned_guest

#include "actors/pinned_guest.hpp"
#include "tests/actors/actor_fixture.hpp"

#include <nlohmann/json.hpp>

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr caf::timespan minute = 1min;

/// An open workspace S1 on pod P1, whose guest has said that it is B1, with one claim.
struct fixture : actor_fixture {
  fixture() {
    owner = make_workspace();
    sink = keep(sys.spawn(logging_sink, log));
    bind(now());
  }
  static workspace::session now() {
    auto out = running();
    out.boot = guest_boot_id{"B1"};
    out.claims.emplace("workspace", claim_uid{"C1"});
    return out;
  }
  /// Opens, and the cluster answers with `session`.
  void bind(workspace::session session) {
    ask<opened_view>(owner, atom::open_v, open_spec{}, minute);
    transitions.opens.back().to({std::move(session), workspace::opened{}});
    sched.run();
  }
  static pin_spec wanted() {
    return {"S1", "P1", "B1", {{"workspace", "C1"}}};
  }
  pinned_guest_actor pinned(const pin_spec& to = wanted()) {
    auto got = ask<pinned_guest_actor>(owner, atom::pin_v, to);
    REQUIRE(got->value);
    return keep(*got->value);
  }
  std::shared_ptr<answer_of<call_actor>> run(const pinned_guest_actor& view) {
    return ask<call_actor>(view, atom::call_v, call_spec{run_spec{}}, sink, minute);
  }
  void fail_last(guest::failure why) {
    guests.starts.back().events.end(tl::unexpected{workspace::failure{std::move(why)}});
    sched.run();
  }
  static nlohmann::json details(const problem& x) {
    return nlohmann::json::parse(x.details);
  }
  /// Refused before anything was dialled, because `field` differs.
  void check_refused(const std::shared_ptr<answer_of<call_actor>>& got, const std::string& field) {
    REQUIRE(got->why);
    CHECK_EQ(got->why->reason, "GuestPinRefused");
    CHECK(got->why->how == verdict::overtaken);
    CHECK(details(*got->why)["reason"] == "identity-changed");
    CHECK(details(*got->why)["field"] == field);
    CHECK(guests.starts.empty());
    CHECK(guests.asks.empty());
  }

  workspace_actor owner;
  std::shared_ptr<sink_log> log = std::make_shared<sink_log>();
  sink_actor sink;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(pinned_guest_tests, fixture)

SCENARIO("an incomplete pin is refused at once and nothing is sent") {
  auto lacking = wanted();
  lacking.guest_boot_id.clear();
  lacking.volume_claim_uids["workspace"].clear();
  const auto got = ask<pinned_guest_actor>(owner, atom::pin_v, lacking);
  REQUIRE(got->why);
  CHECK_EQ(got->why->reason, "PinIncomplete");
  CHECK(got->why->how == verdict::usage);
  CHECK(details(*got->why)["missing"] == (nlohmann::json{"guestBootId", "volumeClaimUids.workspace"}));
  CHECK(guests.log.empty());
}

// [W 257] a matching identity, and an input that changes afterwards
// [G 221] the input
SCENARIO("a call with a matching identity runs, whatever becomes of what the pin was made from") {
  auto from = wanted();
  auto view = pinned(from);
  from.guest_boot_id = "B2";
  const auto got = run(view);
  CHECK(got->value);
  REQUIRE_EQ(guests.starts.size(), 1u);
  CHECK_EQ(guests.starts[0].where.host, "127.9.9.9");
  CHECK(guests.starts[0].where.pinned == guest_boot_id{"B1"});
  guests.starts[0].events.output(guest::stream::out, workspace::to_bytes("x"));
  guests.starts[0].events.end(ended_well("B1"));
  sched.run();
  REQUIRE_EQ(log->ended.size(), 1u);
  const auto held = ask<pin_spec>(view, atom::pin_v);
  REQUIRE(held->value);
  CHECK_EQ(held->value->guest_boot_id, "B1");
}

// [W 258] a workspace on another pod
SCENARIO("a view of a pod that was left is refused before anything is dialled") {
  auto view = pinned();
  auto moved = now();
  moved.pod = pod_uid{"P2"};
  moved.guest = guest::endpoint{"127.9.9.10", 1024, secret{"P2"}};
  bind(moved);
  check_refused(run(view), "podUid");
  check_refused(run(view), "podUid"); // it stays refused
}

// [W 259] a suspended workspace
// [G 222] the same, by the words of the wire
SCENARIO("a view of a suspended workspace is refused before anything is dialled") {
  auto view = pinned();
  ask<workspace_view>(owner, atom::suspend_v, suspend_spec{}, minute);
  transitions.suspends.at(0).to({suspended(), workspace::done{}});
  sched.run();
  check_refused(run(view), "podUid");
  const auto asked = ask<guest_answer>(view, atom::ask_v, guest_question{quiesce_question{}}, minute);
  REQUIRE(asked->why);
  CHECK_EQ(asked->why->reason, "GuestPinRefused");
  CHECK(guests.log.empty());
}

SCENARIO("another Sandbox, another boot id and another claim are refused by their fields") {
  auto other = wanted();
  other.sandbox_uid = "S2";
  check_refused(run(pinned(other)), "sandboxUid");
  other = wanted();
  other.guest_boot_id = "B2";
  check_refused(run(pinned(other)), "guestBootId");
  other = wanted();
  other.volume_claim_uids["workspace"] = "C2";
  check_refused(run(pinned(other)), "volumeClaimUids");
}

// [W 260] a boot id that was not heard yet
SCENARIO("while the guest has not said who it is, the guest decides") {
  ask<workspace_view>(owner, atom::suspend_v, suspend_spec{}, minute);
  transitions.suspends.at(0).to({suspended(), workspace::done{}});
  sched.run();
  auto unheard = now();
  unheard.boot.reset();
  bind(unheard);
  auto other = wanted();
  other.guest_boot_id = "B9";
  CHECK(run(pinned(other))->value);
  REQUIRE_EQ(guests.starts.size(), 1u);
  CHECK(guests.starts[0].where.pinned == guest_boot_id{"B9"});
}

// [W 261] restarted in place
SCENARIO("a guest that was restarted in place is told by the id of the one that answered") {
  auto view = pinned();
  run(view);
  fail_last(guest::guest_mismatch{guest_boot_id{"B2"}});
  REQUIRE_EQ(log->failed.size(), 1u);
  CHECK_EQ(log->failed[0].reason, "GuestPinRefused");
  CHECK(details(log->failed[0])["reason"] == "guest-replaced");
  CHECK(details(log->failed[0])["freshGuestBootId"] == "B2");
  CHECK(log->output.empty()); // nothing ran
  CHECK_EQ(guests.starts.size(), 1u);
}

// [W 262] replaced, and nobody knows yet
SCENARIO("a pod that was replaced is refused, and the view follows nobody") {
  auto view = pinned();
  run(view);
  fail_last(guest::unauthorized{});
  REQUIRE_EQ(log->failed.size(), 1u);
  CHECK(details(log->failed[0])["reason"] == "pod-replaced");
  CHECK_EQ(guests.starts.size(), 1u);
  CHECK(transitions.explains.empty());
  // The workspace heard nothing of it: its session is what it was.
  const auto after = ask<workspace_view>(owner, atom::view_v);
  CHECK_EQ(after->value->pod_uid, "P1");
  CHECK_EQ(after->value->guest_boot_id, "B1");
}

// [W 263] a guest that cannot be pinned
SCENARIO("a guest that cannot be pinned is refused by that name") {
  auto view = pinned();
  run(view);
  fail_last(guest::unsupported{"pinned-guest"});
  REQUIRE_EQ(log->failed.size(), 1u);
  CHECK(details(log->failed[0])["reason"] == "guest-unsupported");
  CHECK(log->output.empty());
}

// [W 264] an unconfirmed cancellation
// [G 232] the same, by the words of the wire
SCENARIO("a view retires nothing when a cancellation is not confirmed") {
  auto view = pinned();
  const auto before = transitions.log;
  run(view);
  fail_last(guest::cancellation_unknown{"silence", pod_uid{"P1"}, guest_boot_id{"B1"}});
  REQUIRE_EQ(log->failed.size(), 1u);
  CHECK_EQ(log->failed[0].reason, "RemoteCancellationUnknown");
  CHECK(log->failed[0].how == verdict::unknown);
  CHECK(details(log->failed[0])["retirement"] == (nlohmann::json{{"accepted", false}, {"reason", "pinned-view-keeps-the-pod"}}));
  CHECK_EQ(transitions.log, before); // no write, no reading
}

SCENARIO("a guest that is fenced and still the pinned one says so itself") {
  auto view = pinned();
  run(view);
  fail_last(guest::retiring{});
  REQUIRE_EQ(log->failed.size(), 1u);
  CHECK_EQ(log->failed[0].reason, "AgentRetiring");
}

SCENARIO("what would outlive a view, or is somebody else's session, is no call of it") {
  auto view = pinned();
  auto detached = run_spec{};
  detached.detach = true;
  auto session = shell_spec{};
  session.session = "s";
  for (const auto& what : {call_spec{detached}, call_spec{session}, call_spec{attach_spec{}}}) {
    const auto got = ask<call_actor>(view, atom::call_v, what, sink, minute);
    REQUIRE(got->why);
    CHECK(got->why->how == verdict::usage);
  }
  const auto asked = ask<guest_answer>(view, atom::ask_v, guest_question{sessions_question{}}, minute);
  REQUIRE(asked->why);
  CHECK(guests.log.empty());
}

SCENARIO("a quiesce of a view goes to the pinned guest, with what was asked") {
  auto view = pinned();
  auto what = quiesce_question{};
  what.only_if_idle = true;
  const auto got = ask<guest_answer>(view, atom::ask_v, guest_question{what}, minute);
  REQUIRE_EQ(guests.asks.size(), 1u);
  CHECK(guests.asks[0].where.pinned == guest_boot_id{"B1"});
  CHECK(std::get<workspace::quiesce_guest>(guests.asks[0].what).how.idle_only);
  guests.asks[0].to(workspace::reply{guest::quiesce_report{{}, "owned-sessions", 1000, 0}});
  sched.run();
  REQUIRE(got->value);
  CHECK_EQ(std::get<quiesce_answer>(got->value->what).scope, "owned-sessions");
}

SCENARIO("a view whose WORKSPACE is gone withdraws its calls and refuses new ones") {
  auto view = pinned();
  run(view);
  caf::anon_send_exit(owner, caf::exit_reason::kill);
  sched.run();
  CHECK_EQ(guests.cancelled, std::vector<workspace::ticket>({guests.starts.at(0).name}));
  const auto got = run(view);
  REQUIRE(got->why);
  CHECK_EQ(got->why->reason, "GuestPinRefused");
  CHECK_EQ(guests.starts.size(), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()
