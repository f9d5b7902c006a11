#define CAF_SUITE idle

// WORKSPACEs that nobody uses are let go and come back: when, with what, and in every order of messages.

#include "tests/actors/desk_fixture.hpp"
#include "tests/actors/listener.hpp"
#include "tests/support/fake_egress_ports.hpp"
#include "tests/support/fake_watch_port.hpp"

using namespace paddock;
using namespace paddock::test;
using workspace::opened;
using workspace::origin;

namespace {

using strings = std::vector<std::string>;
constexpr auto bound = std::chrono::milliseconds{10min};

struct ports {
  k8s::fake_watch_port watches;
  egress::fake_fence_port fences;
  egress::fake_policy_port policies;
};

/// A NODE of one shard over fakes that lets WORKSPACEs go, and `desk`, which it has opened as S1.
struct fixture : ports, actor_fixture {
  fixture() {
    world.idle_after = bound;
    world.watches = &watches;
    world.stamps = stamping{};
    world.fences = &fences;
    world.policies = &policies;
    auto about = node_info{};
    about.name_space = "ns";
    about.shards = 1;
    node = keep(sys.spawn<node_impl>(std::ref(world), about));
    sink = keep(sys.spawn(logging_sink, log));
    open();
  }
  static workspace::session held() {
    auto x = running();
    x.stamped = true;
    x.boot = guest_boot_id{"B1"};
    return x;
  }
  void open(workspace::session after = held()) {
    auto got = ask<opened_view>(node, atom::open_v, "desk"s, open_spec{}, minute);
    transitions.opens.back().to({std::move(after), opened{origin::created}});
    sched.run();
    REQUIRE(got->value);
  }
  template <class T, class Verb, class... Ts>
  std::shared_ptr<answer_of<T>> say(Verb verb, Ts... xs) {
    return ask<T>(node, verb, "desk"s, xs...);
  }
  std::shared_ptr<answer_of<call_actor>> run() {
    return say<call_actor>(atom::call_v, call_spec{run_spec{}}, sink, minute);
  }
  void end_call() {
    guests.starts.back().events.end(ended_well("B1"));
    sched.run();
  }
  std::uint64_t alive() {
    return ask<node_info>(node, atom::info_v)->value->workspaces;
  }
  /// Nobody does anything for a bound and the time until the next look.
  void rest() {
    for (auto i = 0; i < 5; ++i)
      pass(bound / 4);
  }
  bool goes() {
    rest();
    return alive() == 0;
  }
  /// What comes back knows this of the one that was let go, and has to read everything else.
  static void check_remembered(const workspace::session& before) {
    CHECK(before.at == workspace::state::unknown);
    CHECK(before.epoch == std::optional<std::uint64_t>{7});
    CHECK(before.stamped);
    CHECK(before.sandbox == sandbox_uid{"S1"});
    CHECK(!before.pod);
    CHECK(!before.boot);
    CHECK(!before.guest);
    CHECK(before.claims.empty());
    CHECK(before.template_name.empty());
  }

  node_actor node;
  std::shared_ptr<sink_log> log = std::make_shared<sink_log>();
  sink_actor sink;
};

} // namespace

BEGIN_FIXTURE_SCOPE(fixture)

SCENARIO("a WORKSPACE that nobody uses is let go after the bound, and comes back with what the cluster does not know") {
  pass(bound - 1ms);
  CHECK_EQ(alive(), 1u);
  CHECK(goes());
  CHECK_EQ(transitions.log, strings{"open"});
  CHECK(guests.log.empty());
  const auto called = run();
  CHECK_EQ(alive(), 1u);
  REQUIRE_EQ(transitions.take_ups.size(), 1u);
  check_remembered(transitions.take_ups[0].before);
  transitions.take_ups[0].to({held(), workspace::done{}});
  sched.run();
  CHECK(called->value);
  CHECK_EQ(guests.starts.size(), 1u);
  CHECK(warnings.empty());
}

SCENARIO("each use counts from its end") {
  pass(bound - 1ms);
  const auto suspending = say<workspace_view>(atom::suspend_v, suspend_spec{}, minute);
  rest();
  CHECK_EQ(alive(), 1u);
  transitions.suspends.at(0).to({suspended(), workspace::done{}});
  sched.run();
  CHECK(suspending->value);
  pass(bound - 1ms);
  CHECK_EQ(alive(), 1u);
  CHECK(goes());
}

SCENARIO("what only looks on wakes nobody, and sees what the cluster tells") {
  CHECK(goes());
  CHECK(ask<std::vector<workspace_event>>(node, atom::events_v, "desk"s)->value->empty());
  const auto got = ask<workspace_view>(node, atom::get_v, "desk"s, minute);
  inventory.gets.at(0).to(workspace::summary{.workspace = "desk",
                                             .sandbox_name = "namzu-ws-desk",
                                             .template_name = "t",
                                             .mode = "Running",
                                             .created_at = {},
                                             .mode_changed_at = {},
                                             .holder_epoch = 7,
                                             .sandbox = sandbox_uid{"S1"}});
  sched.run();
  REQUIRE(got->value);
  CHECK_EQ(got->value->mode, "Running");
  CHECK_EQ(got->value->state, "");
  CHECK_EQ(alive(), 0u);
}

SCENARIO("a verb by which the state would be answered from memory reads it") {
  transitions.log.clear();
  CHECK(goes());
  say<opened_view>(atom::resume_v, open_spec{}, minute);
  CHECK_EQ(transitions.log, strings{"resume"});
  check_remembered(transitions.resumes.at(0).before);
}

SCENARIO("a node without a bound lets nobody go") {
  struct other : actor_fixture {};
  other x;
  auto shard = x.keep(x.sys.spawn<shard_impl>(std::ref(x.world)));
  x.ask<opened_view>(shard, atom::open_v, "desk"s, open_spec{}, minute);
  x.transitions.opens.at(0).to({running(), opened{}});
  x.sched.run();
  x.pass(24h * 365);
  CHECK_EQ(x.ask<std::uint64_t>(shard, atom::count_v)->value, std::optional<std::uint64_t>{1});
}

// -- who stays ------------------------------------------------------------------

SCENARIO("a WORKSPACE stays while a verb is under way or in line, and goes after the last") {
  const auto first = say<workspace_view>(atom::suspend_v, suspend_spec{}, minute);
  const auto second = say<opened_view>(atom::resume_v, open_spec{}, minute);
  CHECK(!goes());
  transitions.suspends.at(0).to({suspended(), workspace::done{}});
  sched.run();
  CHECK(first->value);
  CHECK(!goes());
  transitions.resumes.at(0).to({held(), opened{origin::resumed}});
  sched.run();
  CHECK(second->value);
  CHECK_EQ(transitions.log, (strings{"open", "suspend", "resume"}));
  CHECK(goes());
}

SCENARIO("a WORKSPACE stays while a call waits for what stands, and while it runs") {
  CHECK(goes());
  const auto called = run();
  CHECK(!goes());
  transitions.take_ups.at(0).to({held(), workspace::done{}});
  sched.run();
  REQUIRE(called->value);
  CHECK(!goes());
  CHECK_EQ(guests.starts.size(), 1u);
  end_call();
  CHECK_EQ(log->ended.size(), 1u);
  CHECK(goes());
}

SCENARIO("a WORKSPACE stays while a question waits for its answer, in line or not") {
  const auto flushed = say<guest_answer>(atom::ask_v, guest_question{flush_question{}}, minute);
  const auto listed = say<guest_answer>(atom::ask_v, guest_question{sessions_question{}}, minute);
  REQUIRE_EQ(guests.asks.size(), 2u);
  CHECK(!goes());
  guests.asks[0].to(workspace::reply{guest::flush_report{}});
  sched.run();
  CHECK(!goes());
  guests.asks[1].to(workspace::reply{std::vector<guest::session_row>{}});
  sched.run();
  CHECK(flushed->value);
  CHECK(listed->value);
  CHECK(goes());
}

SCENARIO("a WORKSPACE stays while somebody holds a pinned view of its guest") {
  auto got = say<pinned_guest_actor>(atom::pin_v, pin_spec{"S1", "P1", "B1", {}});
  REQUIRE(got->value);
  CHECK(!goes());
  const auto called = ask<call_actor>(*got->value, atom::call_v, call_spec{run_spec{}}, sink, minute);
  CHECK(called->value);
  end_call();
  CHECK(!goes());
  self->send_exit(*got->value, caf::exit_reason::user_shutdown);
  sched.run();
  CHECK(goes());
}

SCENARIO("a WORKSPACE stays while somebody listens to its events") {
  const auto heard = std::make_shared<heard_events>();
  auto ear = keep(sys.spawn(listener, heard));
  CHECK(say<std::vector<workspace_event>>(atom::subscribe_v, ear)->value);
  CHECK(!goes());
  run();
  guests.starts.back().events.end(ended_well("B2"));
  sched.run();
  CHECK_EQ(heard->events.size(), 1u);
  CHECK(heard->ends.empty());
  self->send_exit(ear, caf::exit_reason::user_shutdown);
  sched.run();
  CHECK(goes());
}

SCENARIO("a WORKSPACE stays while it keeps to a grant") {
  const auto granted = say<policy_view>(atom::policy_v, policy_request{policy_spec{{"a.example"}}}, minute);
  policies.sandboxes.at(0).to(egress::grantee{
    {{"fence"}, "ns", {egress::policy_owner::type::sandbox, "namzu-ws-desk", "S1"}, "namzu-ws-desk", true}, {{"app", "a"}}});
  sched.run();
  fences.proofs.at(0).to({});
  sched.run();
  policies.sets.at(0).to({egress::landing::landed, {}});
  sched.run();
  CHECK(granted->value);
  CHECK(!goes());
}

SCENARIO("a WORKSPACE of which a write of unknown outcome left something stays until that is known") {
  const auto unanswered = say<workspace_view>(atom::suspend_v, suspend_spec{}, minute);
  auto after = held();
  after.at = workspace::state::suspending;
  after.epoch = 8;
  workspace::refuse(transitions.suspends.at(0), after,
                    workspace::write_unknown{"suspend", k8s::failure{k8s::api_timeout{"PATCH", "/x", 30s, true}}});
  sched.run();
  CHECK(unanswered->why);
  CHECK(!goes());
  say<workspace_view>(atom::suspend_v, suspend_spec{}, minute);
  CHECK(transitions.suspends.at(1).before.at == workspace::state::suspending);
  after.at = workspace::state::suspended;
  transitions.suspends[1].to({after, workspace::done{}});
  sched.run();
  CHECK(goes());
  say<opened_view>(atom::resume_v, open_spec{}, minute);
  CHECK(transitions.resumes.at(0).before.epoch == std::optional<std::uint64_t>{8}); // never lowered
}

SCENARIO("what was held of one Sandbox says nothing of another one that a verb names") {
  CHECK(goes());
  auto named = suspend_spec{true, true};
  named.expect_uid = "S2";
  say<workspace_view>(atom::suspend_v, named, minute);
  REQUIRE_EQ(transitions.take_ups.size(), 1u);
  const auto& before = transitions.take_ups[0].before;
  CHECK(before.sandbox == sandbox_uid{"S2"});
  CHECK(!before.stamped); // that S2 carries no epoch of ours is no loss
  CHECK(before.epoch == std::optional<std::uint64_t>{7});
}

SCENARIO("a WORKSPACE that was let go is stamped, goes again, and has not forgotten that") {
  CHECK(goes());
  const auto lost = std::make_shared<const k8s::kept_object>(
    nlohmann::json{
      {"metadata", {{"name", "namzu-ws-desk"}, {"namespace", "ns"}, {"uid", "S1"}, {"resourceVersion", "8"}, {"generation", 1}}}},
    k8s::kept_object::form::packed);
  watches.starts.at(0).tell(k8s::watch_listed{{}, "7"});
  watches.starts[0].tell(k8s::watch_told{k8s::watch_event::kind::added, lost});
  sched.run();
  REQUIRE_EQ(transitions.stamps.size(), 1u);
  check_remembered(transitions.stamps[0].before);
  CHECK(!goes());
  auto after = transitions.stamps[0].before;
  after.epoch = 9;
  transitions.stamps[0].to({after, workspace::stamped{true, std::nullopt}});
  sched.run();
  CHECK_EQ(alive(), 0u);
  say<workspace_view>(atom::suspend_v, suspend_spec{false, false}, minute);
  CHECK(transitions.suspends.at(0).before.epoch == std::optional<std::uint64_t>{9});
  CHECK(transitions.suspends[0].before.stamped);
}

// -- orders ---------------------------------------------------------------------

namespace {

/// A message that comes after so many steps of the actors while `desk` goes.
struct arrival {
  const char* what;
  std::function<void(fixture&)> comes;
  std::function<void(fixture&)> check;
};

/// Lets the look happen that finds `desk` idle, one message after another, and `comes` after the `nth` of them. False: the look was over
/// before.
bool meets(fixture& x, std::size_t nth, const std::function<void(fixture&)>& comes) {
  for (auto i = 0; i < 3; ++i)
    x.pass(bound / 4);
  x.time.at += bound / 4;
  x.sched.advance_time(bound / 4);
  for (std::size_t i = 0; i < nth; ++i)
    if (!x.sched.try_run_once())
      return false;
  comes(x);
  x.sched.run();
  return true;
}

const auto arrivals = std::vector<arrival>{
  {"a verb",
   [](fixture& x) {
     x.self->send(x.node, atom::suspend_v, "desk"s, suspend_spec{false, false}, caf::timespan{minute});
   },
   [](fixture& x) {
     REQUIRE_EQ(x.transitions.suspends.size(), 1u);
     const auto& before = x.transitions.suspends[0].before;
     CHECK(before.epoch == std::optional<std::uint64_t>{7});
     CHECK(before.sandbox == sandbox_uid{"S1"});
     CHECK(before.at == workspace::state::running || before.at == workspace::state::unknown);
     x.transitions.suspends[0].to({x.suspended(), workspace::done{}});
   }},
  {"a call", [](fixture& x) { x.self->send(x.node, atom::call_v, "desk"s, call_spec{run_spec{}}, x.sink, caf::timespan{minute}); },
   [](fixture& x) {
     for (const auto& asked : x.transitions.take_ups)
       asked.to({x.held(), workspace::done{}});
     x.sched.run();
     CHECK(x.transitions.take_ups.size() <= 1);
     REQUIRE_EQ(x.guests.starts.size(), 1u);
     x.end_call();
     CHECK_EQ(x.log->ended.size(), 1u);
   }},
  {"a question in line",
   [](fixture& x) { x.self->send(x.node, atom::ask_v, "desk"s, guest_question{flush_question{}}, caf::timespan{minute}); },
   [](fixture& x) {
     for (const auto& asked : x.transitions.take_ups)
       asked.to({x.held(), workspace::done{}});
     x.sched.run();
     REQUIRE_EQ(x.guests.asks.size(), 1u);
     x.guests.asks[0].to(workspace::reply{guest::flush_report{}});
   }},
  {"a pin",
   [](fixture& x) {
     x.self->send(x.node, atom::pin_v, "desk"s, pin_spec{"S1", "P1", "B1", {}});
   },
   [](fixture&) {}},
  {"a grant",
   [](fixture& x) { x.self->send(x.node, atom::policy_v, "desk"s, policy_request{policy_spec{{"a.example"}}}, caf::timespan{minute}); },
   [](fixture& x) {
     REQUIRE_EQ(x.policies.sandboxes.size(), 1u);
     x.policies.sandboxes[0].to(std::nullopt);
   }},
};

} // namespace

SCENARIO("a message that comes while a WORKSPACE goes is neither lost nor done twice, whenever it comes") {
  for (const auto& one : arrivals) {
    auto met = std::size_t{0};
    for (auto more = true; more; ++met) {
      fixture x;
      more = meets(x, met, one.comes);
      if (!more)
        break;
      MESSAGE(one.what << " after " << met << " steps");
      one.check(x);
      x.sched.run();
      CHECK_EQ(x.self->mailbox().size(), 1u); // one answer
      CHECK_EQ(x.alive(), 1u);
    }
    CHECK(met >= 4); // before the look, and after each of its messages
  }
}

SCENARIO("a notice of the WATCH that comes while a WORKSPACE goes is seen by the one that comes back") {
  auto met = std::size_t{0};
  for (auto more = true; more; ++met) {
    fixture x;
    x.watches.starts.at(0).tell(k8s::watch_listed{{k8s::kept_sandbox("namzu-ws-desk", "S1", 7)}, "7"});
    x.sched.run();
    for (const auto& asked : std::exchange(x.transitions.stamps, {}))
      asked.to({asked.before, workspace::stamped{}});
    x.sched.run();
    more = meets(x, met, [](fixture& y) {
      y.watches.starts[0].tell(k8s::watch_told{k8s::watch_event::kind::modified, k8s::kept_sandbox("namzu-ws-desk", "S1", 8, true)});
    });
    if (!more)
      break;
    for (const auto& asked : std::exchange(x.transitions.stamps, {}))
      asked.to({asked.before, workspace::stamped{}});
    x.sched.run();
    x.transitions.seen.clear();
    x.say<opened_view>(atom::resume_v, open_spec{}, minute);
    REQUIRE(!x.transitions.seen.empty());
    const auto& seen = x.transitions.seen.back();
    CHECK_EQ(seen.first, x.transitions.resumes.at(0).name);
    REQUIRE(seen.second.object);
    CHECK_EQ(seen.second.object->key().name, "namzu-ws-desk");
    CHECK_EQ(k8s::text_at(*seen.second.object->open(), "/metadata/resourceVersion"), std::optional{"8"s});
  }
  CHECK(met >= 4);
}

SCENARIO("a late answer of what was let go changes nothing in what came back") {
  const auto failing = run();
  guests.starts.back().events.end(tl::unexpected{workspace::failure{guest::failure{guest::lost{"no answer"}}}});
  sched.run();
  REQUIRE_EQ(transitions.explains.size(), 1u);
  // The CALL dies before the cluster has told why it failed.
  caf::anon_send_exit(failing->value.value(), caf::exit_reason::kill);
  sched.run();
  CHECK(goes());
  run();
  transitions.take_ups.at(0).to({held(), workspace::done{}});
  sched.run();
  auto elsewhere = suspended();
  elsewhere.at = workspace::state::suspended;
  workspace::refuse(transitions.explains[0], elsewhere, workspace::suspended{"exec", "desk", "namzu-ws-desk", "transport", std::nullopt});
  sched.run();
  end_call();
  CHECK_EQ(log->ended.size(), 1u);
  CHECK_EQ(transitions.take_ups.size(), 1u);
}

SCENARIO("a node that stops while a WORKSPACE goes ends") {
  auto met = std::size_t{0};
  for (auto more = true; more; ++met) {
    fixture x;
    x.self->monitor(x.node);
    more = meets(x, met, [](fixture& y) { y.self->send(y.node, atom::stop_v); });
    if (more)
      CHECK(!x.self->mailbox().empty());
  }
  CHECK(met >= 4);
}

SCENARIO("a removed workspace leaves nothing behind") {
  CHECK(goes());
  const auto removed = say<caf::unit_t>(atom::remove_v, remove_spec{}, minute);
  check_remembered(transitions.removes.at(0).before);
  auto gone = transitions.removes[0].before;
  gone.at = workspace::state::deleted;
  transitions.removes[0].to({gone, workspace::done{}});
  sched.run();
  CHECK(removed->value);
  say<opened_view>(atom::open_v, open_spec{}, minute);
  CHECK(!transitions.opens.back().before.epoch);
  CHECK(!transitions.opens.back().before.sandbox);
}

END_FIXTURE_SCOPE()
