#define CAF_SUITE questions

#include "tests/actors/actor_fixture.hpp"

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr caf::timespan minute = 1min;

struct fixture : actor_fixture {
  fixture() {
    me = make_workspace();
  }
  void open() {
    ask<opened_view>(me, atom::open_v, open_spec{}, minute);
    transitions.opens.back().to({running(), workspace::opened{}});
    sched.run();
  }
  template <class Question>
  std::shared_ptr<answer_of<guest_answer>> put(Question what) {
    return ask<guest_answer>(me, atom::ask_v, guest_question{std::move(what)}, minute);
  }
  workspace_actor me;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(questions_tests, fixture)

SCENARIO("a question goes to the guest of the session, and its answer comes back") {
  open();
  const auto got = put(sessions_question{});
  REQUIRE_EQ(guests.asks.size(), 1u);
  CHECK_EQ(guests.asks[0].where.host, "127.9.9.9");
  CHECK(!guests.asks[0].where.pinned);
  CHECK(std::holds_alternative<workspace::list_sessions>(guests.asks[0].what));
  auto row = guest::session_row{};
  row.session = "s1";
  row.exit_code = -1;
  row.signal = 9;
  guests.asks[0].to(workspace::reply{std::vector<guest::session_row>{row}});
  sched.run();
  REQUIRE(got->value);
  const auto& rows = std::get<sessions_answer>(got->value->what).sessions;
  REQUIRE_EQ(rows.size(), 1u);
  CHECK_EQ(rows[0].session, "s1");
  CHECK(rows[0].signal == 9);
}

SCENARIO("questions of several callers are with the guest at the same time") {
  open();
  const auto first = put(sessions_question{});
  const auto second = put(session_kill_question{"s1", ""});
  const auto third = put(cancel_question{"exec_1"});
  REQUIRE_EQ(guests.asks.size(), 3u);
  CHECK(!std::get<workspace::kill_session>(guests.asks[1].what).signal);
  guests.asks[2].to(workspace::reply{});
  guests.asks[0].to(workspace::reply{std::vector<guest::session_row>{}});
  sched.run();
  CHECK(first->value);
  CHECK(!second->value);
  REQUIRE(third->value);
  CHECK(std::holds_alternative<done_answer>(third->value->what));
}

SCENARIO("a question to a workspace that is not running is refused at admission and nothing is dialled") {
  open();
  ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
  transitions.suspends.at(0).to({suspended(), workspace::done{}});
  sched.run();
  for (const auto& got : {put(sessions_question{}), put(quiesce_question{}), put(flush_question{}), put(session_start_question{})}) {
    REQUIRE(got->why);
    CHECK_EQ(got->why->reason, "WorkspaceSuspended");
    CHECK_NE(got->why->details.find("admission"), std::string::npos);
  }
  CHECK(guests.log.empty());
}

SCENARIO("a question to a WORKSPACE that has just started waits until the cluster was read") {
  const auto asked = put(sessions_question{});
  const auto flushed = put(flush_question{});
  CHECK_EQ(transitions.log, std::vector<std::string>({"take_up"}));
  CHECK(guests.asks.empty());
  transitions.take_ups.at(0).to({running(), workspace::done{}});
  sched.run();
  CHECK_EQ(guests.asks.size(), 2u);
  CHECK(!asked->value);
  CHECK(!flushed->value);
}

SCENARIO("what the cluster says to a WORKSPACE that knows nothing is the answer of the questions in line") {
  const auto quiesced = put(quiesce_question{});
  const auto flushed = put(flush_question{});
  CHECK_EQ(transitions.log, std::vector<std::string>({"take_up"}));
  workspace::refuse(transitions.take_ups.at(0), {}, workspace::destroyed{"take_up", "desk"});
  sched.run();
  for (const auto& got : {quiesced, flushed}) {
    REQUIRE(got->why);
    CHECK_EQ(got->why->reason, "SandboxDestroyed");
  }
  // Nothing is known still: the next one asks the cluster again, and once.
  const auto next = put(flush_question{});
  CHECK_EQ(transitions.log, std::vector<std::string>({"take_up", "take_up"}));
  transitions.take_ups.at(1).to({{}, workspace::done{}});
  sched.run();
  REQUIRE(next->why);
  CHECK_EQ(transitions.take_ups.size(), 2u);
  CHECK(guests.asks.empty());
}

SCENARIO("that the time of one question was up is no answer for those behind it") {
  const auto quiesced = ask<guest_answer>(me, atom::ask_v, guest_question{quiesce_question{}}, caf::timespan{100ms});
  const auto flushed = put(flush_question{});
  time.at += 200ms;
  workspace::refuse(transitions.take_ups.at(0), {}, workspace::destroyed{"take_up", "desk"});
  sched.run();
  REQUIRE(quiesced->why);
  CHECK(!flushed->why);
  REQUIRE_EQ(transitions.take_ups.size(), 2u);
  workspace::refuse(transitions.take_ups.at(1), {}, workspace::destroyed{"take_up", "desk"});
  sched.run();
  REQUIRE(flushed->why);
  CHECK_EQ(flushed->why->reason, "SandboxDestroyed");
}

SCENARIO("a quiesce and a flush wait in line with the verbs") {
  open();
  auto grace = quiesce_question{caf::timespan{2s}, false};
  const auto quiesced = put(grace);
  const auto suspended_later = ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
  const auto flushed = put(flush_question{});
  const auto sessions = put(sessions_question{}); // stands in no line
  REQUIRE_EQ(guests.asks.size(), 2u);
  CHECK(std::get<workspace::quiesce_guest>(guests.asks[0].what).how.grace == 2000ms);
  CHECK(std::holds_alternative<workspace::list_sessions>(guests.asks[1].what));
  CHECK(transitions.suspends.empty());
  guests.asks[0].to(workspace::reply{guest::quiesce_report{{{12, "sleep", "SIGTERM"}}, "pid-namespace", 2000, 1}});
  sched.run();
  REQUIRE(quiesced->value);
  CHECK_EQ(std::get<quiesce_answer>(quiesced->value->what).stopped.at(0).pid, 12);
  REQUIRE_EQ(transitions.suspends.size(), 1u);
  CHECK_EQ(guests.asks.size(), 2u);
  transitions.suspends[0].to({suspended(), workspace::done{}});
  sched.run();
  CHECK(suspended_later->value);
  // The flush came after the suspend: there is no guest any more, and nothing is dialled.
  REQUIRE(flushed->why);
  CHECK_EQ(flushed->why->reason, "WorkspaceSuspended");
  CHECK_EQ(guests.asks.size(), 2u);
}

SCENARIO("a question that failed is explained by what the cluster says") {
  open();
  const auto got = put(sessions_question{});
  guests.asks.at(0).to(tl::unexpected{workspace::failure{guest::failure{guest::lost{"reset"}}}});
  sched.run();
  CHECK(!got->why);
  REQUIRE_EQ(transitions.explains.size(), 1u);
  CHECK_EQ(transitions.explains[0].operation, "listSessions");
  workspace::refuse(transitions.explains[0], suspended(), workspace::suspended{"listSessions", "desk", "namzu-ws-desk", "transport"});
  sched.run();
  REQUIRE(got->why);
  CHECK_EQ(got->why->reason, "WorkspaceSuspended");
  // The session is what the cluster says from now on.
  const auto next = put(sessions_question{});
  REQUIRE(next->why);
  CHECK_EQ(guests.asks.size(), 1u);
}

SCENARIO("a question in line that failed is explained before the next verb has its turn") {
  open();
  const auto flushed = put(flush_question{});
  const auto behind = ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
  const auto lost = workspace::failure{guest::failure{guest::lost{"cut"}}};
  guests.asks.at(0).to(tl::unexpected{lost});
  sched.run();
  REQUIRE_EQ(transitions.explains.size(), 1u);
  CHECK_EQ(transitions.explains[0].operation, "flush");
  CHECK(transitions.suspends.empty());
  CHECK(!flushed->why);
  workspace::refuse(transitions.explains[0], running(), lost);
  sched.run();
  REQUIRE(flushed->why);
  CHECK_EQ(flushed->why->reason, "RemoteLost");
  REQUIRE_EQ(transitions.suspends.size(), 1u);
  CHECK(transitions.suspends[0].before.at == workspace::state::running);
  CHECK(!behind->why);
}

SCENARIO("that a guest cannot do what is asked is an answer, and nothing is looked up") {
  open();
  const auto sessions = put(sessions_question{});
  const auto flushed = put(flush_question{});
  for (const auto& x : guests.asks)
    x.to(tl::unexpected{workspace::failure{guest::failure{guest::unsupported{"flush"}}}});
  sched.run();
  CHECK(sessions->why);
  CHECK(flushed->why);
  CHECK(transitions.explains.empty());
}

// -- a suspend of what this WORKSPACE does not hold yet ------------------------------

SCENARIO("the first suspend of a WORKSPACE takes up the guest that it quiesces or flushes") {
  const auto asked = suspend_spec{true, true};
  const auto first = ask<workspace_view>(me, atom::suspend_v, asked, minute);
  const auto joined = ask<workspace_view>(me, atom::suspend_v, asked, minute);
  CHECK_EQ(transitions.log, std::vector<std::string>({"take_up"}));
  CHECK(transitions.take_ups.at(0).until == deadline(time, minute));
  transitions.take_ups[0].to({running(), workspace::done{}});
  sched.run();
  REQUIRE_EQ(transitions.suspends.size(), 1u);
  CHECK(transitions.suspends[0].before.at == workspace::state::running);
  CHECK(transitions.suspends[0].how.quiesce);
  transitions.suspends[0].to({suspended(), workspace::done{}});
  sched.run();
  CHECK(first->value);
  CHECK(joined->value);
}

SCENARIO("a quiescing suspend that names its Sandbox takes up that one, and its failure is nobody else's") {
  auto named = suspend_spec{true, true};
  named.expect_uid = "S1";
  const auto got = ask<workspace_view>(me, atom::suspend_v, named, minute);
  REQUIRE_EQ(transitions.take_ups.size(), 1u);
  CHECK_EQ(transitions.take_ups[0].before.sandbox, sandbox_uid{"S1"});
  const auto quiesced = put(quiesce_question{});
  const auto sessions = put(sessions_question{});
  const auto stranger = workspace::replaced{"desk", "namzu-ws-desk", sandbox_uid{"S1"}, sandbox_uid{"S2"}};
  workspace::refuse(transitions.take_ups[0], transitions.take_ups[0].before, stranger);
  sched.run();
  REQUIRE(got->why);
  CHECK_EQ(got->why->reason, "WorkspaceReplaced");
  CHECK(transitions.suspends.empty());
  // The others named none: what stands is read for them, and whichever it is.
  CHECK(!quiesced->why);
  CHECK(!sessions->why);
  REQUIRE_EQ(transitions.take_ups.size(), 2u);
  CHECK(!transitions.take_ups[1].before.sandbox);
  auto stands = running();
  stands.sandbox = sandbox_uid{"S2"};
  transitions.take_ups[1].to({stands, workspace::done{}});
  sched.run();
  CHECK_EQ(guests.asks.size(), 2u);
  CHECK_EQ(transitions.take_ups.size(), 2u);
}

SCENARIO("what is gone for a suspend that names it is not known to be deleted for others") {
  auto named = suspend_spec{true, true};
  named.expect_uid = "S1";
  const auto got = ask<workspace_view>(me, atom::suspend_v, named, minute);
  auto after = transitions.take_ups.at(0).before;
  after.at = workspace::state::deleted;
  workspace::refuse(transitions.take_ups[0], after, k8s::failure{k8s::already_gone{"GET", "/x", 404}});
  sched.run();
  REQUIRE(got->why);
  CHECK(got->why->how == verdict::not_found);
  put(sessions_question{});
  REQUIRE_EQ(transitions.take_ups.size(), 2u);
  CHECK(!transitions.take_ups[1].before.sandbox);
}

SCENARIO("a call that waits for a verb which names another Sandbox than stands is not answered by its failure") {
  auto named = open_spec{};
  named.expect_uid = "S1";
  const auto opened = ask<opened_view>(me, atom::open_v, named, minute);
  const auto sessions = put(sessions_question{});
  CHECK(transitions.take_ups.empty());
  workspace::refuse(transitions.opens.at(0), {}, workspace::replaced{"desk", "namzu-ws-desk", sandbox_uid{"S1"}, sandbox_uid{"S2"}});
  sched.run();
  CHECK(opened->why);
  CHECK(!sessions->why);
  REQUIRE_EQ(transitions.take_ups.size(), 1u);
  transitions.take_ups[0].to({running(), workspace::done{}});
  sched.run();
  CHECK_EQ(guests.asks.size(), 1u);
}

SCENARIO("a suspend that asks nothing of the guest looks for none") {
  ask<workspace_view>(me, atom::suspend_v, suspend_spec{false, false}, minute);
  CHECK_EQ(transitions.log, std::vector<std::string>({"suspend"}));
}

SCENARIO("where the guest is not found a quiescing suspend is refused, and a flushing one goes on and says so") {
  const auto no = workspace::no_pod{"namzu-ws-desk", "none"};
  const auto quiescing = ask<workspace_view>(me, atom::suspend_v, suspend_spec{true, true}, minute);
  workspace::refuse(transitions.take_ups.at(0), {}, no);
  sched.run();
  REQUIRE(quiescing->why);
  CHECK_EQ(quiescing->why->reason, "NoPod");
  CHECK(transitions.suspends.empty());
  CHECK(warnings.empty());
  const auto flushing = ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
  REQUIRE_EQ(transitions.take_ups.size(), 2u);
  CHECK(transitions.take_ups[1].until == deadline(time, 10s));
  workspace::refuse(transitions.take_ups[1], {}, no);
  sched.run();
  CHECK(!flushing->why);
  REQUIRE_EQ(transitions.suspends.size(), 1u);
  CHECK_EQ(transitions.take_ups.size(), 2u);
  REQUIRE_EQ(warnings.size(), 1u);
  CHECK_NE(warnings[0].find("without a flush"), std::string::npos);
}

SCENARIO("a stop withdraws the questions that the guest has, and ends after their answers") {
  open();
  const auto asked = put(sessions_question{});
  const auto flushed = put(flush_question{});
  const auto behind = put(flush_question{});
  self->monitor(me);
  self->send(me, atom::stop_v);
  sched.run();
  CHECK_EQ(guests.cancelled.size(), 2u);
  REQUIRE(behind->why);
  CHECK_EQ(behind->why->reason, "NodeStopping");
  CHECK(self->mailbox().empty());
  for (const auto& x : guests.asks)
    x.to(tl::unexpected{workspace::failure{guest::failure{guest::withdrawn{}}}});
  sched.run();
  CHECK(transitions.explains.empty());
  CHECK(asked->why);
  CHECK(flushed->why);
  CHECK(!self->mailbox().empty());
}

SCENARIO("a stop withdraws the look at the cluster that explains a question") {
  open();
  const auto asked = put(sessions_question{});
  guests.asks.at(0).to(tl::unexpected{workspace::failure{guest::failure{guest::lost{"reset"}}}});
  sched.run();
  REQUIRE_EQ(transitions.explains.size(), 1u);
  self->monitor(me);
  self->send(me, atom::stop_v);
  sched.run();
  CHECK_EQ(transitions.cancelled, (std::vector<workspace::ticket>{transitions.explains[0].name}));
  CHECK(guests.cancelled.empty());
  CHECK(self->mailbox().empty());
  workspace::refuse(transitions.explains[0], transitions.explains[0].before, transitions.explains[0].original);
  sched.run();
  REQUIRE(asked->why);
  CHECK_EQ(asked->why->reason, "RemoteLost");
  CHECK(!self->mailbox().empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
