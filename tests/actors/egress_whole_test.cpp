#define CAF_SUITE egress_whole

// The actors of egress over the real ports and flows, with a scripted API server: the cases that speak of requests.

#include "actors/egress_gate.hpp"
#include "actors/fence.hpp"
#include "actors/policy_queue.hpp"
#include "egress/labels.hpp"
#include "tests/actors/egress_fixture.hpp"

#include <random>
#include <set>

using namespace paddock;
using namespace paddock::test;
using egress::test::grant_cluster;
using nlohmann::json;

namespace {

using texts = std::vector<std::string>;

struct fixture : egress_fixture {
  using labels = std::map<std::string, std::string>;

  fixture() {
    session = keep(sys.spawn([](caf::event_based_actor*) { return caf::behavior{[](int) {}}; }));
    fence = keep(sys.spawn<fence_impl>(std::ref(on), session));
  }
  policy_queue_actor make_queue(egress::grant_target whose) {
    auto pod = labels{{"sandbox.namzu.ai/template", "namzu-task"}, {"app", "namzu"}};
    pod.merge(egress::per_sandbox_labels(of.how, whose.selector_value));
    watcher = keep(sys.spawn([log = events]() -> policy_watcher_actor::behavior_type {
      return {[log](atom::noted, const policy_event& x) { log->push_back(x.what + " " + x.policy); }};
    }));
    return keep(sys.spawn<policy_queue_impl>(std::ref(on), policy_queue_options{std::move(whose), std::move(pod), fence, watcher}));
  }
  answer grant(const policy_queue_actor& queue, texts hosts) {
    return ask<caf::unit_t>(queue, atom::allow_v, policy_spec{std::move(hosts)}, caf::timespan{1min});
  }
  template <class Question>
  answer verify(const egress_gate_actor& gate, Question what) {
    auto out = ask<caf::unit_t>(gate, atom::verify_v, std::move(what), std::uint64_t{on.next_ticket()}, caf::timespan{1min});
    settle();
    return out;
  }
  /// A policy that lets every pod of the template reach everything.
  void apply_wide() {
    host.objects[core_policies + "/wide"] =
      json{{"metadata", {{"name", "wide"}}},
           {"spec", {{"podSelector", json::object()}, {"policyTypes", {"Egress"}}, {"egress", json::array({json::object()})}}}};
  }

  caf::actor session;
  fence_actor fence;
  policy_watcher_actor watcher;
  std::shared_ptr<texts> events = std::make_shared<texts>();
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(egress_whole_tests, fixture)

// [E 180]
SCENARIO("two calls prove the fence once") {
  auto queue = make_queue(host.claim());
  for (auto list : {texts{"a.example"}, texts{"b.example"}}) {
    auto call = grant(queue, list);
    settle();
    CHECK_EQ(outcome(call), "done");
  }
  CHECK_EQ(sent("GET", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/"), 1u);
  CHECK_EQ(sent("GET", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/"), 1u);
  CHECK_EQ(host.fence_reads(), 2u);
}

// [E 183]
SCENARIO("fifty sandboxes that are granted something at once share one proof of the fence") {
  auto calls = std::vector<answer>{};
  for (auto i = 0; i < 50; ++i)
    calls.push_back(grant(make_queue(host.claim("uid-" + std::to_string(i), "task-" + std::to_string(i))), {"a.example"}));
  settle();
  for (const auto& x : calls)
    CHECK_EQ(outcome(x), "done");
  CHECK_EQ(host.fence_reads(), 2u);
  const auto posts = host.api.sent("POST");
  CHECK_EQ(posts.size(), 50u);
  std::set<json> names;
  std::set<json> selectors;
  std::set<json> owners;
  for (const auto& x : posts) {
    names.insert(x.body["metadata"]["name"]);
    selectors.insert(x.body["spec"]["endpointSelector"]);
    owners.insert(x.body["metadata"]["ownerReferences"]);
  }
  CHECK_EQ(names.size(), 50u);
  CHECK_EQ(selectors.size(), 50u);
  CHECK_EQ(owners.size(), 50u);
}

// [E 227]
SCENARIO("of two calls that overlap the second one writes after the first has settled, also when that failed") {
  for (auto first_fails : {false, true}) {
    const auto uid = std::string{first_fails ? "U2" : "U1"};
    const auto policy = "namzu-sbx-" + uid;
    host.api.calls.clear();
    host.intercept = [this, first_fails](const k8s::call& x) -> std::optional<grant_cluster::reply> {
      if (!first_fails || x.method != "POST" || host.api.sent("POST").size() > 1)
        return std::nullopt;
      return denied(x);
    };
    auto queue = make_queue(host.claim(uid, "task-" + uid));
    auto a = grant(queue, {"a.example"});
    auto b = grant(queue, {"b.example"});
    settle();
    CHECK_EQ(outcome(a), first_fails ? "Credential" : "done");
    CHECK_EQ(outcome(b), "done");
    const auto post = texts{"POST ciliumnetworkpolicies"};
    const auto proof = texts{"GET " + policy, "GET networkpolicies?limit=500", "GET ciliumnetworkpolicies?limit=500"};
    auto want = texts{};
    for (const auto& part : first_fails ? std::vector{post, post, proof} : std::vector{post, proof, post, texts{"PATCH " + policy}, proof})
      want.insert(want.end(), part.begin(), part.end());
    CHECK_EQ(host.sent(), want);
    const auto posts = host.api.sent("POST");
    REQUIRE_EQ(posts.size(), 2u);
    CHECK(posts[0].body.dump().find("a.example") != std::string::npos);
    CHECK(posts[1].body.dump().find("b.example") != std::string::npos);
  }
}

// [E 232]
SCENARIO("a third policy that lets the pod reach more fails the call, which names the policy and its owner") {
  host.objects[grant_cluster::policies + "/wide"] =
    json{{"metadata", {{"name", "wide"}}}, {"spec", {{"endpointSelector", json::object()}, {"egress", {{{"toEntities", {"world"}}}}}}}};
  auto call = grant(make_queue(host.claim()), {"a.example"});
  settle();
  REQUIRE_EQ(outcome(call), "EgressPolicyUnion");
  // The policy was written, and stands.
  CHECK(call->why->how == verdict::failed);
  CHECK(host.objects.contains(grant_cluster::policies + "/namzu-sbx-6f1d2a30-1111-4222-8333-444455556666"));
  CHECK(call->why->message.find("CiliumNetworkPolicy/wide") != std::string::npos);
  const auto details = json::parse(call->why->details);
  CHECK_EQ(details["refusal"], "policy-widens-egress");
  const auto subject = details["subject"].get<std::string>();
  CHECK(subject.find("namzu-sbx-6f1d2a30-1111-4222-8333-444455556666") != std::string::npos);
  CHECK(subject.find("namzu-task-0b0e7c1e-aaaa-4bbb-8ccc-ddddeeeeffff") != std::string::npos);
}

// [E 237]
SCENARIO("under named-object-only nothing is listed after a write") {
  of.how.verify = egress::verification::named_object_only;
  apply_wide();
  auto call = grant(make_queue(host.claim()), {"a.example"});
  settle();
  CHECK_EQ(outcome(call), "done");
  CHECK_EQ(host.sent(), (texts{"POST ciliumnetworkpolicies", "GET namzu-sbx-6f1d2a30-1111-4222-8333-444455556666"}));
}

SCENARIO("a grant that arrives late over the wire is taken away again") {
  auto late = std::optional<k8s::call>{};
  host.intercept = [&](const k8s::call& x) -> std::optional<grant_cluster::reply> {
    if (x.method != "POST" || late)
      return std::nullopt;
    late = x;
    return timed_out(x);
  };
  auto queue = make_queue(host.workspace());
  auto granted = grant(queue, {"a.example"});
  settle();
  CHECK_EQ(outcome(granted), "OutcomeUnknown");
  auto clear = grant(queue, {});
  settle();
  CHECK_EQ(outcome(clear), "done");
  pass(1s);
  CHECK(events->empty());
  static_cast<void>(host.answer(*late));
  CHECK(host.objects.contains(grant_cluster::policies + "/namzu-sbx-S1"));
  pass(4s);
  CHECK(!host.objects.contains(grant_cluster::policies + "/namzu-sbx-S1"));
  CHECK_EQ(*events, texts{"taken-away namzu-sbx-S1"});
}

SCENARIO("of a write that breaks nobody knows whether it was sent") {
  host.intercept = [](const k8s::call& x) -> std::optional<grant_cluster::reply> {
    if (x.method == "GET")
      return std::nullopt;
    throw std::runtime_error{"broken"};
  };
  auto queue = make_queue(host.claim());
  auto granted = grant(queue, {"a.example"});
  settle();
  CHECK_EQ(outcome(granted), "OutcomeUnknown");
  CHECK(granted->why->how == verdict::unknown);
  host.intercept = nullptr;
  pass(1s);
  CHECK_EQ(*events, texts{"put-back namzu-sbx-6f1d2a30-1111-4222-8333-444455556666"});
}

SCENARIO("a queue ends when its Sandbox is another one, and what it wrote is taken back") {
  auto queue = make_queue(host.workspace("S1"));
  static_cast<void>(host.workspace("S2"));
  auto call = grant(queue, {"a.example"});
  settle();
  CHECK_EQ(outcome(call), "OwnerReplaced");
  CHECK_EQ(*events, texts{"owner-gone namzu-sbx-S1"});
  CHECK(!host.objects.contains(grant_cluster::policies + "/namzu-sbx-S1"));
}

SCENARIO("a check removes the policy of a dead uid and puts back the own one") {
  auto queue = make_queue(host.workspace());
  grant(queue, {"a.example"});
  settle();
  const auto own = grant_cluster::policies + "/namzu-sbx-S1";
  const auto foreign = grant_cluster::policies + "/namzu-sbx-S0";
  const auto meant = host.objects.at(own)["spec"];
  host.objects[foreign] = host.objects.at(own);
  host.objects[foreign]["metadata"]["name"] = "namzu-sbx-S0";
  host.objects[own]["spec"]["egress"] = json::array({{{"toEntities", {"world"}}}});
  auto call = ask<caf::unit_t>(queue, atom::check_v, caf::timespan{1min});
  settle();
  CHECK_EQ(outcome(call), "done");
  CHECK(!host.objects.contains(foreign));
  CHECK(host.objects.at(own)["spec"] == meant);
  CHECK_EQ(*events, (texts{"dropped namzu-sbx-S0", "put-back namzu-sbx-S1"}));
}

namespace {

/// An API server that loses answers: a write is applied, refused, or ends without an answer and is applied at once, later or never.
struct lossy_writes {
  grant_cluster& host;
  std::mt19937 pick;
  bool faults = true;
  std::vector<std::pair<time_source::clock::time_point, k8s::call>> late{};

  std::optional<grant_cluster::reply> operator()(const k8s::call& x) {
    if (x.method == "GET" || !faults)
      return std::nullopt;
    switch (pick() % 8) {
      case 0: return denied(x);
      case 1: return timed_out(x);
      case 2: static_cast<void>(host.answer(x)); return timed_out(x);
      case 3: late.emplace_back(host.time.now() + std::chrono::seconds{1 + pick() % 89}, x); return timed_out(x);
      default: return std::nullopt;
    }
  }
  void apply_what_is_due() {
    std::erase_if(late, [this](const auto& x) {
      if (x.first > host.time.now())
        return false;
      static_cast<void>(host.answer(x.second));
      return true;
    });
  }
};

} // namespace

SCENARIO("whatever becomes of the answers, in the end stands what was meant last, or an event says that it does not") {
  of.how.verify = egress::verification::named_object_only;
  auto exact = 0;
  auto repaired = std::size_t{0};
  for (auto seed = 1u; seed <= 300; ++seed) {
    const auto about = "seed " + std::to_string(seed) + ": ";
    auto net = lossy_writes{host, std::mt19937{seed}};
    host.intercept = [&net](const k8s::call& x) { return net(x); };
    events->clear();
    const auto whose = host.claim("uid-" + std::to_string(seed), "task");
    auto queue = make_queue(whose);
    const auto pass_a_second = [&] {
      host.time.advance(1s);
      net.apply_what_is_due();
      sched.advance_time(1s);
      settle();
    };
    auto meant = std::optional<texts>{}; // by what the callers were told
    for (auto calls = 0; calls < 6; ++calls) {
      for (auto pause = net.pick() % 40; pause > 0; --pause)
        pass_a_second();
      const auto hosts = net.pick() % 3 == 0 ? texts{} : texts{std::string{static_cast<char>('a' + net.pick() % 3)} + ".example"};
      auto call = grant(queue, hosts);
      settle();
      REQUIRE(call->value || call->why);
      if (call->value || call->why->how != verdict::refused)
        meant = hosts;
    }
    // No answer is lost any more. What was lost before has arrived after 90 seconds.
    net.faults = false;
    for (auto second = 0; second < 91; ++second)
      pass_a_second();
    CHECK(net.late.empty());
    const auto found = host.objects.find(grant_cluster::policies + "/namzu-sbx-uid-" + std::to_string(seed));
    const auto stands = found == host.objects.end() ? std::optional<json>{} : std::optional{found->second};
    const auto want = meant ? std::optional{egress::meaning_of(whose, *meant).value()} : std::nullopt;
    const auto as_meant = egress::judge_standing(want, stands).is == egress::standing_policy::verdict::as_meant;
    const auto said = !events->empty() && events->back().starts_with("failed");
    exact += as_meant ? 1 : 0;
    repaired += events->size();
    CHECK_EQ(about + (as_meant || said ? "as meant" : "differs"), about + "as meant");
    caf::anon_send_exit(queue, caf::exit_reason::kill);
    settle();
  }
  // The world is as rough as it should be, and few ends are left to the event.
  host.intercept = nullptr;
  CHECK_GT(repaired, 100u);
  CHECK_GT(exact, 290);
  MESSAGE(exact << " of 300 ends are as meant, after " << repaired << " events");
}

// -- the gate -------------------------------------------------------------------------

// [E 139]
SCENARIO("the same labels are listed for once in 300,000 ms, other labels for themselves") {
  auto gate = keep(sys.spawn<egress_gate_impl>(std::ref(on), of.how.per_sandbox->label_key));
  const auto some = labels{{"sandbox.namzu.ai/template", "namzu-task"}};
  const auto other = labels{{"sandbox.namzu.ai/template", "namzu-task"}, {"app", "namzu"}};
  const auto lists = [this] { return sent("GET", core_policies + "?"); };
  for (auto i = 0; i < 2; ++i) {
    CHECK_EQ(outcome(verify(gate, union_question{some, "pod"})), "done");
    CHECK_EQ(lists(), 1u);
  }
  CHECK_EQ(outcome(verify(gate, union_question{other, "pod"})), "done");
  CHECK_EQ(lists(), 2u);
  pass(300'001ms);
  CHECK_EQ(outcome(verify(gate, union_question{some, "pod"})), "done");
  CHECK_EQ(lists(), 3u);
  CHECK_EQ(host.api.calls.size(), 3u);
}

// [E 140]
SCENARIO("a failing pass is not cached: two calls, two lists, two errors") {
  auto gate = keep(sys.spawn<egress_gate_impl>(std::ref(on), of.how.per_sandbox->label_key));
  apply_wide();
  for (auto lists : {1u, 2u}) {
    CHECK_EQ(outcome(verify(gate, union_question{labels{{"sandbox.namzu.ai/template", "namzu-task"}}, "pod"})), "EgressPolicyUnion");
    CHECK_EQ(host.api.calls.size(), lists);
    CHECK_EQ(sent("GET", core_policies + "?"), lists);
  }
}

SCENARIO("what the configuration switches off passes without a request") {
  of.how.verify = egress::verification::named_object_only;
  of.ingress.verify = false;
  auto gate = keep(sys.spawn<egress_gate_impl>(std::ref(on), of.how.per_sandbox->label_key));
  CHECK_EQ(outcome(verify(gate, union_question{labels{{"app", "a"}}, "pod"})), "done");
  CHECK_EQ(outcome(verify(gate, ingress_question{labels{{"app", "a"}}, "pod"})), "done");
  CHECK(host.api.calls.empty());
  CHECK_EQ(outcome(verify(gate, named_object_question{})), "done");
  CHECK_EQ(host.api.trace(), texts{"GET " + core_policies + "/namzu-task-egress"});
}

SCENARIO("an ingress is listed for once for pods of the same labels, and refused anew each time") {
  auto gate = keep(sys.spawn<egress_gate_impl>(std::ref(on), of.how.per_sandbox->label_key));
  const auto which = ingress_question{labels{{"sandbox.namzu.ai/template", "namzu-task"}}, "pod"};
  CHECK_EQ(outcome(verify(gate, which)), "IngressPolicy");
  CHECK_EQ(outcome(verify(gate, which)), "IngressPolicy");
  CHECK_EQ(host.api.calls.size(), 2u);
  host.objects[core_policies + "/closed"] =
    json{{"metadata", {{"name", "closed"}}}, {"spec", {{"podSelector", json::object()}, {"policyTypes", {"Ingress"}}}}};
  CHECK_EQ(outcome(verify(gate, which)), "done");
  pass(24h);
  CHECK_EQ(outcome(verify(gate, which)), "done");
  CHECK_EQ(host.api.calls.size(), 3u);
}

SCENARIO("a question that comes after the end of the flows is answered, and nothing is sent") {
  group.close([] {});
  auto call = grant(make_queue(host.claim()), {"a.example"});
  settle();
  CHECK_EQ(outcome(call), "Cancelled");
  CHECK(host.api.calls.empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
