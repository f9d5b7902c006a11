#define CAF_SUITE workspace

#include "k8s/failure.hpp"
#include "tests/actors/actor_fixture.hpp"

using namespace paddock;
using namespace paddock::test;
using workspace::done;
using workspace::opened;
using workspace::origin;

namespace {

constexpr caf::timespan minute = 1min;

workspace::failure status_500() {
  return k8s::failure{k8s::api_failure{k8s::api_failure::transport::status, "PATCH", "/x", 500u, std::nullopt, true, "boom"}};
}

struct fixture : actor_fixture {
  workspace_actor opened_workspace() {
    auto me = make_workspace();
    auto got = ask<opened_view>(me, atom::open_v, open_spec{}, minute);
    transitions.opens.at(0).to({running(), opened{origin::created}});
    sched.run();
    REQUIRE(got->value);
    return me;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(workspace_tests, fixture)

SCENARIO("an open asks the port once and answers with what the session holds") {
  GIVEN("a WORKSPACE that has just started") {
    auto me = make_workspace();
    WHEN("it is opened without a template") {
      auto got = ask<opened_view>(me, atom::open_v, open_spec{}, minute);
      THEN("the port is asked with the node's template and the budget, and nothing is answered yet") {
        REQUIRE_EQ(transitions.opens.size(), 1u);
        CHECK_EQ(transitions.opens[0].how.template_name, "standard");
        CHECK(transitions.opens[0].how.create);
        CHECK(transitions.opens[0].until == deadline(time, minute));
        CHECK(transitions.opens[0].before.at == workspace::state::unknown);
        CHECK(!got->value);
        transitions.opens[0].to({running(), opened{origin::created}});
        sched.run();
        REQUIRE(got->value);
        CHECK_EQ(got->value->origin, "created");
        CHECK_EQ(got->value->view.state, "running");
        CHECK_EQ(got->value->view.sandbox_uid, "S1");
        CHECK_EQ(got->value->view.pod_uid, "P1");
      }
    }
  }
}

SCENARIO("verbs run one at a time, in the order of their messages") {
  GIVEN("a WORKSPACE that is being opened") {
    auto me = make_workspace();
    auto first = ask<opened_view>(me, atom::open_v, open_spec{}, minute);
    WHEN("a suspend and a resume follow") {
      auto second = ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
      auto third = ask<opened_view>(me, atom::resume_v, open_spec{}, minute);
      THEN("each is asked for only after the one before has ended, with the session it left") {
        CHECK_EQ(transitions.log, std::vector<std::string>({"open"}));
        transitions.opens[0].to({running(), opened{origin::created}});
        sched.run();
        CHECK_EQ(transitions.log, std::vector<std::string>({"open", "suspend"}));
        CHECK(transitions.suspends.at(0).before.at == workspace::state::running);
        CHECK(first->value);
        CHECK(!second->value);
        transitions.suspends[0].to({suspended(), done{}});
        sched.run();
        CHECK(second->value);
        CHECK_EQ(transitions.log, std::vector<std::string>({"open", "suspend", "resume"}));
        CHECK(transitions.resumes.at(0).before.at == workspace::state::suspended);
        CHECK(!transitions.resumes.at(0).how.create);
        auto next = running();
        next.pod = pod_uid{"P2"};
        transitions.resumes[0].to({next, opened{origin::resumed}});
        sched.run();
        REQUIRE(third->value);
        CHECK_EQ(third->value->view.pod_uid, "P2");
      }
    }
  }
}

SCENARIO("a failed verb answers with the named error and does not block the next") {
  auto me = opened_workspace();
  auto first = ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
  auto second = ask<opened_view>(me, atom::resume_v, open_spec{}, minute);
  workspace::refuse(transitions.suspends.at(0), running(), status_500());
  sched.run();
  REQUIRE(first->why);
  CHECK_EQ(first->why->reason, "Api");
  CHECK_EQ(transitions.resumes.size(), 1u);
  CHECK(!second->why);
}

SCENARIO("concurrent suspends share one flight and one outcome") {
  GIVEN("a suspend under way") {
    auto me = opened_workspace();
    auto first = ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
    WHEN("another one comes that asks for the same") {
      auto second = ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
      THEN("the port is asked once and both get the same failure; the next one asks again") {
        CHECK_EQ(transitions.suspends.size(), 1u);
        workspace::refuse(transitions.suspends[0], running(), status_500());
        sched.run();
        REQUIRE(first->why);
        REQUIRE(second->why);
        CHECK_EQ(first->why->message, second->why->message);
        ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
        CHECK_EQ(transitions.suspends.size(), 2u);
      }
    }
  }
}

SCENARIO("a suspend that wants more than the one under way is refused at once") {
  GIVEN("a suspend under way that neither flushes nor quiesces") {
    auto me = opened_workspace();
    auto flight = ask<workspace_view>(me, atom::suspend_v, suspend_spec{false, false}, minute);
    WHEN("others come that want to") {
      auto flush = ask<workspace_view>(me, atom::suspend_v, suspend_spec{true, false}, minute);
      auto quiesce = ask<workspace_view>(me, atom::suspend_v, suspend_spec{false, true}, minute);
      THEN("they are refused and the flight goes on") {
        REQUIRE(flush->why);
        CHECK_EQ(flush->why->reason, "FlushUnconfirmed");
        CHECK(flush->why->how == verdict::refused);
        REQUIRE(quiesce->why);
        CHECK_EQ(quiesce->why->reason, "QuiesceUnconfirmed");
        CHECK_EQ(transitions.suspends.size(), 1u);
        CHECK(transitions.cancelled.empty());
        transitions.suspends[0].to({suspended(), done{}});
        sched.run();
        CHECK(flight->value);
      }
    }
  }
}

SCENARIO("a suspend does not join one that lies before another verb") {
  GIVEN("a suspend under way and a resume behind it") {
    auto me = opened_workspace();
    auto first = ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
    ask<opened_view>(me, atom::resume_v, open_spec{}, minute);
    WHEN("another suspend comes") {
      auto last = ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
      THEN("it has its own turn after the resume") {
        transitions.suspends.at(0).to({suspended(), done{}});
        sched.run();
        CHECK(first->value);
        CHECK(!last->value);
        transitions.resumes.at(0).to({running(), opened{origin::resumed}});
        sched.run();
        CHECK_EQ(transitions.suspends.size(), 2u);
      }
    }
  }
}

SCENARIO("a late answer of a verb that is over changes nothing") {
  GIVEN("a WORKSPACE whose open has ended and whose suspend is under way") {
    auto me = opened_workspace();
    auto got = ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
    WHEN("the open answers a second time") {
      auto stranger = running();
      stranger.sandbox = sandbox_uid{"S9"};
      transitions.opens[0].to({stranger, opened{origin::created}});
      sched.run();
      THEN("neither the session nor the waiting suspend hears of it") {
        CHECK(!got->value);
        CHECK(!got->why);
        auto now = ask<workspace_view>(me, atom::view_v);
        REQUIRE(now->value);
        CHECK_EQ(now->value->sandbox_uid, "S1");
      }
    }
  }
}

SCENARIO("a call on a workspace that is not running is refused at admission and nothing is dialled") {
  auto me = opened_workspace();
  ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
  transitions.suspends.at(0).to({suspended(), done{}});
  sched.run();
  auto log = std::make_shared<sink_log>();
  auto sink = keep(sys.spawn(logging_sink, log));
  auto run = ask<call_actor>(me, atom::call_v, call_spec{run_spec{}}, sink, minute);
  auto read = ask<call_actor>(me, atom::call_v, call_spec{read_spec{}}, sink, minute);
  auto write = ask<call_actor>(me, atom::call_v, call_spec{write_spec{}}, sink, minute);
  for (const auto& got : {run, read, write}) {
    REQUIRE(got->why);
    CHECK_EQ(got->why->reason, "WorkspaceSuspended");
    CHECK_NE(got->why->details.find("admission"), std::string::npos);
  }
  CHECK(guests.log.empty());
  CHECK(transitions.explains.empty());
}

SCENARIO("a call on a WORKSPACE that has just started waits until the cluster was read") {
  auto me = make_workspace();
  auto log = std::make_shared<sink_log>();
  auto sink = keep(sys.spawn(logging_sink, log));
  auto first = ask<call_actor>(me, atom::call_v, call_spec{run_spec{}}, sink, minute);
  auto second = ask<call_actor>(me, atom::call_v, call_spec{run_spec{}}, sink, minute);
  // What stands is taken up once for both.
  CHECK_EQ(transitions.log, std::vector<std::string>({"take_up"}));
  CHECK(guests.starts.empty());
  transitions.take_ups.at(0).to({running(), done{}});
  sched.run();
  CHECK(first->value);
  CHECK(second->value);
  REQUIRE_EQ(guests.starts.size(), 2u);
  CHECK_EQ(guests.starts[0].where.host, "127.9.9.9");
  CHECK(guests.starts[0].where.token == secret{"P1"});
}

SCENARIO("calls that waited for what stands are answered when nothing does") {
  auto me = make_workspace();
  auto log = std::make_shared<sink_log>();
  auto sink = keep(sys.spawn(logging_sink, log));
  auto first = ask<call_actor>(me, atom::call_v, call_spec{run_spec{}}, sink, minute);
  auto second = ask<call_actor>(me, atom::call_v, call_spec{run_spec{}}, sink, minute);
  workspace::refuse(transitions.take_ups.at(0), {}, k8s::failure{k8s::already_gone{"GET", "/x", 404}});
  sched.run();
  REQUIRE(first->why);
  CHECK(first->why->how == verdict::not_found);
  REQUIRE(second->why);
  CHECK(guests.starts.empty());
  ask<call_actor>(me, atom::call_v, call_spec{run_spec{}}, sink, minute);
  CHECK_EQ(transitions.take_ups.size(), 2u);
}

SCENARIO("after a delete calls are refused as destroyed, and an open starts anew") {
  auto me = opened_workspace();
  auto first = ask<caf::unit_t>(me, atom::remove_v, remove_spec{}, minute);
  auto second = ask<caf::unit_t>(me, atom::remove_v, remove_spec{}, minute);
  CHECK_EQ(transitions.removes.size(), 1u);
  auto gone = running();
  gone.at = workspace::state::deleted;
  gone.epoch = 8;
  transitions.removes.at(0).to({gone, done{}});
  sched.run();
  CHECK(first->value);
  CHECK(second->value);
  auto log = std::make_shared<sink_log>();
  auto sink = keep(sys.spawn(logging_sink, log));
  auto call = ask<call_actor>(me, atom::call_v, call_spec{run_spec{}}, sink, minute);
  REQUIRE(call->why);
  CHECK_EQ(call->why->reason, "SandboxDestroyed");
  CHECK(transitions.take_ups.empty());
  CHECK(guests.log.empty());
  ask<opened_view>(me, atom::open_v, open_spec{}, minute);
  REQUIRE_EQ(transitions.opens.size(), 2u);
  CHECK(transitions.opens[1].before.at == workspace::state::deleted);
  CHECK(transitions.opens[1].before.epoch == std::optional<std::uint64_t>{8});
}

SCENARIO("a failed call is explained once, and a foreign suspend is remembered") {
  auto me = opened_workspace();
  auto log = std::make_shared<sink_log>();
  auto sink = keep(sys.spawn(logging_sink, log));
  ask<call_actor>(me, atom::call_v, call_spec{run_spec{}}, sink, minute);
  guests.starts.at(0).events.end(tl::unexpected{workspace::failure{guest::failure{guest::dial_failed{"127.9.9.9", 1024, "refused"}}}});
  sched.run();
  // The cluster is looked at before the sink is told anything.
  REQUIRE_EQ(transitions.explains.size(), 1u);
  CHECK_EQ(transitions.explains[0].operation, "exec");
  CHECK(log->failed.empty());
  auto after = suspended();
  after.at = workspace::state::suspending;
  workspace::refuse(transitions.explains[0], after, workspace::suspended{"exec", "desk", "namzu-ws-desk", "transport"});
  sched.run();
  REQUIRE_EQ(log->failed.size(), 1u);
  CHECK_EQ(log->failed[0].reason, "WorkspaceSuspended");
  auto next = ask<call_actor>(me, atom::call_v, call_spec{run_spec{}}, sink, minute);
  REQUIRE(next->why);
  CHECK_EQ(next->why->reason, "WorkspaceSuspended");
  CHECK_EQ(guests.starts.size(), 1u);
}

SCENARIO("a call that fails after its session is over is not explained by the next one") {
  auto me = opened_workspace();
  auto log = std::make_shared<sink_log>();
  auto sink = keep(sys.spawn(logging_sink, log));
  ask<call_actor>(me, atom::call_v, call_spec{run_spec{}}, sink, minute);
  ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
  transitions.suspends.at(0).to({suspended(), done{}});
  sched.run();
  guests.starts.at(0).events.end(tl::unexpected{workspace::failure{guest::failure{guest::lost{"closed"}}}});
  sched.run();
  CHECK(transitions.explains.empty());
  REQUIRE_EQ(log->failed.size(), 1u);
  CHECK_EQ(log->failed[0].reason, "RemoteLost");
}

SCENARIO("a boot id heard by a call of an older session is not taken for the new guest's") {
  auto me = opened_workspace();
  auto log = std::make_shared<sink_log>();
  auto sink = keep(sys.spawn(logging_sink, log));
  ask<call_actor>(me, atom::call_v, call_spec{run_spec{}}, sink, minute);
  ask<call_actor>(me, atom::call_v, call_spec{run_spec{}}, sink, minute);
  guests.starts.at(0).events.end(ended_well("B1"));
  sched.run();
  CHECK_EQ(ask<workspace_view>(me, atom::view_v)->value->guest_boot_id, "B1");
  ask<opened_view>(me, atom::resume_v, open_spec{}, minute);
  auto next = running();
  next.pod = pod_uid{"P2"};
  transitions.resumes.at(0).to({next, opened{origin::resumed}});
  sched.run();
  guests.starts.at(1).events.end(ended_well("B1"));
  sched.run();
  CHECK_EQ(ask<workspace_view>(me, atom::view_v)->value->pod_uid, "P2");
  CHECK_EQ(ask<workspace_view>(me, atom::view_v)->value->guest_boot_id, "");
}

SCENARIO("stopping answers everybody and ends after what is under way") {
  GIVEN("a verb under way, one in line, and a running call") {
    auto me = opened_workspace();
    auto log = std::make_shared<sink_log>();
    auto sink = keep(sys.spawn(logging_sink, log));
    ask<call_actor>(me, atom::call_v, call_spec{run_spec{}}, sink, minute);
    auto under_way = ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
    auto in_line = ask<opened_view>(me, atom::resume_v, open_spec{}, minute);
    WHEN("it is told to stop") {
      self->monitor(me);
      self->send(me, atom::stop_v);
      sched.run();
      THEN("what has not begun is refused; what has is withdrawn and awaited") {
        REQUIRE(in_line->why);
        CHECK_EQ(in_line->why->reason, "NodeStopping");
        CHECK(in_line->why->how == verdict::refused);
        CHECK_EQ(transitions.cancelled, std::vector<workspace::ticket>({transitions.suspends.at(0).name}));
        CHECK_EQ(guests.cancelled, std::vector<workspace::ticket>({guests.starts.at(0).name}));
        CHECK(self->mailbox().empty());
        workspace::refuse(transitions.suspends[0], running(), k8s::failure{k8s::cancelled{"PATCH", "/x", true}});
        guests.starts[0].events.end(ended_well());
        sched.run();
        CHECK(under_way->why);
        CHECK_EQ(log->ended.size(), 1u);
        CHECK(!self->mailbox().empty());
        auto late = ask<opened_view>(me, atom::open_v, open_spec{}, minute);
        CHECK(late->why);
      }
    }
  }
}

CAF_TEST_FIXTURE_SCOPE_END()
