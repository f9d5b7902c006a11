#define CAF_SUITE whole

// Actors over the real ports and flows, with a scripted API server and guest: the cases that speak of several callers.

#include "tests/actors/actor_fixture.hpp"
#include "tests/support/scripted_hosts.hpp"
#include "tests/workspace/desk.hpp"
#include "workspace/flows/guest_calls.hpp"
#include "workspace/flows/ports.hpp"

using namespace paddock;
using namespace paddock::test;
using workspace::test::desk;

namespace {

constexpr caf::timespan minute = 1min;

/// The flows, in a base of their own so that they outlive the actors.
struct flows {
  desk host{desk::host::unfenced, desk::api_server::without_uids};
  flow_group group{host.context.get_executor()};
  std::unique_ptr<workspace::transitions_port> transitions = workspace::make_transitions(host.on, group);
  std::unique_ptr<workspace::inventory_port> inventory = workspace::make_inventory(host.on, group);
  scripted_hosts hosts{host.on.guests};
  std::unique_ptr<workspace::guest_port> guests = workspace::make_guest_calls(hosts.ways(), host.on.time, group);
  actor_world on{*transitions, *inventory, *guests, host.time, "tpl", [](const std::string&) {}};
};

struct fixture : flows, actor_fixture {
  fixture() {
    me = keep(sys.spawn<workspace_impl>(std::ref(on), *workspace::id::parse("desk")));
  }
  ~fixture() {
    group.close([] {});
    settle();
  }
  /// Lets actors and flows run, and time move on while a flow sleeps, until nothing is left to do.
  void settle() {
    for (auto idle = 0; idle < 3;) {
      sched.run();
      host.context.restart();
      if (host.context.poll() > 0) {
        idle = 0;
        continue;
      }
      ++idle;
      if (const auto next = host.time.next(); next && idle == 2) {
        host.time.advance_to(*next);
        idle = 0;
      }
    }
  }
  template <class T, class... Ts>
  std::shared_ptr<answer_of<T>> settled(Ts... xs) {
    auto got = ask<T>(me, xs...);
    settle();
    return got;
  }
  void open() {
    auto got = settled<opened_view>(atom::open_v, open_spec{}, minute);
    REQUIRE(got->value);
    host.forget();
  }
  /// What `exec` comes to: the end that its sink is told, or why it was refused.
  std::shared_ptr<sink_log> exec(std::optional<problem>* refused = nullptr) {
    auto log = std::make_shared<sink_log>();
    auto sink = keep(sys.spawn(logging_sink, log));
    run_spec what;
    what.program = "true";
    auto got = settled<call_actor>(atom::call_v, call_spec{what}, sink, minute);
    if (refused != nullptr)
      *refused = got->why;
    return log;
  }
  std::size_t writes() {
    return host.sent("PATCH") + host.sent("POST") + host.sent("DELETE");
  }
  static std::optional<workspace::test::desk_cluster::reply> status(unsigned code, const k8s::call& what) {
    return tl::unexpected{
      k8s::failure{k8s::api_failure{k8s::api_failure::transport::status, what.method, what.path, code, std::nullopt, true, "scripted"}}};
  }
  workspace_actor me;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(whole_tests, fixture)

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
  CHECK(settled<caf::unit_t>(atom::remove_v, minute)->value);
  CHECK_EQ(host.sent("DELETE"), 1u);
  CHECK_EQ(host.sent("PATCH"), 0u);
  auto now = settled<workspace_view>(atom::view_v);
  CHECK_EQ(now->value->state, "deleted"); // neither suspended nor with a session
  CHECK(now->value->pod_uid.empty());
  std::optional<problem> refused;
  exec(&refused);
  REQUIRE(refused);
  CHECK_EQ(refused->reason, "SandboxDestroyed");
  CHECK(settled<caf::unit_t>(atom::remove_v, minute)->value);
  CHECK_EQ(host.sent("DELETE"), 1u);
}

// [W 124] concurrent deletes share one flight
SCENARIO("two concurrent deletes whose DELETE answers 500 get the same failure from one DELETE") {
  open();
  host.cluster.intercept = [](const k8s::call& what, std::size_t) { return what.method == "DELETE" ? status(500, what) : std::nullopt; };
  auto first = ask<caf::unit_t>(me, atom::remove_v, minute);
  auto second = ask<caf::unit_t>(me, atom::remove_v, minute);
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
    flows::inventory->list(deadline{host.time, 1min}, [&](workspace::result<std::vector<workspace::summary>> x) { got = std::move(x); });
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
