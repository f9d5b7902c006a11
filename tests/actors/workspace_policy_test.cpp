#define CAF_SUITE workspace_policy

// What a WORKSPACE grants, over fakes: the order of messages, sessions, and what becomes of crashes.

#include "egress/meant_policy.hpp"
#include "tests/actors/actor_fixture.hpp"
#include "tests/support/fake_egress_ports.hpp"

#include <nlohmann/json.hpp>

#include <stdexcept>

using namespace paddock;
using namespace paddock::test;
using egress::landing;
using workspace::done;
using workspace::opened;
using workspace::origin;

namespace {

using texts = std::vector<std::string>;
constexpr caf::timespan minute = 1min;

/// Ports that can be made to throw at the next question: a bug, for those who ask.
struct breaking_policy_port final : egress::fake_policy_port {
  bool breaks = false;
  void set(egress::ticket name, egress::grant_target whose, egress::label_map pod_labels, std::vector<std::string> allowed_hosts,
           deadline until, std::function<void(egress::write_end)> to) override {
    if (std::exchange(breaks, false))
      throw std::logic_error{"a bug"};
    fake_policy_port::set(name, std::move(whose), std::move(pod_labels), std::move(allowed_hosts), until, std::move(to));
  }
};
struct breaking_fence_port final : egress::fake_fence_port {
  bool breaks = false;
  void prove(egress::ticket name, deadline until, std::function<void(egress::result<void>)> to) override {
    if (std::exchange(breaks, false))
      throw std::logic_error{"a bug"};
    fake_fence_port::prove(name, until, std::move(to));
  }
};

struct egress_fakes {
  breaking_fence_port fences;
  breaking_policy_port port;
};

egress::grantee desk_of(const std::string& uid, egress::label_map labels = {{"app", "a"}}) {
  return {{{"fence"}, "ns", {egress::policy_owner::type::sandbox, "namzu-ws-desk", uid}, "namzu-ws-desk", true}, std::move(labels)};
}

egress::egress_error no_fence() {
  return egress::fence_missing{{"ValidatingAdmissionPolicy", "fence", "/apis/fence"}};
}

struct fixture : egress_fakes, actor_fixture {
  using policy_answer = std::shared_ptr<answer_of<policy_view>>;

  fixture() {
    world.fences = &fences;
    world.policies = &port;
  }
  workspace_actor opened_workspace(workspace::session after = running()) {
    auto made = make_workspace();
    auto got = ask<opened_view>(made, atom::open_v, open_spec{}, minute);
    transitions.opens.back().to({std::move(after), opened{origin::created}});
    sched.run();
    REQUIRE(got->value);
    transitions.log.clear();
    return made;
  }
  policy_answer set(const workspace_actor& at, texts hosts, caf::timespan budget = minute) {
    return ask<policy_view>(at, atom::policy_v, policy_request{policy_spec{std::move(hosts)}}, budget);
  }
  policy_answer show(const workspace_actor& at) {
    return ask<policy_view>(at, atom::policy_v, policy_request{}, minute);
  }
  void stands(egress::result<std::optional<egress::grantee>> what) {
    port.sandboxes.back().to(std::move(what));
    sched.run();
  }
  void prove(egress::result<void> how = {}) {
    fences.proofs.back().to(std::move(how));
    sched.run();
  }
  void end_set(egress::write_end how = {landing::landed, {}}) {
    port.sets.back().to(std::move(how));
    sched.run();
  }
  /// A grant to a running workspace, from its question to its end; the fence is proved where it is asked for.
  policy_answer granted(const workspace_actor& at, texts hosts) {
    const auto proofs = fences.proofs.size();
    auto got = set(at, std::move(hosts));
    stands(desk_of("S1"));
    if (fences.proofs.size() > proofs)
      prove();
    end_set();
    REQUIRE(got->value);
    return got;
  }
  void end_resume(std::size_t nth, bool proved) {
    auto after = running();
    after.pod = pod_uid{"P" + std::to_string(nth + 2)};
    after.fence_proved = proved;
    transitions.resumes.at(nth).to({std::move(after), opened{origin::resumed}});
    sched.run();
  }
  /// Lets the look that follows a bind find nothing to do; @pre its fence is proved
  void end_check() {
    port.drops.back().to(texts{});
    sched.run();
    port.reads.back().to(egress::meaning_of(desk_of("S1").whose, {"a.example"}).value().object->manifest);
    sched.run();
  }
  template <class T>
  static std::string outcome(const std::shared_ptr<answer_of<T>>& x) {
    return x->value ? "done" : x->why ? x->why->reason : "waits";
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(workspace_policy_tests, fixture)

SCENARIO("a grant reads the Sandbox, proves the fence, writes, and says what is granted") {
  auto me = opened_workspace();
  auto got = set(me, {"A.example", ".b.example"});
  CHECK_EQ(port.log, texts{"sandbox"});
  CHECK_EQ(port.sandboxes.at(0).sandbox_name, "namzu-ws-desk");
  CHECK(port.sandboxes[0].until == deadline(time, minute));
  CHECK(fences.proofs.empty());
  stands(desk_of("S1"));
  CHECK_EQ(fences.proofs.size(), 1u);
  CHECK(port.sets.empty());
  prove();
  REQUIRE_EQ(port.sets.size(), 1u);
  CHECK_EQ(port.sets[0].whose.owner.uid, "S1");
  CHECK_EQ(port.sets[0].pod_labels, (egress::label_map{{"app", "a"}}));
  CHECK(port.sets[0].until == deadline(time, minute));
  end_set();
  REQUIRE(got->value);
  CHECK_EQ(got->value->workspace, "desk");
  CHECK_EQ(got->value->sandbox_uid, "S1");
  CHECK_EQ(got->value->policy, "namzu-sbx-S1");
  CHECK(got->value->stands);
  CHECK_EQ(got->value->allowed_hosts, (texts{"a.example", ".b.example"}));
  CHECK(nlohmann::json::parse(got->value->spec).contains("endpointSelector"));
  // The next one asks for the Sandbox again, and for no proof.
  auto cleared = set(me, {});
  stands(desk_of("S1"));
  CHECK_EQ(fences.proofs.size(), 1u);
  end_set();
  REQUIRE(cleared->value);
  CHECK(!cleared->value->stands);
  CHECK(cleared->value->allowed_hosts.empty());
}

// [E 165] [E 263] there is nothing that could be set
SCENARIO("a node without per-sandbox egress refuses by name, and asks nobody") {
  world.policies = nullptr;
  auto me = opened_workspace();
  for (const auto& got : {set(me, {"a.example"}), show(me)}) {
    CHECK_EQ(outcome(got), "PerSandboxEgressNotConfigured");
    CHECK(got->why->how == verdict::refused);
  }
  CHECK(port.log.empty());
  CHECK(fences.proofs.empty());
}

SCENARIO("with per-sandbox egress nothing is read or written until somebody asks") {
  auto me = opened_workspace();
  CHECK(port.log.empty());
  CHECK(fences.proofs.empty());
  CHECK_EQ(outcome(granted(me, {"a.example"})), "done");
}

SCENARIO("hosts that are none are refused after the Sandbox was read, and nothing is proved or written") {
  auto me = opened_workspace();
  auto got = set(me, {"*"});
  stands(desk_of("S1"));
  CHECK_EQ(outcome(got), "NetworkPolicyHost");
  CHECK(got->why->how == verdict::usage);
  CHECK(fences.proofs.empty());
  CHECK_EQ(port.log, texts{"sandbox"});
}

SCENARIO("a workspace that was deleted is not granted anything, and nothing is sent") {
  auto me = opened_workspace();
  ask<caf::unit_t>(me, atom::remove_v, remove_spec{}, minute);
  auto after = running();
  after.at = workspace::state::deleted;
  transitions.removes.at(0).to({after, done{}});
  sched.run();
  for (const auto& got : {set(me, {"a.example"}), show(me)})
    CHECK_EQ(outcome(got), "SandboxDestroyed");
  CHECK(port.log.empty());
}

SCENARIO("an answer that holds no Sandbox, and another Sandbox, are reported as replaced") {
  auto me = opened_workspace();
  for (const auto& found : {std::optional<egress::grantee>{}, std::optional{desk_of("S2")}}) {
    auto got = set(me, {"a.example"});
    stands(found);
    CHECK_EQ(outcome(got), "WorkspaceReplaced");
    CHECK(got->why->how == verdict::overtaken);
    const auto details = nlohmann::json::parse(got->why->details);
    CHECK_EQ(details["expectedSandboxUid"], "S1");
    CHECK_EQ(details.value("actualSandboxUid", ""), found ? "S2" : "");
  }
  CHECK(fences.proofs.empty());
  CHECK_EQ(port.log, (texts{"sandbox", "sandbox"}));
}

SCENARIO("a session that has bound no uid takes whichever Sandbox stands") {
  auto me = make_workspace();
  auto got = set(me, {"a.example"});
  stands(desk_of("S9"));
  prove();
  end_set();
  REQUIRE(got->value);
  CHECK_EQ(got->value->policy, "namzu-sbx-S9");
  CHECK(transitions.log.empty());
}

SCENARIO("a call that comes while a grant is all that an unknown workspace has in line makes it known") {
  auto me = make_workspace();
  auto grant = set(me, {"a.example"});
  auto log = std::make_shared<sink_log>();
  auto called = ask<call_actor>(me, atom::call_v, call_spec{}, keep(sys.spawn(logging_sink, log)), minute);
  CHECK(transitions.log.empty());
  stands(tl::unexpected{egress::egress_error{k8s::failure{k8s::api_timeout{"GET", "/sandbox", 30s, true}}}});
  CHECK_EQ(outcome(grant), "ApiTimeout");
  CHECK_EQ(transitions.log, texts{"take_up"});
  transitions.take_ups.at(0).to({running(), done{}});
  sched.run();
  CHECK(called->value);
}

// -- in line ------------------------------------------------------------------------

SCENARIO("a grant and a transition run in the order of their messages, whichever comes first and however it ends") {
  for (const std::string verb : {"suspend", "resume", "remove"})
    for (const auto grant_first : {true, false})
      for (const auto well : {true, false}) {
        transitions = {};
        port.log.clear();
        auto me = opened_workspace();
        const auto send_verb = [&] {
          if (verb == "suspend")
            ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
          else if (verb == "resume")
            ask<opened_view>(me, atom::resume_v, open_spec{}, minute);
          else
            ask<caf::unit_t>(me, atom::remove_v, remove_spec{}, minute);
        };
        const auto end_verb = [&] {
          auto after = verb == "suspend" ? suspended() : running();
          if (verb == "remove" && well)
            after.at = workspace::state::deleted;
          const auto failed = tl::unexpected{workspace::failure{workspace::no_pod{"namzu-ws-desk", "none"}}};
          if (verb == "resume")
            transitions.resumes.at(0).to(well ? workspace::transition<opened>{after, opened{origin::resumed}}
                                              : workspace::transition<opened>{running(), failed});
          else
            (verb == "suspend" ? transitions.suspends.at(0).to : transitions.removes.at(0).to)(
              well ? workspace::transition<done>{after, done{}} : workspace::transition<done>{running(), failed});
          sched.run();
        };
        const auto end_grant = [&] {
          const auto proofs = fences.proofs.size();
          stands(desk_of("S1"));
          if (fences.proofs.size() > proofs)
            prove();
          end_set(well ? egress::write_end{landing::landed, {}}
                       : egress::write_end{landing::none, tl::unexpected{egress::egress_error{no_fence()}}});
        };
        auto grant = policy_answer{};
        if (grant_first)
          grant = set(me, {"a.example"});
        send_verb();
        if (!grant_first)
          grant = set(me, {"a.example"});
        if (grant_first) {
          CHECK_EQ(port.log, texts{"sandbox"});
          CHECK(transitions.log.empty());
          end_grant();
          CHECK_EQ(outcome(grant), well ? "done" : "AdmissionFenceMissing");
          CHECK_EQ(transitions.log, texts{verb});
        } else {
          CHECK_EQ(transitions.log, texts{verb});
          CHECK(port.log.empty());
          end_verb();
          if (verb == "remove" && well) {
            CHECK_EQ(outcome(grant), "SandboxDestroyed");
            CHECK(port.log.empty());
            continue;
          }
          CHECK_EQ(port.log, texts{"sandbox"});
          end_grant();
          CHECK_EQ(outcome(grant), well ? "done" : "AdmissionFenceMissing");
        }
      }
}

SCENARIO("what stands is read at once, also while a transition is under way") {
  auto me = opened_workspace();
  ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
  auto got = show(me);
  stands(desk_of("S1"));
  REQUIRE_EQ(port.reads.size(), 1u);
  CHECK_EQ(port.reads[0].whose.owner.uid, "S1");
  port.reads[0].to(egress::meaning_of(desk_of("S1").whose, {"a.example", ".b.example"}).value().object->manifest);
  sched.run();
  REQUIRE(got->value);
  CHECK(got->value->stands);
  CHECK_EQ(got->value->allowed_hosts, (texts{"a.example", ".b.example"}));
  auto none = show(me);
  stands(desk_of("S1"));
  port.reads.at(1).to(std::optional<nlohmann::json>{});
  sched.run();
  REQUIRE(none->value);
  CHECK(!none->value->stands);
  CHECK_EQ(none->value->spec, "{}");
  CHECK(fences.proofs.empty());
}

// -- sessions -------------------------------------------------------------------------

SCENARIO("a resume that proved the fence brings a FENCE that is asked for no proof") {
  auto me = opened_workspace();
  granted(me, {"a.example"});
  REQUIRE_EQ(fences.proofs.size(), 1u);
  ask<opened_view>(me, atom::resume_v, open_spec{}, minute);
  end_resume(0, true);
  end_check();
  granted(me, {"b.example"});
  CHECK_EQ(fences.proofs.size(), 1u);
}

SCENARIO("after a resume that failed the next grant proves the fence anew, and writes nothing without") {
  auto me = opened_workspace();
  granted(me, {"a.example"});
  ask<opened_view>(me, atom::resume_v, open_spec{}, minute);
  auto after = suspended();
  after.fence_proved = true; // of an earlier session
  workspace::refuse(transitions.resumes.at(0), after, workspace::no_pod{"namzu-ws-desk", "none"});
  sched.run();
  auto got = set(me, {"b.example"});
  stands(desk_of("S1"));
  REQUIRE_EQ(fences.proofs.size(), 2u);
  prove(tl::unexpected{no_fence()});
  CHECK_EQ(outcome(got), "AdmissionFenceMissing");
  CHECK_EQ(port.sets.size(), 1u);
}

SCENARIO("after a bind what was granted is looked at, and what differs is put back with a line that says so") {
  auto me = opened_workspace();
  granted(me, {"a.example"});
  ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
  transitions.suspends.at(0).to({suspended(), done{}});
  sched.run();
  CHECK(port.drops.empty());
  ask<opened_view>(me, atom::resume_v, open_spec{}, minute);
  end_resume(0, true);
  REQUIRE_EQ(port.drops.size(), 1u);
  port.drops[0].to(texts{"namzu-sbx-S0"});
  sched.run();
  REQUIRE_EQ(port.reads.size(), 1u);
  port.reads[0].to(std::optional<nlohmann::json>{});
  sched.run();
  REQUIRE_EQ(port.sets.size(), 2u);
  CHECK_EQ(port.sets[1].allowed_hosts, texts{"a.example"});
  end_set();
  REQUIRE_EQ(warnings.size(), 2u);
  CHECK(warnings[0].starts_with("workspace desk: policy namzu-sbx-S0 dropped: "));
  CHECK(warnings[1].starts_with("workspace desk: policy namzu-sbx-S1 put-back: "));
}

SCENARIO("a look after a bind that fails is a line for people, and no failure of the verb") {
  auto me = opened_workspace();
  granted(me, {"a.example"});
  auto resumed = ask<opened_view>(me, atom::resume_v, open_spec{}, minute);
  end_resume(0, true);
  port.drops.at(0).to(tl::unexpected{egress::egress_error{k8s::failure{k8s::credential_failure{"GET", "/cnp", 403}}}});
  sched.run();
  CHECK(resumed->value);
  REQUIRE_EQ(warnings.size(), 1u);
  CHECK(warnings[0].starts_with("workspace desk: its policy could not be checked"));
}

SCENARIO("labels that the pods have by now are those that the next write is judged by") {
  auto me = opened_workspace();
  granted(me, {"a.example"});
  set(me, {"b.example"});
  stands(desk_of("S1", {{"app", "b"}}));
  REQUIRE_EQ(port.sets.size(), 2u);
  CHECK_EQ(port.sets[1].pod_labels, (egress::label_map{{"app", "b"}}));
}

SCENARIO("the POLICY QUEUE of an owner ends when the session has another one") {
  auto me = opened_workspace();
  const auto before = sys.registry().running();
  granted(me, {"a.example"});
  const auto with_queue = sys.registry().running();
  CHECK_EQ(with_queue, before + 2); // and a FENCE
  ask<opened_view>(me, atom::open_v, open_spec{}, minute);
  auto after = running();
  after.sandbox = sandbox_uid{"S2"};
  transitions.opens.back().to({after, opened{origin::created}});
  sched.run();
  CHECK(port.drops.empty());
  CHECK_EQ(sys.registry().running(), with_queue - 1);
}

// -- through NODE and SHARD -------------------------------------------------------------

SCENARIO("a NODE passes a grant on, and refuses what is no id") {
  node_info about;
  about.shards = 4;
  auto node = keep(sys.spawn<node_impl>(std::ref(world), about));
  auto got = ask<policy_view>(node, atom::policy_v, "desk"s, policy_request{policy_spec{{"a.example"}}}, minute);
  stands(desk_of("S1"));
  prove();
  end_set();
  REQUIRE(got->value);
  CHECK_EQ(got->value->workspace, "desk");
  CHECK_EQ(got->value->policy, "namzu-sbx-S1");
  auto bad = ask<policy_view>(node, atom::policy_v, "a_b"s, policy_request{}, minute);
  CHECK_EQ(outcome(bad), "IllegalId");
}

// -- crashes ----------------------------------------------------------------------------

SCENARIO("who waits for a POLICY QUEUE that crashes is told that nobody knows, and the next grant finds another one") {
  auto me = opened_workspace();
  granted(me, {"a.example"});
  auto got = set(me, {"b.example"});
  port.breaks = true;
  stands(desk_of("S1"));
  CHECK_EQ(outcome(got), "OutcomeUnknown");
  CHECK(got->why->how == verdict::unknown);
  REQUIRE(!warnings.empty());
  CHECK(warnings.back().starts_with("POLICY QUEUE of namzu-sbx-S1 crashed"));
  CHECK_EQ(outcome(granted(me, {"c.example"})), "done");
  CHECK_EQ(fences.proofs.size(), 1u);
}

SCENARIO("a FENCE that crashes writes nothing, and its successor proves anew") {
  auto me = opened_workspace();
  auto got = set(me, {"a.example"});
  fences.breaks = true;
  stands(desk_of("S1"));
  REQUIRE(got->why);
  CHECK(got->why->how != verdict::failed);
  CHECK(port.sets.empty());
  CHECK(fences.proofs.empty());
  CHECK_EQ(outcome(granted(me, {"a.example"})), "done");
  CHECK_EQ(fences.proofs.size(), 1u);
}

// -- stopping -----------------------------------------------------------------------------

SCENARIO("stopping withdraws a grant at each of its steps, answers, and ends") {
  for (const std::string step : {"sandbox", "fence", "set"}) {
    port.log.clear();
    port.cancelled.clear();
    auto me = opened_workspace();
    const auto sets = port.sets.size();
    auto got = set(me, {"a.example"});
    auto behind = set(me, {"b.example"});
    if (step != "sandbox")
      stands(desk_of("S1"));
    if (step == "set")
      prove();
    caf::anon_send(me, atom::stop_v);
    sched.run();
    CHECK_EQ(outcome(behind), "NodeStopping");
    const auto withdrawn = egress::egress_error{k8s::failure{k8s::cancelled{"set", {}, step == "set"}}};
    if (step == "sandbox") {
      REQUIRE_EQ(port.cancelled, std::vector<egress::ticket>{port.sandboxes.back().name});
      stands(tl::unexpected{withdrawn});
    }
    if (step == "set") {
      REQUIRE_EQ(port.cancelled, std::vector<egress::ticket>{port.sets.back().name});
      end_set({landing::unknown, tl::unexpected{egress::egress_error{egress::policy_write_unknown{"POST", "/cnp", {}}}}});
    }
    CHECK_EQ(outcome(got), step == "sandbox" ? "Cancelled" : step == "fence" ? "OwnerGone" : "OutcomeUnknown");
    CHECK_EQ(port.sets.size(), sets + (step == "set" ? 1u : 0u));
    auto gone = ask<workspace_view>(me, atom::view_v);
    CHECK(gone->why); // it has ended
  }
}

CAF_TEST_FIXTURE_SCOPE_END()
