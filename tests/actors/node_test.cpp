#define CAF_SUITE node

#include "tests/actors/actor_fixture.hpp"

using namespace paddock;
using namespace paddock::test;
using workspace::opened;
using workspace::origin;

namespace {

constexpr caf::timespan minute = 1min;

struct fixture : actor_fixture {
  fixture() {
    node_info about;
    about.version = "1.2.3";
    about.protocol = message_protocol;
    about.shards = 4;
    node = keep(sys.spawn<node_impl>(std::ref(world), about));
  }
  static workspace::summary summary_of(const std::string& which) {
    workspace::summary out;
    out.workspace = which;
    out.sandbox_name = "namzu-ws-" + which;
    out.template_name = "standard";
    out.mode = "Running";
    out.holder_epoch = 7;
    out.sandbox = sandbox_uid{"S1"};
    return out;
  }
  node_actor node;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(node_tests, fixture)

SCENARIO("an id that cannot name a Sandbox is refused by every verb and nothing is asked") {
  for (auto text : {"Acme Checkout", "-lead", "trail-", "", "a_b", "\xc3\x89"}) {
    const std::string which{text};
    auto log = std::make_shared<sink_log>();
    auto sink = keep(sys.spawn(logging_sink, log));
    const std::vector<std::optional<problem>> all = {
      ask<opened_view>(node, atom::open_v, which, open_spec{}, minute)->why,
      ask<workspace_view>(node, atom::suspend_v, which, suspend_spec{}, minute)->why,
      ask<opened_view>(node, atom::resume_v, which, open_spec{}, minute)->why,
      ask<caf::unit_t>(node, atom::remove_v, which, remove_spec{}, minute)->why,
      ask<workspace_view>(node, atom::get_v, which, minute)->why,
      ask<call_actor>(node, atom::call_v, which, call_spec{run_spec{}}, sink, minute)->why,
    };
    for (const auto& why : all) {
      REQUIRE(why);
      CHECK(why->how == verdict::usage);
      CHECK_NE(why->message.find("cannot name a Sandbox"), std::string::npos);
    }
  }
  CHECK(transitions.log.empty());
  CHECK(inventory.gets.empty());
  CHECK(guests.log.empty());
}

SCENARIO("get adds what this node's session holds to what the cluster says, and wakes nothing") {
  ask<opened_view>(node, atom::open_v, "desk"s, open_spec{}, minute);
  transitions.opens.at(0).to({running(), opened{origin::created}});
  sched.run();
  auto got = ask<workspace_view>(node, atom::get_v, "desk"s, minute);
  REQUIRE_EQ(inventory.gets.size(), 1u);
  inventory.gets[0].to(summary_of("desk"));
  sched.run();
  REQUIRE(got->value);
  CHECK_EQ(got->value->mode, "Running");
  CHECK_EQ(got->value->state, "running");
  CHECK_EQ(got->value->pod_uid, "P1");
  // A session of another object says nothing about the one that stands.
  got = ask<workspace_view>(node, atom::get_v, "desk"s, minute);
  auto other = summary_of("desk");
  other.sandbox = sandbox_uid{"S2"};
  inventory.gets[1].to(other);
  sched.run();
  REQUIRE(got->value);
  CHECK_EQ(got->value->sandbox_uid, "S2");
  CHECK(got->value->state.empty());
  CHECK(got->value->pod_uid.empty());
  // One that this node has not touched: no WORKSPACE is started for it.
  got = ask<workspace_view>(node, atom::get_v, "lamp"s, minute);
  inventory.gets.back().to(summary_of("lamp"));
  sched.run();
  REQUIRE(got->value);
  CHECK(got->value->state.empty());
  CHECK(transitions.take_ups.empty());
}

SCENARIO("list adds what the sessions of this node hold to their rows, and wakes nothing") {
  ask<opened_view>(node, atom::open_v, "desk"s, open_spec{}, minute);
  transitions.opens.at(0).to({running(), opened{origin::created}});
  sched.run();
  auto got = ask<std::vector<workspace_view>>(node, atom::list_v, minute);
  inventory.lists.at(0).to(std::vector{summary_of("lamp"), summary_of("desk")});
  sched.run();
  REQUIRE(got->value);
  REQUIRE_EQ(got->value->size(), 2u);
  CHECK_EQ(got->value->at(0).workspace, "lamp");
  CHECK(got->value->at(0).state.empty());
  CHECK_EQ(got->value->at(1).state, "running");
  CHECK_EQ(got->value->at(1).pod_uid, "P1");
  CHECK(transitions.take_ups.empty());
  auto none = ask<std::vector<workspace_view>>(node, atom::list_v, minute);
  inventory.lists.at(1).to(std::vector<workspace::summary>{});
  sched.run();
  REQUIRE(none->value);
  CHECK(none->value->empty());
}

SCENARIO("list answers with the whole inventory in the order of the server") {
  auto got = ask<std::vector<workspace_view>>(node, atom::list_v, minute);
  REQUIRE_EQ(inventory.lists.size(), 1u);
  inventory.lists[0].to(std::vector{summary_of("b"), summary_of("a")});
  sched.run();
  REQUIRE(got->value);
  REQUIRE_EQ(got->value->size(), 2u);
  CHECK_EQ(got->value->at(0).workspace, "b");
  auto failed = ask<std::vector<workspace_view>>(node, atom::list_v, minute);
  inventory.lists[1].to(tl::unexpected{workspace::failure{k8s::failure{k8s::credential_failure{"GET", "/x", 403}}}});
  sched.run();
  REQUIRE(failed->why);
  CHECK_EQ(failed->why->reason, "Credential");
}

SCENARIO("info says what the node is and how many workspaces are alive") {
  ask<opened_view>(node, atom::open_v, "desk"s, open_spec{}, minute);
  ask<opened_view>(node, atom::open_v, "lamp"s, open_spec{}, minute);
  auto got = ask<node_info>(node, atom::info_v);
  REQUIRE(got->value);
  CHECK_EQ(got->value->version, "1.2.3");
  CHECK_EQ(got->value->workspaces, 2u);
}

SCENARIO("a NODE that stops refuses new work and ends after its last WORKSPACE") {
  auto under_way = ask<opened_view>(node, atom::open_v, "desk"s, open_spec{}, minute);
  self->monitor(node);
  ask<caf::unit_t>(node, atom::stop_v);
  CHECK(self->mailbox().empty());
  auto late = ask<opened_view>(node, atom::open_v, "lamp"s, open_spec{}, minute);
  REQUIRE(late->why);
  CHECK_EQ(late->why->reason, "NodeStopping");
  workspace::refuse(transitions.opens.at(0), {}, k8s::failure{k8s::cancelled{"POST", "/x", false}});
  sched.run();
  CHECK(under_way->why);
  CHECK(!self->mailbox().empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
