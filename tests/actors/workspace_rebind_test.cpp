#define CAF_SUITE workspace_rebind

// Calls that ran nothing, and where else they go: the WORKSPACE and its CALLs over fakes, every order of two of them.

#include "tests/actors/listener.hpp"

using namespace paddock;
using namespace paddock::test;
using workspace::done;
using workspace::opened;
using workspace::origin;

namespace {

constexpr caf::timespan minute = 1min;
const auto unauthorized = guest::failure{guest::unauthorized{}};

workspace::found_pod p2() {
  return {pod_uid{"P2"}, guest::endpoint{"127.8.8.8", 1024, secret{"P2"}}};
}

struct fixture : actor_fixture {
  fixture() {
    me = make_workspace();
    ask<opened_view>(me, atom::open_v, open_spec{}, minute);
    transitions.opens.at(0).to({running(), opened{origin::created}});
    sched.run();
    log = std::make_shared<sink_log>();
    sink = keep(sys.spawn(logging_sink, log));
    heard = std::make_shared<heard_events>();
    ear = keep(sys.spawn(listener, heard));
    ask<std::vector<workspace_event>>(me, atom::subscribe_v, ear);
  }
  /// A call that runs; its number among the starts.
  std::size_t call() {
    calls.push_back(ask<call_actor>(me, atom::call_v, call_spec{run_spec{}}, sink, minute));
    return guests.starts.size() - 1;
  }
  void refuse(std::size_t which) {
    guests.starts.at(which).events.refused(unauthorized);
    sched.run();
  }
  void fail(std::size_t which) {
    guests.starts.at(which).events.end(tl::unexpected{workspace::failure{unauthorized}});
    sched.run();
  }
  void answer_look(std::size_t which, workspace::result<std::optional<workspace::found_pod>> x) {
    transitions.rereads.at(which).to(std::move(x));
    sched.run();
  }
  workspace_view now() {
    return *ask<workspace_view>(me, atom::view_v)->value;
  }
  /// Where the call was told to go; empty: nowhere.
  std::string sent_to(std::size_t which) {
    for (const auto& x : guests.moves)
      if (x.name == guests.starts.at(which).name)
        return x.to ? x.to->host : "nowhere";
    return "not told";
  }
  workspace_actor me;
  std::shared_ptr<sink_log> log;
  sink_actor sink;
  std::shared_ptr<heard_events> heard;
  event_sink_actor ear;
  std::vector<std::shared_ptr<answer_of<call_actor>>> calls;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(workspace_rebind_tests, fixture)

SCENARIO("two refused calls share one look and one event, in whatever order they and its answer come") {
  // 0 and 1 are the refusals, 2 is the answer of the look, which the first refusal asks for.
  const std::array<std::array<int, 3>, 4> orders = {{{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}}};
  for (const auto& order : orders) {
    fixture one;
    const std::array<std::size_t, 2> which = {one.call(), one.call()};
    for (const auto step : order)
      if (step == 2)
        one.answer_look(0, p2());
      else
        one.refuse(which[static_cast<std::size_t>(step)]);
    CHECK_EQ(one.transitions.rereads.size(), 1u);
    CHECK(one.transitions.rereads[0].now.pod == pod_uid{"P1"});
    CHECK_EQ(one.sent_to(which[0]), "127.8.8.8");
    CHECK_EQ(one.sent_to(which[1]), "127.8.8.8");
    CHECK_EQ(one.guests.moves.size(), 2u);
    REQUIRE_EQ(one.heard->events.size(), 1u);
    CHECK_EQ(one.heard->events[0].reason, "pod-replaced");
    CHECK_EQ(one.now().pod_uid, "P2");
    // Both are carried on, and what they say is of the new pod.
    one.guests.starts[which[0]].events.end(ended_well("B2"));
    one.guests.starts[which[1]].events.end(ended_well("B2"));
    one.sched.run();
    CHECK_EQ(one.log->ended.size(), 2u);
    CHECK_EQ(one.now().guest_boot_id, "B2");
    CHECK_EQ(one.heard->events.size(), 1u);
  }
}

SCENARIO("where there is no other pod each refused call ends as it was refused, and is explained") {
  const auto a = call();
  const auto b = call();
  refuse(a);
  refuse(b);
  answer_look(0, std::optional<workspace::found_pod>{});
  CHECK_EQ(sent_to(a), "nowhere");
  CHECK_EQ(sent_to(b), "nowhere");
  fail(a);
  fail(b);
  REQUIRE_EQ(transitions.explains.size(), 2u);
  for (auto& x : transitions.explains)
    workspace::refuse(x, running(), x.original);
  sched.run();
  REQUIRE_EQ(log->failed.size(), 2u);
  CHECK_EQ(log->failed[0].reason, "AgentUnauthorized");
  CHECK(heard->events.empty());
  // The next one asks anew.
  const auto c = call();
  refuse(c);
  CHECK_EQ(transitions.rereads.size(), 2u);
}

SCENARIO("a workspace that is somebody else's by now is what the call fails of") {
  const auto a = call();
  refuse(a);
  answer_look(0, tl::unexpected{workspace::failure{workspace::replaced{"desk", "namzu-ws-desk", sandbox_uid{"S1"}, sandbox_uid{"S2"}}}});
  CHECK_EQ(sent_to(a), "nowhere");
  fail(a);
  REQUIRE_EQ(transitions.explains.size(), 1u);
  CHECK(std::holds_alternative<workspace::replaced>(transitions.explains[0].original));
  CHECK_EQ(now().pod_uid, "P1");
}

SCENARIO("an overtaken session ends, and what stands is read before the next call") {
  const auto a = call();
  refuse(a);
  answer_look(0, tl::unexpected{workspace::failure{workspace::precondition{"rebind", "desk", "namzu-ws-desk", 7, 8, "8"}}});
  fail(a);
  REQUIRE_EQ(log->failed.size(), 1u);
  CHECK_EQ(log->failed[0].reason, "WorkspacePrecondition");
  CHECK(transitions.explains.empty());
  CHECK(now().pod_uid.empty());
  ask<call_actor>(me, atom::call_v, call_spec{run_spec{}}, sink, minute);
  REQUIRE_EQ(transitions.take_ups.size(), 1u);
  CHECK(transitions.take_ups[0].before.epoch == std::optional<std::uint64_t>{7});
}

SCENARIO("a look of an older session changes nothing, and moves nobody") {
  const auto a = call();
  refuse(a);
  ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
  transitions.suspends.at(0).to({suspended(), done{}});
  sched.run();
  answer_look(0, p2());
  CHECK_EQ(sent_to(a), "nowhere");
  CHECK_EQ(now().state, "suspended");
  CHECK(now().pod_uid.empty());
  CHECK(heard->events.empty());
}

SCENARIO("a call of an older session is not looked for at all") {
  const auto a = call();
  ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
  transitions.suspends.at(0).to({suspended(), done{}});
  sched.run();
  refuse(a);
  CHECK(transitions.rereads.empty());
  CHECK_EQ(sent_to(a), "nowhere");
}

SCENARIO("while a verb owns the session a look moves the call, and the session is left to the verb") {
  const auto a = call();
  refuse(a);
  const auto resumed = ask<opened_view>(me, atom::resume_v, open_spec{}, minute);
  answer_look(0, p2());
  CHECK_EQ(sent_to(a), "127.8.8.8");
  CHECK(heard->events.empty());
  transitions.resumes.at(0).to({running(), opened{origin::adopted_running}});
  sched.run();
  CHECK_EQ(now().pod_uid, "P1");
  // Who is turned away next finds it, and says so.
  const auto b = call();
  refuse(b);
  answer_look(1, p2());
  CHECK_EQ(now().pod_uid, "P2");
  CHECK_EQ(heard->events.size(), 1u);
}

SCENARIO("what is heard while a verb is under way that leaves the session as it is is not forgotten, nor told twice") {
  const auto a = call();
  const auto b = call();
  const auto c = call();
  guests.starts[a].events.end(ended_well("B1"));
  sched.run();
  ask<opened_view>(me, atom::resume_v, open_spec{}, minute);
  const auto before = transitions.resumes.at(0).before;
  guests.starts[b].events.end(ended_well("B2"));
  sched.run();
  transitions.resumes[0].to({before, opened{origin::adopted_running}});
  sched.run();
  CHECK_EQ(now().guest_boot_id, "B2");
  guests.starts[c].events.end(ended_well("B2"));
  sched.run();
  CHECK_EQ(heard->events.size(), 1u);
}

SCENARIO("a verb that hears the guest of the session under another boot id tells of it once") {
  guests.starts[call()].events.end(ended_well("B1"));
  sched.run();
  auto named = open_spec{};
  named.expect_uid = "S1";
  ask<opened_view>(me, atom::open_v, named, minute);
  auto after = running();
  after.boot = guest_boot_id{"B2"};
  transitions.opens.at(1).to({after, opened{origin::adopted_running}});
  sched.run();
  REQUIRE_EQ(heard->events.size(), 1u);
  CHECK_EQ(heard->events[0].reason, "container-restarted");
  CHECK_EQ(heard->events[0].previous.guest_boot_id, "B1");
  CHECK_EQ(heard->events[0].current.guest_boot_id, "B2");
  CHECK_EQ(now().guest_boot_id, "B2");
  // A verb that heard nothing takes nothing back.
  ask<opened_view>(me, atom::open_v, named, minute);
  after.boot.reset();
  transitions.opens.at(2).to({after, opened{origin::adopted_running}});
  sched.run();
  CHECK_EQ(now().guest_boot_id, "B2");
  CHECK_EQ(heard->events.size(), 1u);
}

SCENARIO("a question is asked in the new pod once, and then its failure stands") {
  const auto got = ask<guest_answer>(me, atom::ask_v, guest_question{sessions_question{}}, minute);
  REQUIRE_EQ(guests.asks.size(), 1u);
  guests.asks[0].to(tl::unexpected{workspace::failure{unauthorized}});
  sched.run();
  answer_look(0, p2());
  REQUIRE_EQ(guests.asks.size(), 2u);
  CHECK_EQ(guests.asks[1].where.host, "127.8.8.8");
  guests.asks[1].to(tl::unexpected{workspace::failure{unauthorized}});
  sched.run();
  CHECK_EQ(transitions.rereads.size(), 1u);
  REQUIRE_EQ(transitions.explains.size(), 1u);
  workspace::refuse(transitions.explains[0], running(), unauthorized);
  sched.run();
  REQUIRE(got->why);
  CHECK_EQ(got->why->reason, "AgentUnauthorized");
}

SCENARIO("a question in line is asked in the new pod before the next verb has its turn") {
  const auto flush = ask<guest_answer>(me, atom::ask_v, guest_question{flush_question{}}, minute);
  const auto suspend = ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
  guests.asks.at(0).to(tl::unexpected{workspace::failure{unauthorized}});
  sched.run();
  CHECK(transitions.suspends.empty());
  answer_look(0, p2());
  REQUIRE_EQ(guests.asks.size(), 2u);
  CHECK(transitions.suspends.empty());
  guests.asks[1].to(workspace::reply{guest::flush_report{}});
  sched.run();
  CHECK(flush->value);
  REQUIRE_EQ(transitions.suspends.size(), 1u);
  CHECK(transitions.suspends[0].before.pod == pod_uid{"P2"});
}

SCENARIO("a call that waits for another pod ends when nobody is left to look for one") {
  const auto a = call();
  refuse(a);
  caf::anon_send_exit(me, caf::exit_reason::kill);
  sched.run();
  CHECK_EQ(sent_to(a), "nowhere");
}

SCENARIO("a WORKSPACE that stops withdraws its looks, and ends once they have been answered") {
  const auto a = call();
  refuse(a);
  self->monitor(me);
  self->send(me, atom::stop_v);
  sched.run();
  CHECK_EQ(transitions.cancelled, std::vector<workspace::ticket>({transitions.rereads.at(0).name}));
  answer_look(0, std::optional<workspace::found_pod>{});
  CHECK_EQ(sent_to(a), "nowhere");
  fail(a);
  for (auto& x : transitions.explains)
    workspace::refuse(x, running(), x.original);
  sched.run();
  CHECK_EQ(log->failed.size(), 1u);
  CHECK(!self->mailbox().empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
