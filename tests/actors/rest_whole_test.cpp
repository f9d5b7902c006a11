#define CAF_SUITE rest_whole

// Quiesce, flush and sessions from the WORKSPACE to the wire: real ports, flows and transport, a scripted API server and a guest made of
// bytes.

#include "guest/flows/stream_transport.hpp"
#include "guest/flows/work_transport.hpp"
#include "k8s/paths.hpp"
#include "tests/actors/actor_fixture.hpp"
#include "tests/support/fake_agent.hpp"
#include "tests/support/scripted_hosts.hpp"
#include "tests/workspace/desk.hpp"
#include "workspace/flows/guest_calls.hpp"
#include "workspace/flows/ports.hpp"

using namespace paddock;
using namespace paddock::test;
using nlohmann::json;
using workspace::test::desk;
using strings = std::vector<std::string>;

namespace {

constexpr caf::timespan minute = 1min;

json quiesced(const char* scope = "pid-namespace") {
  return {{"ok", true}, {"scope", scope}, {"graceMs", 0}, {"rounds", 1}, {"stopped", json::array()}};
}
json flushed() {
  return {{"ok", true}, {"durationMs", 12}, {"workspace", "/w"}};
}
json refusal(const char* error) {
  return {{"ok", false}, {"error", error}};
}

/// The flows, in a base of their own so that they outlive the actors. The pod's address is the agent's.
struct flows {
  flows() {
    host.on.how.agent_address = workspace::settings::address::pod_ip;
    host.on.how.agent_port = agent.where().port;
    host.on.work = work.get();
    host.cluster.intercept = [this](const k8s::call& what, std::size_t) -> std::optional<workspace::test::desk_cluster::reply> {
      if (!host.cluster.pod || what.path != k8s::pods_path("ns", "namzu-ws-desk"))
        return std::nullopt;
      auto at_the_agent = *host.cluster.pod;
      at_the_agent["status"]["podIP"] = "127.0.0.1";
      return found(at_the_agent);
    };
    agent.on("quiesce", {send(quiesced())});
    agent.on("flush", {send(flushed())});
  }
  desk host{desk::host::unfenced, desk::api_server::without_uids};
  fake_agent agent{host.context};
  std::unique_ptr<guest::work_host> work = guest::make_work_host(host.time);
  std::unique_ptr<guest::stream_host> streams = guest::make_stream_host(host.time);
  plain_files files{host.on.guests};
  flow_group group{host.context.get_executor()};
  std::unique_ptr<workspace::transitions_port> transitions = workspace::make_transitions(host.on, group);
  std::unique_ptr<workspace::inventory_port> inventory = workspace::make_inventory(host.on, group);
  std::unique_ptr<workspace::guest_port> guests = workspace::make_guest_calls({host.on.guests, files, *streams, *work}, host.time, group);
  actor_world on{*transitions, *inventory, *guests, host.time, "tpl", [](const std::string&) {}};
};

struct fixture : flows, actor_fixture {
  fixture() {
    me = keep(sys.spawn<workspace_impl>(std::ref(on), *workspace::id::parse("desk")));
  }
  ~fixture() {
    auto over = false;
    group.close([&over] { over = true; });
    until([&over] { return over; });
  }
  void until(const std::function<bool()>& enough) {
    run_with_sockets(host.context, host.time, [&] {
      sched.run();
      return enough();
    });
  }
  template <class T>
  void settle(const std::shared_ptr<answer_of<T>>& got) {
    until([&] { return got->value || got->why; });
  }
  template <class T, class... Ts>
  std::shared_ptr<answer_of<T>> settled(Ts... xs) {
    auto got = ask<T>(me, xs...);
    settle(got);
    return got;
  }
  void open(strings features) {
    agent.features(std::move(features));
    REQUIRE(settled<opened_view>(atom::open_v, open_spec{}, minute)->value);
    host.forget();
  }
  template <class Question>
  std::shared_ptr<answer_of<guest_answer>> put(Question what) {
    return settled<guest_answer>(atom::ask_v, guest_question{std::move(what)}, minute);
  }
  std::shared_ptr<answer_of<workspace_view>> suspend(suspend_spec how) {
    return ask<workspace_view>(me, atom::suspend_v, how, minute);
  }
  /// How a call ended that was started with this `what`; it is refused at its start, too, as if it had ended so.
  std::shared_ptr<sink_log> call(shell_spec what) {
    auto log = std::make_shared<sink_log>();
    auto sink = keep(sys.spawn(logging_sink, log));
    const auto got = settled<call_actor>(atom::call_v, call_spec{std::move(what), 1024}, sink, minute);
    if (got->why)
      log->failed.push_back(*got->why);
    until([&] { return !log->ended.empty() || !log->failed.empty(); });
    return log;
  }
  /// The bodies of the requests of this op that the guest has read.
  [[nodiscard]] std::vector<json> bodies(const std::string& op) const {
    auto all = std::vector<json>{};
    for (const auto& x : agent.requests())
      if (x.value("op", "") == op)
        all.push_back(x.value("body", json::object()));
    return all;
  }
  static void check_in_flight(const problem& why, const std::string& reason) {
    CHECK_EQ(why.reason, reason);
    CHECK(why.how == verdict::refused);
    CHECK_EQ(json::parse(why.details).value("reason", ""), "suspend_already_in_flight");
  }
  workspace_actor me;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(rest_whole_tests, fixture)

// -- quiesce -------------------------------------------------------------------------

// [W 181] an image that cannot be quiesced
SCENARIO("a guest that does not say that it can quiesce is not asked to") {
  open({"flush"});
  const auto got = put(quiesce_question{});
  REQUIRE(got->why);
  CHECK_EQ(got->why->reason, "QuiesceUnsupported");
  CHECK(json::parse(got->why->details) == (json{{"feature", "quiesce"}}));
  CHECK_EQ(agent.count("quiesce"), 0u);
  CHECK(host.requests().empty());
}

// [W 182] one that says so only when it is asked
SCENARIO("a guest that says it can quiesce and does not know the word is asked and cannot") {
  open({"quiesce"});
  agent.on("quiesce", {send(refusal("unknown_op: quiesce"))});
  const auto got = put(quiesce_question{});
  REQUIRE(got->why);
  CHECK_EQ(got->why->reason, "QuiesceUnsupported");
  CHECK_EQ(agent.count("quiesce"), 1u);
  CHECK(host.requests().empty());
}

// [W 187] a scope that nobody knows
SCENARIO("a scope that is not known is taken for the narrow one") {
  open({"quiesce"});
  for (const auto& [said, read] : {std::pair{"galaxy", "owned-sessions"}, std::pair{"pid-namespace", "pid-namespace"}}) {
    agent.on("quiesce", {send(quiesced(said))});
    const auto got = put(quiesce_question{});
    REQUIRE(got->value);
    CHECK_EQ(std::get<quiesce_answer>(got->value->what).scope, read);
  }
}

// [W 188] a quiescing suspend while a plain one is under way
SCENARIO("a suspend that would quiesce does not join a plain one, and nothing is asked for it") {
  open({"quiesce", "flush"});
  agent.on("flush", {wait_for("flushed"), send(flushed())});
  const auto plain = suspend({true, false});
  until([&] { return agent.count("flush") == 1; });
  const auto quiescing = suspend({true, true});
  REQUIRE(quiescing->why);
  check_in_flight(*quiescing->why, "QuiesceUnconfirmed");
  agent.open("flushed");
  settle(plain);
  CHECK(plain->value);
  CHECK_EQ(agent.count("quiesce"), 0u);
  CHECK_EQ(host.sent("PATCH"), 1u);
}

// [W 189] joiners of a quiescing suspend
SCENARIO("plain and quiescing suspends join a quiescing one and share its outcome") {
  open({"quiesce", "flush"});
  for (const auto& [said, patches] : {std::pair{refusal("quiesce_unconfirmed"), 0u}, std::pair{quiesced(), 1u}}) {
    const auto before = agent.count("quiesce");
    agent.on("quiesce", {wait_for(std::to_string(patches)), send(said)});
    const auto first = suspend({true, true});
    until([&] { return agent.count("quiesce") == before + 1; });
    const auto plain = suspend({true, false});
    const auto quiescing = suspend({true, true});
    agent.open(std::to_string(patches));
    settle(quiescing);
    for (const auto& got : {first, plain, quiescing}) {
      CHECK_EQ(got->value.has_value(), patches == 1);
      if (got->why) {
        CHECK_EQ(got->why->reason, "QuiesceUnconfirmed");
        CHECK_EQ(got->why->details, first->why->details);
      }
    }
    CHECK_EQ(agent.count("quiesce"), before + 1);
    CHECK_EQ(host.sent("PATCH"), patches);
  }
}

// [W 190] a destroy that keeps the disk is a suspend ([W] 3.7); one that deletes it asks nothing of the guest
SCENARIO("a destroy that keeps the disk quiesces, and one that deletes it does not") {
  open({"quiesce", "flush"});
  const auto destroyed = suspend({true, true});
  settle(destroyed);
  REQUIRE(destroyed->value);
  CHECK_EQ(agent.count("quiesce"), 1u);
  REQUIRE(settled<opened_view>(atom::resume_v, open_spec{}, minute)->value);
  REQUIRE(settled<caf::unit_t>(atom::remove_v, remove_spec{}, minute)->value);
  CHECK_EQ(agent.count("quiesce"), 1u);
  CHECK_EQ(agent.count("flush"), 1u);
  CHECK_EQ(host.sent("DELETE"), 1u);
}

// [W 192] changed after the call
// [W 193] the flag on the wire
SCENARIO("a quiesce is what it was when it was asked, and only an idle-only one says so") {
  open({"quiesce", "quiesce-idle-only"});
  auto how = guest_question{quiesce_question{caf::timespan{9ms}, true}};
  const auto got = ask<guest_answer>(me, atom::ask_v, how, minute);
  how.what = quiesce_question{caf::timespan{5ms}, false};
  settle(got);
  REQUIRE(got->value);
  REQUIRE(put(quiesce_question{caf::timespan{9ms}, false})->value);
  const auto suspended = suspend({false, true});
  settle(suspended);
  REQUIRE(suspended->value);
  CHECK_EQ(bodies("quiesce"), (std::vector<json>{{{"graceMs", 9}, {"idleOnly", true}}, {{"graceMs", 9}}, json::object()}));
}

// -- flush ----------------------------------------------------------------------------

// [W 202] a flushing suspend, or such a destroy, while one is under way that does not flush
SCENARIO("a suspend that would flush does not join one that does not") {
  open({"flush"});
  const auto plain = suspend({false, false});
  for (const auto& joiner : {suspend({true, false}), suspend({true, false})}) {
    REQUIRE(joiner->why);
    check_in_flight(*joiner->why, "FlushUnconfirmed");
  }
  const auto joined = suspend({false, false});
  settle(joined);
  CHECK(joined->value);
  CHECK(plain->value);
  CHECK_EQ(agent.count("flush"), 0u);
  CHECK_EQ(host.sent("PATCH"), 1u);
}

// [W 204] flush
SCENARIO("a flush is the guest's report, and a guest that cannot is neither asked nor looked after") {
  open({"flush"});
  const auto got = put(flush_question{caf::timespan{5s}});
  REQUIRE(got->value);
  CHECK_EQ(std::get<flush_answer>(got->value->what).duration_ms, 12u);
  CHECK_EQ(std::get<flush_answer>(got->value->what).workspace, "/w");
  CHECK_EQ(bodies("flush"), (std::vector<json>{{{"timeoutMs", 5000}}}));
  agent.features({});
  REQUIRE(settled<workspace_view>(atom::suspend_v, suspend_spec{false, false}, minute)->value);
  REQUIRE(settled<opened_view>(atom::resume_v, open_spec{}, minute)->value);
  host.forget();
  const auto none = put(flush_question{caf::timespan{5s}});
  REQUIRE(none->why);
  CHECK_EQ(none->why->reason, "FlushUnsupported");
  CHECK(json::parse(none->why->details) == (json{{"feature", "flush"}}));
  CHECK_EQ(agent.count("flush"), 1u);
  CHECK(host.requests().empty());
}

SCENARIO("a flush that fails otherwise has the cluster asked once, and a foreign suspend is what it failed of") {
  open({"flush"});
  agent.on("flush", agent_script{});
  const auto lost = put(flush_question{});
  REQUIRE(lost->why);
  CHECK_EQ(lost->why->reason, "RemoteLost");
  CHECK_EQ(host.requests(), strings{"GET SB"});
  host.cluster.set_mode("Suspended");
  const auto asleep = put(flush_question{});
  REQUIRE(asleep->why);
  CHECK_EQ(asleep->why->reason, "WorkspaceSuspended");
  CHECK_EQ(json::parse(asleep->why->details)["noticedBy"], "transport");
  // From now on it is known, and nothing is dialled.
  const auto dialled = agent.connections();
  const auto after = put(flush_question{});
  REQUIRE(after->why);
  CHECK_EQ(json::parse(after->why->details)["noticedBy"], "admission");
  CHECK_EQ(agent.connections(), dialled);
}

// [W 205] withdrawn during the flush
SCENARIO("a suspend whose caller withdraws while the guest flushes writes nothing and says so") {
  const auto before = [this] {
    agent.features({"flush"});
    auto opened = start_flow(host.context, workspace::open(host.on, host.which, {}, {}, deadline{host.time, 10min}));
    until([&] { return opened.done(); });
    host.forget();
    return opened.get().after;
  }();
  agent.on("flush", {watch()});
  auto it = start_flow(host.context, workspace::suspend(host.on, host.which, {true, false}, before, deadline{host.time, 10min}));
  until([&] { return agent.count("flush") == 1; });
  it.cancel();
  until([&] { return it.done(); });
  const auto* why = workspace::test::failed_with<k8s::failure>(it.get());
  REQUIRE(why != nullptr);
  CHECK(std::holds_alternative<k8s::cancelled>(*why));
  CHECK_EQ(host.sent("PATCH"), 0u);
  CHECK(it.get().after.at == workspace::state::running);
}

// [W 206] whoever is told and throws
SCENARIO("a listener that throws changes nothing of a suspend") {
  open({});
  auto told = 0;
  host.on.told = [&told](const workspace::id&, const workspace::rest_note&) {
    ++told;
    throw std::runtime_error{"not in the mood"};
  };
  const auto got = suspend({true, true});
  settle(got);
  REQUIRE(got->value);
  CHECK_EQ(got->value->state, "suspended");
  CHECK_EQ(told, 2);
  CHECK_EQ(host.sent("PATCH"), 1u);
}

// -- a session that this node does not hold yet -----------------------------------------

SCENARIO("a node that has just started quiesces and flushes the guest that stands before its first suspend") {
  agent.features({"quiesce", "flush"});
  host.cluster.stand("Running");
  const auto got = suspend({true, true});
  settle(got);
  REQUIRE(got->value);
  CHECK_EQ(got->value->state, "suspended");
  CHECK_EQ(agent.count("quiesce"), 1u);
  CHECK_EQ(agent.count("flush"), 1u);
  CHECK_EQ(host.sent("PATCH"), 1u);
}

// -- sessions ---------------------------------------------------------------------------

// [W 236] an image without sessions
SCENARIO("a guest without sessions starts none, and a plain terminal works as ever") {
  open({});
  for (const auto& got :
       {put(sessions_question{}), put(session_start_question{"s1", "sh", {}, {}, {}}), put(session_kill_question{"s1", ""})}) {
    REQUIRE(got->why);
    CHECK_EQ(got->why->reason, "SessionsUnsupported");
  }
  auto what = shell_spec{};
  what.session = "s1";
  for (const auto attach : {false, true}) {
    what.attach = attach;
    const auto log = call(what);
    REQUIRE_EQ(log->failed.size(), 1u);
    CHECK_EQ(log->failed[0].reason, "SessionsUnsupported");
  }
  for (const auto& op : agent.ops())
    CHECK_EQ(op, "healthz");
  agent.on("terminal", {send(json{{"type", "ready"}, {"guestBootId", "b"}}), send(json{{"type", "exit"}, {"exitCode", 3}}), send_end()});
  const auto plain = call({});
  REQUIRE_EQ(plain->ended.size(), 1u);
  CHECK_EQ(plain->ended[0].exit_code, 3);
}

// [W 238] half a session: with us a session that has an id is persistent, so of the two halves only the one without an id can be said
SCENARIO("a session terminal without an id is an argument error, and one with an id is persistent") {
  open({"sessions"});
  const auto dialled = agent.connections();
  auto half = shell_spec{};
  half.attach = true;
  const auto refused = call(half);
  REQUIRE_EQ(refused->failed.size(), 1u);
  CHECK(refused->failed[0].how == verdict::usage);
  CHECK_EQ(agent.connections(), dialled);
  auto whole = shell_spec{};
  whole.session = "s1";
  call(whole);
  const auto sent = bodies("terminal");
  REQUIRE_EQ(sent.size(), 1u);
  CHECK_EQ(sent[0]["sessionId"], "s1");
  CHECK(sent[0]["persistent"] == true);
}

CAF_TEST_FIXTURE_SCOPE_END()
