#define CAF_SUITE whole

// Actors over the real ports and flows, with a scripted API server and guest: the cases that speak of several callers.

#include "tests/actors/desk_fixture.hpp"

using namespace paddock;
using namespace paddock::test;

CAF_TEST_FIXTURE_SCOPE(whole_tests, desk_fixture)

// [W 81] concurrent suspends share one flight
SCENARIO("two concurrent suspends whose PATCH answers 500 get the same failure from one PATCH") {
  open();
  host.cluster.intercept = [](const k8s::call& what, std::size_t) { return what.method == "PATCH" ? status(500, what) : std::nullopt; };
  auto first = ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
  auto second = ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
  settle();
  REQUIRE(first->why);
  REQUIRE(second->why);
  CHECK_EQ(first->why->reason, second->why->reason);
  CHECK_EQ(first->why->message, second->why->message);
  CHECK_EQ(first->why->details, second->why->details);
  CHECK_EQ(host.sent("PATCH"), 1u);
}

// [W 87] a destroy that keeps the disk is a suspend ([W] 3.7): here it is the same message
SCENARIO("a suspend and a destroy that keeps the disk, at once, are one PATCH") {
  open();
  auto suspend = ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
  auto destroy = ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
  settle();
  CHECK(suspend->value);
  CHECK(destroy->value);
  CHECK_EQ(host.sent("PATCH"), 1u);
  CHECK_EQ(host.sent("DELETE"), 0u);
}

// [W 96] concurrent resumes
SCENARIO("of two concurrent resumes the second finds it running, and one Running patch is sent") {
  open();
  REQUIRE(settled<workspace_view>(atom::suspend_v, suspend_spec{}, minute)->value);
  host.forget();
  auto first = ask<opened_view>(me, atom::resume_v, open_spec{}, minute);
  auto second = ask<opened_view>(me, atom::resume_v, open_spec{}, minute);
  settle();
  REQUIRE(first->value);
  REQUIRE(second->value);
  CHECK_EQ(second->value->view.state, "running");
  CHECK_EQ(first->value->view.pod_uid, second->value->view.pod_uid);
  std::size_t running = 0;
  for (const auto& x : host.bodies())
    running += x.is_object() && x.value("/spec/operatingMode"_json_pointer, "") == "Running" ? 1u : 0u;
  CHECK_EQ(running, 1u);
}

// [W 120] deleting the disk
// [W 121] and again
SCENARIO("a delete is one DELETE and no PATCH, and what comes after it is refused as destroyed") {
  open();
  CHECK(settled<caf::unit_t>(atom::remove_v, remove_spec{}, minute)->value);
  CHECK_EQ(host.sent("DELETE"), 1u);
  CHECK_EQ(host.sent("PATCH"), 0u);
  auto now = settled<workspace_view>(atom::view_v);
  CHECK_EQ(now->value->state, "deleted"); // neither suspended nor with a session
  CHECK(now->value->pod_uid.empty());
  std::optional<problem> refused;
  exec(&refused);
  REQUIRE(refused);
  CHECK_EQ(refused->reason, "SandboxDestroyed");
  CHECK(settled<caf::unit_t>(atom::remove_v, remove_spec{}, minute)->value);
  CHECK_EQ(host.sent("DELETE"), 1u);
}

// [W 124] concurrent deletes share one flight
SCENARIO("two concurrent deletes whose DELETE answers 500 get the same failure from one DELETE") {
  open();
  host.cluster.intercept = [](const k8s::call& what, std::size_t) { return what.method == "DELETE" ? status(500, what) : std::nullopt; };
  auto first = ask<caf::unit_t>(me, atom::remove_v, remove_spec{}, minute);
  auto second = ask<caf::unit_t>(me, atom::remove_v, remove_spec{}, minute);
  settle();
  REQUIRE(first->why);
  REQUIRE(second->why);
  CHECK_EQ(first->why->message, second->why->message);
  CHECK_EQ(host.sent("DELETE"), 1u);
}

SCENARIO("calls on a suspended workspace are refused at admission, and no connection is made") {
  open();
  REQUIRE(settled<workspace_view>(atom::suspend_v, suspend_spec{}, minute)->value);
  const auto dialled = host.guest.calls.size();
  const auto requests = host.cluster.requests;
  std::optional<problem> refused;
  exec(&refused);
  REQUIRE(refused);
  CHECK_EQ(refused->reason, "WorkspaceSuspended");
  CHECK_NE(refused->details.find("admission"), std::string::npos);
  CHECK_EQ(host.guest.calls.size(), dialled);
  CHECK_EQ(host.cluster.requests, requests);
}

// [W 83] exec, readFile, writeFile, listFiles
SCENARIO("whatever is asked of a suspended workspace's guest is refused at admission, and nothing is dialled") {
  open();
  REQUIRE(settled<workspace_view>(atom::suspend_v, suspend_spec{}, minute)->value);
  const auto dialled = host.guest.calls.size();
  const auto requests = host.cluster.requests;
  auto sink = keep(sys.spawn(logging_sink, std::make_shared<sink_log>()));
  run_spec run;
  run.program = "true";
  walk_spec walk;
  walk.root = "/";
  for (const auto& what : {call_spec{run}, call_spec{read_spec{"/a", {}, {}}}, call_spec{write_spec{"/a", {}}}, call_spec{walk}}) {
    const auto got = settled<call_actor>(atom::call_v, what, sink, minute);
    REQUIRE(got->why);
    CHECK_EQ(got->why->reason, "WorkspaceSuspended");
    CHECK_NE(got->why->details.find("admission"), std::string::npos);
  }
  CHECK_EQ(host.guest.calls.size(), dialled);
  CHECK_EQ(host.cluster.requests, requests);
  const auto now = settled<workspace_view>(atom::view_v);
  CHECK_EQ(now->value->state, "suspended"); // and no session, which is the status `destroyed`
  CHECK(now->value->pod_uid.empty());
}

// [W 125] giving up what is deleted
SCENARIO("a deleted workspace can be given up again, but not suspended") {
  open();
  REQUIRE(settled<caf::unit_t>(atom::remove_v, remove_spec{}, minute)->value);
  const auto requests = host.cluster.requests;
  suspend_spec give_up;
  give_up.or_deleted = true;
  for (auto i = 0; i < 2; ++i) {
    const auto got = settled<workspace_view>(atom::suspend_v, give_up, minute);
    REQUIRE(got->value);
    CHECK_EQ(got->value->state, "deleted");
  }
  const auto suspend = settled<workspace_view>(atom::suspend_v, suspend_spec{}, minute);
  REQUIRE(suspend->why);
  CHECK_EQ(suspend->why->reason, "SandboxDestroyed");
  CHECK_EQ(host.sent("PATCH"), 0u);
  CHECK_EQ(host.cluster.requests, requests);
}

// [W 126] a delete, and giving it up behind
SCENARIO("a delete and a destroy that keeps the disk, at once, both succeed by one DELETE") {
  open();
  suspend_spec give_up;
  give_up.or_deleted = true;
  const auto deleted = ask<caf::unit_t>(me, atom::remove_v, remove_spec{}, minute);
  const auto given_up = ask<workspace_view>(me, atom::suspend_v, give_up, minute);
  const auto suspended = ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute); // joins it, and wants what it says
  settle();
  CHECK(deleted->value);
  CHECK(given_up->value);
  REQUIRE(suspended->why);
  CHECK_EQ(suspended->why->reason, "SandboxDestroyed");
  CHECK_EQ(host.sent("DELETE"), 1u);
  CHECK_EQ(host.sent("PATCH"), 0u);
}

// [W 134] when the mode changed
SCENARIO("the inventory shows when the mode changed, and nothing before it ever did") {
  open();
  host.cluster.intercept = [this](const k8s::call& what, std::size_t) -> std::optional<workspace::test::desk_cluster::reply> {
    if (what.method != "GET" || !what.path.ends_with("/sandboxes"))
      return std::nullopt;
    return k8s::answer{nlohmann::json{{"items", nlohmann::json::array({*host.cluster.sandbox})}}};
  };
  const auto changed_at = [this] {
    std::optional<workspace::result<std::vector<workspace::summary>>> got;
    whole_flows::inventory->list(deadline{host.time, 1min},
                                 [&](workspace::result<std::vector<workspace::summary>> x) { got = std::move(x); });
    settle();
    REQUIRE(got);
    REQUIRE(*got);
    REQUIRE_EQ((*got)->size(), 1u);
    return (*got)->front().mode_changed_at;
  };
  CHECK(!changed_at());
  REQUIRE(settled<workspace_view>(atom::suspend_v, suspend_spec{}, minute)->value);
  const auto stamped = host.cluster.annotation("operating-mode-changed-at");
  REQUIRE(stamped);
  CHECK_EQ(changed_at(), stamped);
  REQUIRE(settled<opened_view>(atom::resume_v, open_spec{}, minute)->value);
  REQUIRE(changed_at());
  CHECK(*changed_at() >= *stamped);
}

CAF_TEST_FIXTURE_SCOPE_END()
