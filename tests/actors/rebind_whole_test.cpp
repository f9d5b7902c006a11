#define CAF_SUITE rebind_whole

// Which guest a workspace talks to, whole: WORKSPACE, CALLs and flows over a scripted API server and a scripted guest.

#include "tests/actors/rebind_fixture.hpp"

using namespace paddock;
using namespace paddock::test;
using strings = std::vector<std::string>;

namespace {

struct fenced_fixture : rebind_fixture {
  fenced_fixture() : rebind_fixture(desk::host::fenced) {
  }
};

const strings only_a_reread = {"GET SB", "GET POD"};

} // namespace

CAF_TEST_FIXTURE_SCOPE(rebind_whole_tests, rebind_fixture)

// -- identity -------------------------------------------------------------------

// [W 207] after a create
// [W 208] suspended
// [W 219] and resumed: nothing of it is an event
SCENARIO("the identity names pod and guest while a session has them, and one's own suspend and resume are no event") {
  open_and_listen();
  auto who = now();
  CHECK_EQ(who.sandbox_uid, "S1");
  CHECK_EQ(who.volume_claim_uids, (std::map<std::string, std::string>{{"workspace", "C1"}}));
  CHECK_EQ(who.pod_uid, "P1");
  CHECK_EQ(who.guest_boot_id, "B1");
  REQUIRE(settled<workspace_view>(atom::suspend_v, suspend_spec{}, minute)->value);
  who = now();
  CHECK_EQ(who.sandbox_uid, "S1");
  CHECK_EQ(who.volume_claim_uids, (std::map<std::string, std::string>{{"workspace", "C1"}}));
  CHECK(who.pod_uid.empty());
  CHECK(who.guest_boot_id.empty());
  host.guest.boot = guest_boot_id{"B2"};
  REQUIRE(settled<opened_view>(atom::resume_v, open_spec{}, minute)->value);
  who = now();
  CHECK_EQ(who.pod_uid, "P2");
  CHECK_EQ(who.guest_boot_id, "B2");
  CHECK(heard->events.empty());
}

// [W 209] a guest without boot ids
// [G 217] and neither an event nor an error comes of it
SCENARIO("a guest that names no boot id is never taken for another") {
  host.guest.boot.reset();
  open_and_listen();
  CHECK_EQ(exec()->ended.size(), 1u);
  CHECK_EQ(exec()->ended.size(), 1u);
  CHECK(now().guest_boot_id.empty());
  CHECK(heard->events.empty());
}

// -- another pod ------------------------------------------------------------------

// [W 210] a replaced pod
SCENARIO("a command that the new pod's guest refused runs there after one look, and one event says so") {
  open_and_listen();
  replace_pod();
  CHECK_EQ(exec()->ended.size(), 1u);
  CHECK_EQ(host.requests(), only_a_reread);
  CHECK_EQ(tokens(), strings({"P1", "P2"}));
  CHECK(nothing_written());
  REQUIRE_EQ(heard->events.size(), 1u);
  const auto& x = heard->events[0];
  CHECK_EQ(x.what, "guest-restart");
  CHECK_EQ(x.reason, "pod-replaced");
  CHECK_EQ(x.previous.pod_uid, "P1");
  CHECK_EQ(x.previous.guest_boot_id, "B1");
  CHECK_EQ(x.current.pod_uid, "P2");
  CHECK(x.current.guest_boot_id.empty());
  CHECK_EQ(now().pod_uid, "P2");
  CHECK_EQ(now().guest_boot_id, "B2");
}

// [W 211] every other kind of call
SCENARIO("a file, a terminal and a port are opened in the new pod, too") {
  host.guest.files["a"] = "content";
  check_tokens_of_files();
  open_and_listen();
  for (const auto& what : std::vector<call_spec>{
         {write_spec{"b", 4}, 0}, {read_spec{"a", {}, {}}, 100}, {shell_spec{}, 100}, {forward_spec{"127.0.0.1", 80}, 100}}) {
    const auto before = pod();
    replace_pod();
    host.forget();
    heard->events.clear();
    const auto one = carry(what);
    CHECK_EQ(one.log->ended.size(), 1u);
    CHECK_EQ(host.requests(), only_a_reread);
    REQUIRE_EQ(heard->events.size(), 1u);
    CHECK_EQ(heard->events[0].reason, "pod-replaced");
    CHECK_EQ(heard->events[0].previous.pod_uid, before);
    CHECK_EQ(heard->events[0].current.pod_uid, pod());
    CHECK(heard->events[0].current.guest_boot_id.empty());
    CHECK_EQ(now().pod_uid, pod());
  }
  CHECK_EQ(host.guest.files.at("b"), "abcd");
  CHECK(nothing_written());
}

SCENARIO("input that was taken by a guest that refused it goes to the next one whole, and is wanted once") {
  open_and_listen();
  replace_pod();
  auto what = command("cat");
  std::get<run_spec>(what.what).with_input = true;
  const auto one = start(what);
  turn();
  REQUIRE(one.call->value);
  mail::tell_anonymously(*one.call->value, atom::input_v, workspace::to_bytes("some "), false);
  mail::tell_anonymously(*one.call->value, atom::input_v, workspace::to_bytes("input"), true);
  turn();
  CHECK_EQ(one.log->ended.size(), 1u);
  CHECK_EQ(tokens(), strings({"P1", "P2"}));
  CHECK_EQ(host.guest.calls.back().bytes, "some input");
  auto wanted = std::uint64_t{0};
  for (const auto n : one.log->wanted)
    wanted += n;
  CHECK(wanted <= workspace::input_window + 10);
}

// [W 212] at once
SCENARIO("three commands that are refused at once share one look and one event") {
  open_and_listen();
  replace_pod();
  const auto all = std::vector<started>{start(command()), start(command()), start(command())};
  turn();
  for (const auto& x : all)
    CHECK_EQ(x.log->ended.size(), 1u);
  CHECK_EQ(host.requests(), only_a_reread);
  CHECK_EQ(heard->events.size(), 1u);
  CHECK_EQ(tokens(), strings({"P1", "P1", "P1", "P2", "P2", "P2"}));
}

SCENARIO("a call waits for another pod as long as its own time, and no longer") {
  open_and_listen();
  replace_pod();
  host.cluster.hold = [first = true](const k8s::call&) mutable { return std::exchange(first, false); };
  started one;
  auto sink = keep(sys.spawn(logging_sink, one.log));
  one.call = ask<call_actor>(me, atom::call_v, command(), sink, caf::timespan{2s});
  turn();
  CHECK(one.log->failed.empty());
  host.time.advance_to(host.time.now() + 2s);
  turn();
  CHECK_EQ(reason(one), "AgentUnauthorized");
  CHECK_EQ(tokens(), strings({"P1"}));
  settle();
  CHECK_EQ(now().pod_uid, "P1");
}

// [W 213] a slow refusal
SCENARIO("a refusal that comes after another call has found the new pod is tried there without a look") {
  open_and_listen();
  hold_next = true;
  const auto slow = start(command());
  turn();
  replace_pod();
  CHECK_EQ(exec()->ended.size(), 1u);
  CHECK_EQ(host.requests(), only_a_reread);
  answer_held(tl::unexpected{guest::failure{guest::unauthorized{}}});
  CHECK_EQ(slow.log->ended.size(), 1u);
  CHECK(host.requests().empty());
  CHECK_EQ(tokens(), strings({"P1", "P1", "P2", "P2"}));
  CHECK_EQ(heard->events.size(), 1u);
}

// [W 214] a late answer
// [G 219] changes nothing
SCENARIO("what the guest of the old pod still answers is not taken for the new one's") {
  open_and_listen();
  hold_next = true;
  const auto late = start(command());
  turn();
  replace_pod();
  CHECK_EQ(exec()->ended.size(), 1u);
  CHECK_EQ(heard->events.size(), 1u);
  guest::execution old;
  old.boot = guest_boot_id{"B1"};
  answer_held(old);
  CHECK_EQ(late.log->ended.size(), 1u);
  CHECK_EQ(heard->events.size(), 1u);
  CHECK_EQ(now().pod_uid, "P2");
  CHECK_EQ(now().guest_boot_id, "B2");
}

// [W 215] the pod is the same
// [W 174] and the workspace is not taken for a suspended one
// [W 175] what a call costs the cluster that succeeds, and one that fails
SCENARIO("a token that is refused by the pod of the session stays refused, whatever the call") {
  check_tokens_of_files();
  open_and_listen();
  CHECK_EQ(exec()->ended.size(), 1u);
  CHECK(host.requests().empty());
  deny = true;
  auto detached = command();
  std::get<run_spec>(detached.what).detach = true;
  for (const auto& what : std::vector<call_spec>{command(),
                                                 detached,
                                                 {attach_spec{"exec_00000000-0000-4000-8000-000000000000", 0}, 10},
                                                 {read_spec{"a", {}, {}}, 100},
                                                 {write_spec{"b", 4}, 0},
                                                 {shell_spec{}, 100},
                                                 {forward_spec{"127.0.0.1", 80}, 100},
                                                 walk(0)}) {
    const auto one = carry(what);
    CHECK_EQ(reason(one), "AgentUnauthorized");
    CHECK_EQ(host.requests(), strings({"GET SB", "GET POD", "GET SB"}));
    CHECK_EQ(now().state, "running");
  }
  for (const auto& what : std::vector<guest_question>{{sessions_question{}},
                                                      {session_start_question{"s", "true", {}, {}, {}}},
                                                      {session_kill_question{"s", ""}},
                                                      {quiesce_question{}},
                                                      {flush_question{}},
                                                      {cancel_question{"exec_00000000-0000-4000-8000-000000000000"}}}) {
    const auto got = ask<guest_answer>(me, atom::ask_v, what, minute);
    turn();
    REQUIRE(got->why);
    CHECK_EQ(got->why->reason, "AgentUnauthorized");
    CHECK_EQ(host.requests(), strings({"GET SB", "GET POD", "GET SB"}));
  }
  CHECK_EQ(now().state, "running");
  CHECK_EQ(now().pod_uid, "P1");
  CHECK(heard->events.empty());
}

SCENARIO("a question that the new pod's guest refused is asked there once more, in line or not") {
  open_and_listen();
  for (const auto& what : std::vector<guest_question>{{sessions_question{}}, {flush_question{}}, {quiesce_question{}}}) {
    replace_pod();
    host.forget();
    const auto got = ask<guest_answer>(me, atom::ask_v, what, minute);
    turn();
    CHECK(got->value);
    CHECK_EQ(host.requests(), only_a_reread);
    CHECK_EQ(now().pod_uid, pod());
  }
  CHECK_EQ(heard->events.size(), 3u);
}

// [W 216] another Sandbox
// [W 217] or none
SCENARIO("a call is not followed into another Sandbox") {
  open_and_listen();
  host.cluster.stand("Running", std::nullopt, "S2");
  auto one = start(command());
  turn();
  CHECK_EQ(reason(one), "WorkspaceReplaced");
  CHECK_JSON(details(one).at("expectedSandboxUid"), "S1");
  CHECK_JSON(details(one).at("actualSandboxUid"), "S2");
  host.cluster.sandbox.reset();
  host.cluster.pod.reset();
  one = start(command());
  turn();
  CHECK_EQ(reason(one), "WorkspaceReplaced");
  CHECK_JSON(details(one).at("expectedSandboxUid"), "S1");
  CHECK(!details(one).contains("actualSandboxUid"));
  CHECK_EQ(tokens(), strings({"P1", "P1"}));
  CHECK_EQ(now().pod_uid, "P1");
  CHECK(heard->events.empty());
}

// [W 275] a pod of another owner
SCENARIO("a pod of another owner is never taken for the workspace's, one without an owner is") {
  open_and_listen();
  replace_pod();
  (*host.cluster.pod)["metadata"]["ownerReferences"][0]["uid"] = "S2";
  auto one = start(command());
  turn();
  CHECK_EQ(reason(one), "AgentUnauthorized");
  CHECK_EQ(tokens(), strings({"P1"}));
  CHECK_EQ(now().pod_uid, "P1");
  CHECK(heard->events.empty());
  host.cluster.pod->at("metadata").erase("ownerReferences");
  CHECK_EQ(exec()->ended.size(), 1u);
  CHECK_EQ(tokens(), strings({"P1", "P1", "P2"}));
}

// [W 218] the same pod
// [G 218] one event
SCENARIO("another boot id in the same pod is one event") {
  open_and_listen();
  host.guest.boot = guest_boot_id{"B2"};
  exec();
  exec();
  REQUIRE_EQ(heard->events.size(), 1u);
  CHECK_EQ(heard->events[0].reason, "container-restarted");
  CHECK_EQ(heard->events[0].previous.pod_uid, "P1");
  CHECK_EQ(heard->events[0].previous.guest_boot_id, "B1");
  CHECK_EQ(heard->events[0].current.pod_uid, "P1");
  CHECK_EQ(heard->events[0].current.guest_boot_id, "B2");
  CHECK(host.requests().empty());
}

// [W 220] between the bind and the probe
SCENARIO("a pod that is replaced before it is probed is an event of the resume, and who listens finds the new one") {
  open_and_listen();
  REQUIRE(settled<workspace_view>(atom::suspend_v, suspend_spec{}, minute)->value);
  auto seen = std::shared_ptr<answer_of<workspace_view>>{};
  heard->then = [&](const workspace_event&) {
    seen = std::make_shared<answer_of<workspace_view>>();
    auto asker = sys.spawn([to = me, seen](caf::event_based_actor* it) {
      it->request(to, caf::infinite, atom::view_v).then([seen](workspace_view& x) { seen->value = std::move(x); });
    });
    spawned.push_back(asker);
  };
  host.guest.on_execute = [this, first = true, old = host.guest.on_execute](const guest_call& x) mutable {
    if (std::exchange(first, false))
      replace_pod("B3");
    return old(x);
  };
  const auto got = settled<opened_view>(atom::resume_v, open_spec{}, minute);
  REQUIRE(got->value);
  CHECK_EQ(got->value->view.pod_uid, "P3");
  CHECK_EQ(got->value->view.guest_boot_id, "B3");
  REQUIRE_EQ(heard->events.size(), 1u);
  CHECK_EQ(heard->events[0].reason, "pod-replaced");
  CHECK_EQ(heard->events[0].previous.pod_uid, "P2");
  CHECK_EQ(heard->events[0].current.pod_uid, "P3");
  REQUIRE(seen);
  REQUIRE(seen->value);
  CHECK_EQ(seen->value->pod_uid, "P3");
}

// [W 221] who no longer listens, and who fails
SCENARIO("who has gone hears nothing, and who fails holds up neither the others nor the call") {
  open_and_listen();
  auto gone = std::make_shared<heard_events>();
  auto leaving = keep(sys.spawn(listener, gone));
  REQUIRE(settled<std::vector<workspace_event>>(atom::subscribe_v, leaving)->value);
  auto failing = std::make_shared<heard_events>();
  failing->then = [](const workspace_event&) { throw std::logic_error{"planted"}; };
  auto crashing = keep(sys.spawn(listener, failing));
  REQUIRE(settled<std::vector<workspace_event>>(atom::subscribe_v, crashing)->value);
  caf::anon_send_exit(leaving, caf::exit_reason::user_shutdown);
  turn();
  replace_pod();
  CHECK_EQ(exec()->ended.size(), 1u);
  CHECK(gone->events.empty());
  CHECK_EQ(failing->events.size(), 1u);
  CHECK_EQ(heard->events.size(), 1u);
  host.guest.boot = guest_boot_id{"B9"};
  exec();
  CHECK_EQ(heard->events.size(), 2u);
  CHECK_EQ(failing->events.size(), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()

CAF_TEST_FIXTURE_SCOPE(fenced_rebind_tests, fenced_fixture)

// [W 293] overtaken
SCENARIO("an overtaken host does not follow a new pod, and its session ends") {
  open_and_listen();
  replace_pod();
  (*host.cluster.sandbox)["metadata"]["annotations"]["sandbox.namzu.ai/holder-epoch"] = "9999999";
  auto one = start(command());
  turn();
  CHECK_EQ(reason(one), "WorkspacePrecondition");
  CHECK_EQ(host.requests(), strings({"GET SB"}));
  CHECK_EQ(tokens(), strings({"P1"}));
  CHECK(now().pod_uid.empty());
  CHECK_NE(now().state, "running");
  CHECK(heard->events.empty());
  // What comes next is told so before anything is dialled.
  std::optional<problem> no;
  exec(&no);
  REQUIRE(no);
  CHECK_EQ(no->reason, "WorkspacePrecondition");
  CHECK_EQ(tokens(), strings({"P1"}));
  CHECK(nothing_written());
}

CAF_TEST_FIXTURE_SCOPE_END()
