#define CAF_SUITE policy_queue

#include "actors/fence.hpp"
#include "actors/policy_queue.hpp"
#include "tests/actors/actor_fixture.hpp"
#include "tests/support/fake_egress_ports.hpp"

#include <algorithm>
#include <array>
#include <map>

using namespace paddock;
using namespace paddock::test;
using egress::landing;
using nlohmann::json;

namespace {

using hosts = std::vector<std::string>;
using texts = std::vector<std::string>;

struct queue_fakes {
  egress::fake_fence_port fences;
  egress::fake_policy_port port;
};

policy_watcher_actor::behavior_type logging_watcher(std::shared_ptr<std::vector<policy_event>> log) {
  return {[log](atom::noted, const policy_event& x) { log->push_back(x); }};
}

egress::grant_target desk() {
  return {{"fence"}, "ns", {egress::policy_owner::type::sandbox, "namzu-ws-desk", "S1"}, "namzu-ws-desk", true};
}

/// The object of a grant, as it stands when nobody has touched it.
json object_of(const hosts& allowed) {
  return egress::meaning_of(desk(), allowed).value().object->manifest;
}

egress::write_end applied() {
  return {landing::landed, {}};
}
egress::write_end refused() {
  return {landing::none, tl::unexpected{egress::egress_error{k8s::failure{k8s::credential_failure{"POST", "/cnp", 403}}}}};
}
egress::write_end unknown() {
  return {landing::unknown,
          tl::unexpected{egress::egress_error{egress::policy_write_unknown{"POST", "/cnp", k8s::api_timeout{"POST", "/cnp", 30s, true}}}}};
}
/// Written, and another policy makes it wider.
egress::write_end wide() {
  return {landing::landed, tl::unexpected{egress::egress_error{egress::union_refused{}}}};
}
egress::write_end replaced() {
  return {landing::landed, tl::unexpected{egress::egress_error{egress::owner_replaced{"namzu-ws-desk", "S1", "S2", "done"}}}};
}
k8s::failure forbidden() {
  return k8s::credential_failure{"GET", "/cnp", 403};
}
k8s::failure down() {
  return k8s::api_timeout{"GET", "/cnp", 30s, true};
}

struct fixture : queue_fakes, actor_fixture {
  fixture() {
    world.fences = &fences;
    world.policies = &port;
    session = keep(sys.spawn([](caf::event_based_actor*) { return caf::behavior{[](int) {}}; }));
  }
  fence_actor make_fence() {
    return keep(sys.spawn<fence_impl>(std::ref(world), session));
  }
  /// A FENCE that has been proved.
  fence_actor proved_fence() {
    auto made = make_fence();
    ask<caf::unit_t>(made, atom::prove_v, world.next_ticket(), caf::timespan{1h});
    fences.proofs.back().to({});
    sched.run();
    fences.proofs.clear();
    return made;
  }
  policy_queue_actor make_queue(fence_actor fence) {
    events = std::make_shared<std::vector<policy_event>>();
    watcher = keep(sys.spawn(logging_watcher, events));
    return keep(sys.spawn<policy_queue_impl>(std::ref(world), policy_queue_options{desk(), {{"app", "a"}}, fence, watcher}));
  }
  policy_queue_actor make_queue() {
    return make_queue(proved_fence());
  }
  answer grant(const policy_queue_actor& queue, hosts allowed, caf::timespan budget = 1h) {
    return ask<caf::unit_t>(queue, atom::allow_v, policy_spec{std::move(allowed)}, budget);
  }
  answer check(const policy_queue_actor& queue) {
    return ask<caf::unit_t>(queue, atom::check_v, caf::timespan{1h});
  }
  void end_set(egress::write_end how) {
    port.sets.back().to(std::move(how));
    sched.run();
  }
  void found(std::optional<json> object) {
    port.reads.back().to(std::move(object));
    sched.run();
  }
  void not_read(const k8s::failure& why = down()) {
    port.reads.back().to(tl::unexpected{egress::egress_error{why}});
    sched.run();
  }
  void dropped(hosts names = {}) {
    port.drops.back().to(std::move(names));
    sched.run();
  }
  texts told() const {
    auto out = texts{};
    for (const auto& x : *events)
      out.push_back(x.what);
    return out;
  }
  static std::string outcome(const answer& x) {
    return x->value ? "done" : x->why ? x->why->reason : "waits";
  }

  caf::actor session;
  policy_watcher_actor watcher;
  std::shared_ptr<std::vector<policy_event>> events;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(policy_queue_tests, fixture)

// -- the queue --------------------------------------------------------------------

SCENARIO("calls are written one after another, in the order they came, and each is told how its own ended") {
  auto queue = make_queue();
  auto first = grant(queue, {"A.example"});
  auto second = grant(queue, {});
  auto third = grant(queue, {"c.example"});
  REQUIRE_EQ(port.sets.size(), 1u);
  CHECK_EQ(port.sets[0].allowed_hosts, hosts{"a.example"});
  CHECK_EQ(port.sets[0].whose.owner.uid, "S1");
  CHECK_EQ(port.sets[0].pod_labels, (egress::label_map{{"app", "a"}}));
  end_set(refused());
  CHECK_EQ(outcome(first), "Credential");
  CHECK(first->why->how == verdict::refused);
  REQUIRE_EQ(port.sets.size(), 2u);
  CHECK(port.sets[1].allowed_hosts.empty());
  end_set(unknown());
  CHECK_EQ(outcome(second), "OutcomeUnknown");
  CHECK(second->why->how == verdict::unknown);
  REQUIRE_EQ(port.sets.size(), 3u);
  end_set(applied());
  CHECK_EQ(outcome(third), "done");
  CHECK_EQ(port.log, (texts{"set", "set", "set"}));
}

SCENARIO("hosts that are none are refused before the queue, and nothing is asked for") {
  auto queue = make_queue(make_fence());
  auto first = grant(queue, {"a.example"});
  REQUIRE_EQ(fences.proofs.size(), 1u);
  auto bad = grant(queue, {"b.example", "*"});
  CHECK_EQ(outcome(bad), "NetworkPolicyHost");
  CHECK(bad->why->how == verdict::usage);
  CHECK_EQ(outcome(first), "waits");
  fences.proofs[0].to({});
  sched.run();
  end_set(applied());
  CHECK_EQ(outcome(first), "done");
  CHECK_EQ(port.sets.size(), 1u);
}

SCENARIO("without a proof of the fence nothing is written, and the next call asks for one again") {
  auto queue = make_queue(make_fence());
  for (auto list : {hosts{}, hosts{"a.example"}}) {
    auto call = grant(queue, list);
    fences.proofs.back().to(tl::unexpected{egress::egress_error{egress::fence_missing{{"ValidatingAdmissionPolicy", "fence", "/f"}}}});
    sched.run();
    CHECK_EQ(outcome(call), "AdmissionFenceMissing");
  }
  CHECK_EQ(fences.proofs.size(), 2u);
  CHECK(port.log.empty());
  auto call = grant(queue, {"a.example"});
  fences.proofs.back().to({});
  sched.run();
  CHECK_EQ(port.sets.size(), 1u);
  end_set(applied());
  CHECK_EQ(outcome(call), "done");
}

SCENARIO("a call is not begun once its time is up") {
  auto queue = make_queue();
  auto first = grant(queue, {"a.example"});
  auto second = grant(queue, {"b.example"}, 1s);
  pass(1s);
  end_set(applied());
  CHECK_EQ(outcome(first), "done");
  CHECK_EQ(outcome(second), "OutOfTime");
  CHECK_EQ(port.sets.size(), 1u);
}

SCENARIO("a call waits for the fence no longer than it has time") {
  auto queue = make_queue(make_fence());
  auto call = grant(queue, {"a.example"}, 5s);
  pass(5s);
  CHECK_EQ(outcome(call), "OutOfTime");
  fences.proofs.at(0).to({});
  sched.run();
  CHECK(port.log.empty());
}

SCENARIO("the present FENCE counts, also for a call that waits for a former one") {
  auto former = make_fence();
  auto queue = make_queue(former);
  auto call = grant(queue, {"a.example"});
  auto present = make_fence();
  caf::anon_send(queue, atom::moved_v, present);
  caf::anon_send(former, atom::stop_v);
  sched.run();
  CHECK_EQ(outcome(call), "waits");
  REQUIRE_EQ(fences.proofs.size(), 2u);
  fences.proofs[1].to({});
  sched.run();
  REQUIRE_EQ(port.sets.size(), 1u);
  end_set(applied());
  CHECK_EQ(outcome(call), "done");
}

SCENARIO("what a former FENCE proves does not count for a call that waits for it") {
  auto queue = make_queue(make_fence());
  auto call = grant(queue, {"a.example"});
  caf::anon_send(queue, atom::moved_v, make_fence());
  sched.run();
  fences.proofs.at(0).to({});
  sched.run();
  CHECK(port.log.empty());
  REQUIRE_EQ(fences.proofs.size(), 2u);
  fences.proofs[1].to(tl::unexpected{egress::egress_error{egress::fence_missing{}}});
  sched.run();
  CHECK_EQ(outcome(call), "AdmissionFenceMissing");
  CHECK(port.log.empty());
}

SCENARIO("a FENCE that ended and has no successor refuses every write") {
  auto fence = make_fence();
  auto queue = make_queue(fence);
  auto first = grant(queue, {"a.example"});
  caf::anon_send(fence, atom::stop_v);
  sched.run();
  CHECK_EQ(outcome(first), "SessionOver");
  auto second = grant(queue, {"a.example"});
  CHECK_EQ(outcome(second), "SessionOver");
  CHECK(second->why->how == verdict::refused);
  CHECK(port.log.empty());
}

SCENARIO("a write that a later check refuses is no call of which nothing happened") {
  auto queue = make_queue();
  auto call = grant(queue, {"a.example"});
  end_set(wide());
  CHECK_EQ(outcome(call), "EgressPolicyUnion");
  CHECK(call->why->how == verdict::failed);
}

SCENARIO("more calls than a queue holds are refused") {
  auto queue = make_queue();
  grant(queue, {"a.example"});
  auto calls = std::vector<answer>{};
  for (auto i = 0; i < 257; ++i)
    calls.push_back(grant(queue, {"a.example"}));
  CHECK_EQ(outcome(calls[255]), "waits");
  CHECK_EQ(outcome(calls[256]), "TooManyWaiting");
  CHECK_EQ(outcome(check(queue)), "TooManyWaiting");
}

// -- what it remembers --------------------------------------------------------------

SCENARIO("after a write that nobody knows about it looks 1, 5, 30 and 90 s later, and after no other") {
  auto queue = make_queue();
  for (auto how : {applied(), refused(), wide()}) {
    grant(queue, {"a.example"});
    end_set(how);
  }
  pass(100s);
  CHECK(port.reads.empty());
  grant(queue, {"a.example"});
  end_set(unknown());
  auto looks = std::size_t{0};
  for (auto pause : {1s, 4s, 25s, 60s}) {
    pass(pause - 1ms);
    CHECK_EQ(port.reads.size(), looks);
    pass(1ms);
    REQUIRE_EQ(port.reads.size(), ++looks);
    found(object_of({"a.example"}));
  }
  pass(1h);
  CHECK_EQ(port.reads.size(), 4u);
  CHECK_EQ(port.sets.size(), 4u);
  CHECK(events->empty());
}

// [W 286]
SCENARIO("a grant that arrives after it was taken away again is removed, and an event says so") {
  auto queue = make_queue();
  auto granted = grant(queue, {"a.example"});
  end_set(unknown());
  CHECK_EQ(outcome(granted), "OutcomeUnknown");
  auto clear = grant(queue, {});
  end_set(applied());
  CHECK_EQ(outcome(clear), "done");
  // It arrives before the nth look.
  for (auto n : {0, 1, 2, 3}) {
    pass(std::array{1s, 4s, 25s, 60s}.at(static_cast<std::size_t>(n)));
    REQUIRE_EQ(port.reads.size(), static_cast<std::size_t>(n + 1));
    const auto sets = port.sets.size();
    found(object_of({"a.example"}));
    REQUIRE_EQ(port.sets.size(), sets + 1);
    CHECK(port.sets.back().allowed_hosts.empty());
    CHECK_EQ(port.sets.back().whose.owner.uid, "S1");
    end_set(applied());
    REQUIRE_EQ(events->size(), static_cast<std::size_t>(n + 1));
    CHECK_EQ(events->back().what, "taken-away");
    CHECK_EQ(events->back().policy, "namzu-sbx-S1");
  }
}

// [W 287]
SCENARIO("a policy that differs from what was written last is put back, and one that was never written is left alone") {
  struct row {
    std::optional<json> stands;
    std::string says; // in the event
  };
  for (const auto& r : {row{object_of({"evil.example"}), "evil.example"}, row{object_of({"a.example", "b.example"}), "b.example"},
                        row{std::nullopt, "none stands"}}) {
    auto queue = make_queue();
    grant(queue, {"a.example"});
    end_set(applied());
    const auto sets = port.sets.size();
    auto looked = check(queue);
    dropped();
    found(r.stands);
    REQUIRE_EQ(port.sets.size(), sets + 1);
    CHECK_EQ(port.sets.back().allowed_hosts, hosts{"a.example"});
    CHECK_EQ(port.sets.back().whose.owner.uid, "S1");
    CHECK_EQ(outcome(looked), "waits");
    CHECK(events->empty());
    end_set(applied());
    CHECK_EQ(outcome(looked), "done");
    REQUIRE_EQ(told(), texts{"put-back"});
    CHECK_EQ(events->at(0).policy, "namzu-sbx-S1");
    CHECK(events->at(0).text.find(r.says) != std::string::npos);
  }
  // Of a queue that has written nothing.
  const auto sets = port.sets.size();
  auto queue = make_queue();
  for (const auto& stands : {object_of({"a.example"}), object_of({"b.example"})}) {
    auto looked = check(queue);
    dropped();
    found(stands);
    CHECK_EQ(outcome(looked), "done");
    CHECK_EQ(told(), texts{"refused"});
    CHECK_EQ(port.sets.size(), sets);
    events->clear();
  }
}

SCENARIO("a policy that stands as it was written is left as it is") {
  auto queue = make_queue();
  grant(queue, {"a.example"});
  end_set(applied());
  auto looked = check(queue);
  dropped();
  found(object_of({"a.example"}));
  CHECK_EQ(outcome(looked), "done");
  CHECK_EQ(port.sets.size(), 1u);
  CHECK(events->empty());
}

SCENARIO("a call that was refused before it wrote does not make what stands the queue's own") {
  auto queue = make_queue();
  grant(queue, {"a.example"});
  end_set(refused());
  check(queue);
  dropped();
  found(object_of({"a.example"}));
  CHECK_EQ(told(), texts{"refused"});
  CHECK_EQ(port.sets.size(), 1u);
}

SCENARIO("what is meant is what was last written or may have been") {
  auto queue = make_queue();
  grant(queue, {"a.example"});
  end_set(applied());
  const auto put_back = [&] {
    check(queue);
    dropped();
    found(object_of({"x.example"}));
    auto got = port.sets.back().allowed_hosts;
    end_set(applied());
    return got;
  };
  CHECK_EQ(put_back(), hosts{"a.example"});
  grant(queue, {"b.example"});
  end_set(refused());
  CHECK_EQ(put_back(), hosts{"a.example"});
  grant(queue, {"c.example"});
  end_set(wide());
  CHECK_EQ(put_back(), hosts{"c.example"});
  grant(queue, {"d.example"});
  end_set(unknown());
  CHECK_EQ(put_back(), hosts{"d.example"});
  grant(queue, {});
  end_set(applied());
  CHECK(put_back().empty());
}

SCENARIO("a look waits for the call under way, and a call for the look") {
  auto queue = make_queue();
  grant(queue, {"a.example"});
  end_set(unknown());
  auto second = grant(queue, {"b.example"});
  pass(1s);
  CHECK_EQ(port.log, (texts{"set", "set"}));
  end_set(applied());
  CHECK_EQ(port.log, (texts{"set", "set", "read"}));
  auto third = grant(queue, {"c.example"});
  CHECK_EQ(port.log.size(), 3u);
  found(object_of({"a.example"}));
  CHECK_EQ(port.sets.back().allowed_hosts, hosts{"b.example"});
  end_set(applied());
  CHECK_EQ(port.sets.back().allowed_hosts, hosts{"c.example"});
  CHECK_EQ(port.log, (texts{"set", "set", "read", "set", "set"}));
}

SCENARIO("a later write that nobody knows about begins the looks anew") {
  auto queue = make_queue();
  grant(queue, {"a.example"});
  end_set(unknown());
  pass(1s);
  found(object_of({"a.example"}));
  pass(3s);
  grant(queue, {"b.example"});
  end_set(unknown());
  pass(1s); // 5 s after the first, 1 s after the second
  CHECK_EQ(port.reads.size(), 2u);
  found(object_of({"b.example"}));
  for (auto pause : {4s, 25s, 60s}) {
    pass(pause);
    found(object_of({"b.example"}));
  }
  CHECK_EQ(port.reads.size(), 5u);
  pass(1h);
  CHECK_EQ(port.reads.size(), 5u);
}

SCENARIO("looks that are late for a long call are one, and it is taken") {
  auto queue = make_queue();
  grant(queue, {"a.example"});
  end_set(unknown());
  grant(queue, {"b.example"});
  for (auto pause : {1s, 4s, 25s, 60s, 31s})
    pass(pause);
  CHECK(port.reads.empty());
  end_set(applied());
  REQUIRE_EQ(port.reads.size(), 1u);
  CHECK(port.reads[0].until == (deadline{time, 30s}));
  not_read();
  CHECK_EQ(told(), texts{"failed"}); // it was the last one too
  pass(1h);
  CHECK_EQ(port.reads.size(), 1u);
}

SCENARIO("a look that cannot read says so only when no other one follows") {
  auto queue = make_queue();
  grant(queue, {"a.example"});
  end_set(unknown());
  for (auto pause : {1s, 4s, 25s}) {
    pass(pause);
    not_read();
    CHECK(events->empty());
  }
  pass(60s);
  not_read();
  REQUIRE_EQ(told(), texts{"failed"});
  CHECK(events->at(0).text.find("nobody knows") != std::string::npos);
}

SCENARIO("what cannot be put right is said, and tried again at the next look") {
  auto queue = make_queue();
  grant(queue, {"a.example"});
  end_set(unknown());
  pass(1s);
  found(object_of({"b.example"}));
  end_set(refused());
  CHECK_EQ(told(), texts{"failed"});
  pass(4s);
  found(object_of({"b.example"}));
  end_set(applied());
  CHECK_EQ(told(), (texts{"failed", "put-back"}));
}

SCENARIO("where nobody knows whether it was put right the looks begin anew") {
  auto queue = make_queue();
  grant(queue, {"a.example"});
  end_set(unknown());
  pass(1s);
  found(object_of({"b.example"}));
  end_set(unknown());
  CHECK_EQ(told(), texts{"failed"});
  for (auto pause : {1s, 4s, 25s, 60s}) {
    pass(pause);
    found(object_of({"a.example"}));
  }
  CHECK_EQ(port.reads.size(), 5u);
  pass(1h);
  CHECK_EQ(port.reads.size(), 5u);
}

SCENARIO("where every write is lost the looks end, until somebody asks") {
  auto queue = make_queue();
  grant(queue, {"a.example"});
  end_set(unknown());
  const auto lose_everything = [&] {
    for (auto second = 0; second < 600; ++second) {
      const auto reads = port.reads.size();
      pass(1s);
      if (port.reads.size() == reads)
        continue;
      found(object_of({"b.example"}));
      end_set(unknown());
    }
  };
  lose_everything();
  // The first look of the first series and of the eight that follow, and the other three of the last one.
  CHECK_EQ(port.sets.size(), 1u + 9u + 3u);
  CHECK_EQ(told(), texts(12, "failed"));
  auto asked = check(queue);
  dropped();
  found(object_of({"b.example"}));
  end_set(unknown());
  CHECK_EQ(outcome(asked), "OutcomeUnknown");
  pass(1s);
  found(object_of({"b.example"}));
  end_set(applied());
  CHECK_EQ(events->back().what, "put-back");
}

SCENARIO("a policy is not put right without a proof of the fence") {
  auto fence = make_fence();
  auto queue = make_queue(fence);
  grant(queue, {"a.example"});
  fences.proofs.back().to({});
  sched.run();
  end_set(unknown());
  auto next = make_fence();
  caf::anon_send(queue, atom::moved_v, next);
  pass(1s);
  found(object_of({"b.example"}));
  CHECK_EQ(port.sets.size(), 1u);
  fences.proofs.back().to(tl::unexpected{egress::egress_error{egress::fence_missing{}}});
  sched.run();
  CHECK_EQ(port.sets.size(), 1u);
  CHECK_EQ(told(), texts{"failed"});
}

SCENARIO("a check removes what predecessors were granted before it looks, and says so") {
  auto queue = make_queue(make_fence());
  auto one = check(queue);
  CHECK(port.log.empty());
  fences.proofs.back().to({});
  sched.run();
  CHECK_EQ(port.log, texts{"drop"});
  dropped({"namzu-sbx-S0"});
  CHECK_EQ(port.log, (texts{"drop", "read"}));
  found(std::nullopt);
  CHECK_EQ(outcome(one), "done");
  REQUIRE_EQ(told(), texts{"dropped"});
  CHECK_EQ(events->at(0).policy, "namzu-sbx-S0");
}

SCENARIO("a check tells its caller what it could not do") {
  auto queue = make_queue();
  auto first = check(queue);
  port.drops.back().to(tl::unexpected{egress::egress_error{down()}});
  sched.run();
  CHECK_EQ(outcome(first), "ApiTimeout");
  CHECK_EQ(port.log, texts{"drop"});
  auto second = check(queue);
  dropped();
  not_read();
  CHECK_EQ(outcome(second), "ApiTimeout");
  CHECK(events->empty());
}

SCENARIO("a check that removed something before it failed is no call of which nothing happened") {
  for (const auto& names : {hosts{}, hosts{"namzu-sbx-S0"}}) {
    auto queue = make_queue();
    auto one = check(queue);
    dropped(names);
    not_read(forbidden());
    CHECK_EQ(outcome(one), "Credential");
    CHECK(one->why->how == (names.empty() ? verdict::refused : verdict::failed));
  }
}

SCENARIO("after a removal that nobody knows about it looks whether its own policy is still there") {
  auto queue = make_queue();
  const auto lose_removal = [&] {
    auto one = check(queue);
    port.drops.back().to(
      tl::unexpected{egress::egress_error{egress::policy_write_unknown{"DELETE", "/cnp", k8s::api_timeout{"DELETE", "/cnp", 30s, true}}}});
    sched.run();
    CHECK_EQ(outcome(one), "OutcomeUnknown");
    CHECK(one->why->how == verdict::unknown);
    pass(1s);
  };
  lose_removal();
  CHECK(port.reads.empty()); // there is none that it wrote
  grant(queue, {"a.example"});
  end_set(applied());
  lose_removal();
  REQUIRE_EQ(port.reads.size(), 1u);
  found(std::nullopt);
  end_set(applied());
  CHECK_EQ(told(), texts{"put-back"});
}

// -- the end --------------------------------------------------------------------------

SCENARIO("a queue ends when another object stands under its owner's name") {
  auto queue = make_queue();
  auto first = grant(queue, {"a.example"});
  auto second = grant(queue, {"b.example"});
  end_set(replaced());
  CHECK_EQ(outcome(first), "OwnerReplaced");
  CHECK(first->why->how == verdict::overtaken);
  CHECK_EQ(outcome(second), "OwnerReplaced");
  CHECK_EQ(told(), texts{"owner-gone"});
  CHECK_EQ(port.sets.size(), 1u);
  CHECK_EQ(outcome(grant(queue, {"c.example"})), "OutcomeUnknown");
  CHECK_EQ(port.sets.size(), 1u);
}

SCENARIO("a queue whose owner has gone finishes what is under way, and nothing else") {
  for (auto crash : {true, false}) {
    auto queue = make_queue();
    auto first = grant(queue, {"a.example"});
    auto second = grant(queue, {"b.example"});
    auto third = check(queue);
    if (crash)
      caf::anon_send_exit(watcher, caf::exit_reason::kill);
    else
      caf::anon_send(queue, atom::stop_v);
    sched.run();
    CHECK_EQ(port.cancelled, std::vector{port.sets.back().name});
    CHECK_EQ(outcome(first), "waits");
    CHECK_EQ(outcome(second), "OwnerGone");
    CHECK_EQ(outcome(third), "OwnerGone");
    CHECK_EQ(outcome(grant(queue, {"c.example"})), "OwnerGone");
    end_set(unknown());
    CHECK_EQ(outcome(first), "OutcomeUnknown");
    pass(1h);
    CHECK_EQ(port.log, (texts{"set", "cancel"}));
    port.log.clear();
    port.cancelled.clear();
  }
}

SCENARIO("a queue that is stopped while it waits for the fence writes nothing") {
  auto queue = make_queue(make_fence());
  auto one = grant(queue, {"a.example"});
  caf::anon_send(queue, atom::stop_v);
  sched.run();
  CHECK_EQ(outcome(one), "OwnerGone");
  fences.proofs.at(0).to({});
  sched.run();
  CHECK(port.log.empty());
}

SCENARIO("a queue that is stopped while it looks puts nothing right") {
  for (auto reading : {false, true}) {
    auto queue = make_queue();
    grant(queue, {"a.example"});
    end_set(applied());
    port.log.clear();
    auto one = check(queue);
    if (reading)
      dropped();
    caf::anon_send(queue, atom::stop_v);
    sched.run();
    if (reading)
      found(object_of({"b.example"}));
    else
      dropped();
    CHECK_EQ(port.log, reading ? (texts{"drop", "read", "cancel"}) : (texts{"drop", "cancel"}));
    CHECK_EQ(outcome(one), "OwnerGone");
  }
  CHECK_EQ(port.sets.size(), 2u);
}

SCENARIO("a queue that is ended from outside withdraws what is under way") {
  auto queue = make_queue();
  grant(queue, {"a.example"});
  caf::anon_send_exit(queue, caf::exit_reason::kill);
  sched.run();
  CHECK_EQ(port.cancelled, std::vector{port.sets.at(0).name});
  end_set(applied());
}

// -- every order ------------------------------------------------------------------------

SCENARIO("two callers are told what they should be in every order of asking and being answered") {
  using maker = egress::write_end (*)();
  const auto ends = std::array<std::pair<maker, std::string>, 4>{
    {{applied, "done"}, {refused, "Credential"}, {wide, "EgressPolicyUnion"}, {unknown, "OutcomeUnknown"}}};
  auto orders = 0;
  auto fence = proved_fence();
  for (const auto& first : ends)
    for (const auto& second : ends) {
      auto order = std::string{"12ab"};
      do {
        ++orders;
        auto queue = make_queue(fence);
        const auto before = port.sets.size();
        auto got = std::map<char, answer>{};
        auto line = std::string{}; // who has asked, in order
        auto answered = std::size_t{0};
        auto how = std::vector<std::pair<maker, std::string>>{first, second};
        auto want = std::map<char, std::string>{{'a', "waits"}, {'b', "waits"}};
        auto meant = std::optional<hosts>{};
        const auto answer_one = [&] {
          if (answered == line.size())
            return;
          // Exactly one is under way, and it is the one that came first of those who wait.
          REQUIRE_EQ(port.sets.size() - before, answered + 1);
          const auto list = hosts{std::string{line[answered]} + ".example"};
          CHECK_EQ(port.sets.back().allowed_hosts, list);
          if (how[answered].first != refused)
            meant = list;
          want[line[answered]] = how[answered].second;
          end_set(how[answered++].first());
        };
        for (auto event : order)
          if (event == 'a' || event == 'b') {
            line += event;
            got[event] = grant(queue, {std::string{event} + ".example"});
          } else {
            answer_one();
          }
        CHECK_EQ(order + ": " + outcome(got['a']), order + ": " + want['a']);
        CHECK_EQ(order + ": " + outcome(got['b']), order + ": " + want['b']);
        answer_one();
        answer_one();
        CHECK_EQ(port.sets.size() - before, 2u);
        // What it means now is what it puts back.
        check(queue);
        dropped();
        found(object_of({"x.example"}));
        CHECK_EQ(port.sets.size() - before, meant ? 3u : 2u);
        if (meant)
          CHECK_EQ(port.sets.back().allowed_hosts, *meant);
        caf::anon_send_exit(queue, caf::exit_reason::kill);
        sched.run();
      } while (std::next_permutation(order.begin(), order.end()));
    }
  CHECK_EQ(orders, 16 * 24);
}

SCENARIO("two callers are told what they should be in every order of asking, being answered and the queue's end") {
  auto orders = 0;
  auto fence = proved_fence();
  auto order = std::string{"12abs"};
  do {
    ++orders;
    auto queue = make_queue(fence);
    auto got = std::map<char, answer>{};
    auto want = std::map<char, std::string>{};
    auto line = std::string{};
    auto stopped = false;
    const auto answer_one = [&] {
      if (line.empty())
        return;
      want[line.front()] = "done";
      line.erase(0, 1);
      end_set(applied());
    };
    for (auto event : order)
      if (event == 's') {
        stopped = true;
        for (auto who : line.substr(std::min<std::size_t>(line.size(), 1)))
          want[who] = "OwnerGone";
        line = line.substr(0, 1);
        caf::anon_send(queue, atom::stop_v);
        sched.run();
      } else if (event == 'a' || event == 'b') {
        // An ended queue answers nobody; one that waits for its last write refuses.
        want[event] = !stopped ? "waits" : line.empty() ? "OutcomeUnknown" : "OwnerGone";
        if (!stopped)
          line += event;
        got[event] = grant(queue, {std::string{event} + ".example"});
      } else {
        answer_one();
      }
    answer_one();
    answer_one();
    CHECK_EQ(order + ": " + outcome(got['a']), order + ": " + want['a']);
    CHECK_EQ(order + ": " + outcome(got['b']), order + ": " + want['b']);
  } while (std::next_permutation(order.begin(), order.end()));
  CHECK_EQ(orders, 120);
}

CAF_TEST_FIXTURE_SCOPE_END()
