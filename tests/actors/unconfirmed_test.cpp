#define CAF_SUITE unconfirmed

// A command whose cancellation is not confirmed, whole ([W] 6.5).

#include "tests/actors/rebind_fixture.hpp"

using namespace paddock;
using namespace paddock::test;
using strings = std::vector<std::string>;

namespace {

struct fixture : rebind_fixture {
  /// A command that runs in the guest of now.
  started begin() {
    hold_next = true;
    auto one = start(command());
    turn();
    host.forget();
    return one;
  }
  /// Nobody knows what became of the command that was held: it had been accepted by this guest.
  void lose(const std::string& pod = "P1", const std::string& boot = "B1") {
    answer_held(
      tl::unexpected{guest::failure{guest::cancellation_unknown{"the cancel was not answered", pod_uid{pod}, guest_boot_id{boot}}}});
  }
  /// What was told of cancellations.
  std::vector<workspace_event> told_of() {
    std::vector<workspace_event> out;
    for (const auto& x : heard->events)
      if (x.what == "cancellation-unconfirmed")
        out.push_back(x);
    return out;
  }
  void say_health(guest::result<guest::health> x) {
    host.guest.on_look = [x](const guest_call&) { return std::optional{x}; };
  }
  static void check_kept(const started& x) {
    CHECK_JSON(details(x).at("retirement"), (nlohmann::json{{"accepted", false}, {"reason", "workspace-kept"}}));
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(unconfirmed_tests, fixture)

// [W 222] the pod was replaced
// [G 247] and the error says so
SCENARIO("a command whose pod was replaced under it: the guest is gone, the pod is kept, and the next command runs in the new one") {
  open_and_listen();
  const auto one = begin();
  replace_pod();
  lose();
  CHECK_EQ(reason(one), "WorkspaceGuestGone");
  CHECK_JSON(details(one).at("evidence"), "pod-replaced");
  CHECK_JSON(details(one).at("previousGuestBootId"), "B1");
  CHECK(!details(one).contains("currentGuestBootId"));
  CHECK_JSON(details(one).at("cause"), "RemoteCancellationUnknown");
  check_kept(one);
  CHECK_EQ(host.requests(), strings({"GET SB", "GET POD", "GET SB"}));
  REQUIRE_EQ(told_of().size(), 1u);
  const auto x = told_of()[0];
  CHECK_EQ(x.reason, "pod-replaced");
  CHECK_EQ(x.previous.pod_uid, "P1");
  CHECK_EQ(x.previous.guest_boot_id, "B1");
  CHECK_EQ(x.current.pod_uid, "P2");
  CHECK(x.current.guest_boot_id.empty());
  CHECK(nothing_written());
  CHECK_EQ(exec()->ended.size(), 1u);
  CHECK_EQ(now().pod_uid, "P2");
}

// [W 223] and another call has found the new one
SCENARIO("a command whose pod was replaced, and whose workspace has gone on to the new one, is told of both") {
  open_and_listen();
  const auto one = begin();
  replace_pod();
  CHECK_EQ(exec()->ended.size(), 1u);
  lose();
  CHECK_EQ(reason(one), "WorkspaceGuestGone");
  CHECK_JSON(details(one).at("evidence"), "pod-replaced");
  CHECK_JSON(details(one).at("currentGuestBootId"), "B2");
  REQUIRE_EQ(told_of().size(), 1u);
  const auto x = told_of()[0];
  CHECK_EQ(x.reason, "pod-replaced");
  CHECK_EQ(x.previous.pod_uid, "P1");
  CHECK_EQ(x.previous.guest_boot_id, "B1");
  CHECK_EQ(x.current.pod_uid, "P2");
  CHECK_EQ(x.current.guest_boot_id, "B2");
}

// [W 224] the container was restarted
SCENARIO("a command whose container was restarted under it: the pods are equal and the boot ids are not") {
  open_and_listen();
  const auto one = begin();
  host.guest.boot = guest_boot_id{"B2"};
  CHECK_EQ(exec()->ended.size(), 1u);
  lose();
  CHECK_EQ(reason(one), "WorkspaceGuestGone");
  CHECK_JSON(details(one).at("evidence"), "container-restarted");
  check_kept(one);
  REQUIRE_EQ(told_of().size(), 1u);
  const auto x = told_of()[0];
  CHECK_EQ(x.reason, "container-restarted");
  CHECK_EQ(x.previous.pod_uid, "P1");
  CHECK_EQ(x.current.pod_uid, "P1");
  CHECK_EQ(x.previous.guest_boot_id, "B1");
  CHECK_EQ(x.current.guest_boot_id, "B2");
  CHECK(nothing_written());
}

// [W 225] a restart before the command
// [W 230] the agent serves, and has forgotten the command
// [G 246] the pod is kept
SCENARIO("a command that nobody knows the end of, in a guest that is there, is not said to be gone") {
  open_and_listen();
  host.guest.boot = guest_boot_id{"B2"};
  CHECK_EQ(exec()->ended.size(), 1u);
  const auto one = begin();
  lose("P1", "B2");
  CHECK_EQ(reason(one), "RemoteCancellationUnknown");
  check_kept(one);
  REQUIRE_EQ(told_of().size(), 1u);
  CHECK_EQ(told_of()[0].reason, "same-guest");
  CHECK_EQ(told_of()[0].agent, "ok");
  CHECK_EQ(told_of()[0].current.guest_boot_id, "B2");
  CHECK(nothing_written());
  CHECK_EQ(now().state, "running");
  CHECK_EQ(now().pod_uid, "P1");
}

// [W 226] suspended elsewhere
SCENARIO("a command that somebody else suspended the workspace under") {
  open_and_listen();
  const auto one = begin();
  host.cluster.set_mode("Suspended");
  lose();
  CHECK_EQ(reason(one), "WorkspaceSuspended");
  CHECK_JSON(details(one).at("noticedBy"), "transport");
  REQUIRE_EQ(told_of().size(), 1u);
  const auto x = told_of()[0];
  CHECK_EQ(x.reason, "pod-gone");
  CHECK_EQ(x.previous.pod_uid, "P1");
  CHECK_EQ(x.previous.guest_boot_id, "B1");
  CHECK(x.current.pod_uid.empty());
  CHECK(x.current.guest_boot_id.empty());
  REQUIRE(settled<opened_view>(atom::resume_v, open_spec{}, minute)->value);
}

// [W 227] a fenced agent
// [G 195] is said to be one, and its pod is kept
SCENARIO("an agent that has fenced itself: only a suspend and a resume cure it") {
  open_and_listen();
  const auto one = begin();
  say_health(guest::health{false, true, 2, {}});
  host.guest.on_execute = [this, old = host.guest.on_execute](const guest_call& x) {
    if (x.where.token != secret{"P1"})
      return old(x);
    scripted_execution out;
    out.answer = tl::unexpected{guest::failure{guest::retiring{}}};
    return out;
  };
  lose();
  CHECK_EQ(reason(one), "RemoteCancellationUnknown");
  REQUIRE_EQ(told_of().size(), 1u);
  CHECK_EQ(told_of()[0].agent, "retiring");
  const auto next = start(command());
  turn();
  CHECK_EQ(reason(next), "AgentRetiring");
  CHECK(nothing_written());
  CHECK_EQ(now().state, "running");
  REQUIRE(settled<workspace_view>(atom::suspend_v, suspend_spec{}, minute)->value);
  REQUIRE(settled<opened_view>(atom::resume_v, open_spec{}, minute)->value);
  CHECK_EQ(exec()->ended.size(), 1u);
}

// [W 228] no agent answers
SCENARIO("an agent that cannot be reached for a while needs no resume") {
  open_and_listen();
  const auto one = begin();
  say_health(tl::unexpected{guest::failure{guest::dial_failed{"desk.ns.svc", 1024, "refused"}}});
  lose();
  REQUIRE_EQ(told_of().size(), 1u);
  CHECK_EQ(told_of()[0].agent, "unreachable");
  CHECK_EQ(exec()->ended.size(), 1u);
  CHECK(nothing_written());
}

// [W 229] no connection is free
SCENARIO("an agent that has no connection free is not said to have fenced itself") {
  open_and_listen();
  const auto one = begin();
  say_health(guest::health{false, false, 2, {}});
  lose();
  REQUIRE_EQ(told_of().size(), 1u);
  CHECK_EQ(told_of()[0].agent, "unreachable");
}

// [W 231] who listens suspends it
SCENARIO("a listener may suspend the workspace that tells it") {
  open_and_listen();
  auto suspended = std::shared_ptr<answer_of<workspace_view>>{};
  heard->then = [&](const workspace_event&) {
    suspended = std::make_shared<answer_of<workspace_view>>();
    auto asker = sys.spawn([to = me, suspended](caf::event_based_actor* it) {
      it->request(to, caf::infinite, atom::suspend_v, suspend_spec{}, minute).then([suspended](workspace_view& x) {
        suspended->value = std::move(x);
      });
    });
    spawned.push_back(asker);
  };
  const auto one = begin();
  lose();
  settle();
  REQUIRE(suspended);
  CHECK(suspended->value);
  CHECK_EQ(host.sent("PATCH"), 1u);
  std::optional<problem> no;
  exec(&no);
  REQUIRE(no);
  CHECK_EQ(no->reason, "WorkspaceSuspended");
  CHECK_JSON(nlohmann::json::parse(no->details).at("noticedBy"), "admission");
}

// [W 232] while its own suspend is under way
SCENARIO("while a suspend of one's own is under way nothing is said of the guest") {
  open_and_listen();
  const auto one = begin();
  host.cluster.hold = [](const k8s::call& what) { return what.method == "PATCH"; };
  const auto suspend = ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
  turn();
  CHECK_EQ(host.sent("PATCH"), 1u);
  replace_pod();
  lose();
  CHECK_EQ(reason(one), "RemoteCancellationUnknown");
  check_kept(one);
  REQUIRE_EQ(told_of().size(), 1u);
  CHECK_EQ(told_of()[0].reason, "unknown");
  CHECK_EQ(told_of()[0].previous.pod_uid, "P1");
  host.api.answer(timed_out(host.api.waiting().at(0)));
  settle();
  REQUIRE(suspend->why);
  CHECK(suspend->why->how == verdict::unknown);
}

CAF_TEST_FIXTURE_SCOPE_END()
