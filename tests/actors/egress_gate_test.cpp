#define CAF_SUITE egress_gate

#include "actors/egress_gate.hpp"
#include "tests/actors/actor_fixture.hpp"
#include "tests/support/fake_egress_ports.hpp"

#include <algorithm>
#include <map>

using namespace paddock;
using namespace paddock::test;

namespace {

const auto per_sandbox_key = std::string{egress::default_per_sandbox_label_key};

struct gate_fakes {
  egress::fake_gate_port port;
};

egress::egress_error wide() {
  auto out = egress::union_refused{};
  out.subject = "pod p";
  return out;
}

struct fixture : gate_fakes, actor_fixture {
  using labels = std::map<std::string, std::string>;

  fixture() {
    world.gates = &port;
  }
  egress_gate_actor make_gate() {
    return keep(sys.spawn<egress_gate_impl>(std::ref(world), per_sandbox_key));
  }
  template <class Question>
  answer verify(const egress_gate_actor& gate, Question what, caf::timespan budget = 1h) {
    ticket = world.next_ticket();
    return ask<caf::unit_t>(gate, atom::verify_v, std::move(what), ticket, budget);
  }
  void succeed(std::size_t nth) {
    port.asked.at(nth).to({});
    sched.run();
  }
  void fail(std::size_t nth) {
    port.asked.at(nth).to(tl::unexpected{wide()});
    sched.run();
  }
  static std::string outcome(const answer& x) {
    return x->value ? "passed" : x->why ? x->why->reason : "waits";
  }

  std::uint64_t ticket = 0; // of the last caller
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(egress_gate_tests, fixture)

SCENARIO("the named object is proved once, and a failed proof is not remembered") {
  auto gate = make_gate();
  auto first = verify(gate, named_object_question{});
  auto second = verify(gate, named_object_question{});
  REQUIRE_EQ(port.asked.size(), 1u);
  CHECK_EQ(port.asked[0].what, "named-object");
  port.asked[0].to(tl::unexpected{egress::egress_error{egress::policy_not_applied{{}, "/np"}}});
  sched.run();
  CHECK_EQ(outcome(first), "EgressPolicyNotApplied");
  CHECK_EQ(outcome(second), "EgressPolicyNotApplied");
  auto third = verify(gate, named_object_question{});
  REQUIRE_EQ(port.asked.size(), 2u);
  succeed(1);
  CHECK_EQ(outcome(third), "passed");
  pass(24h);
  CHECK_EQ(outcome(verify(gate, named_object_question{})), "passed");
  CHECK_EQ(port.asked.size(), 2u);
}

SCENARIO("a union that passed stands for pods of the same labels, whatever their per-sandbox one") {
  auto gate = make_gate();
  auto first = verify(gate, union_question{labels{{"app", "a"}, {per_sandbox_key, "one"}}, "pod one"});
  REQUIRE_EQ(port.asked.size(), 1u);
  CHECK_EQ(port.asked[0].what, "union");
  // The check itself sees every label.
  CHECK_EQ(port.asked[0].which.labels, (labels{{"app", "a"}, {per_sandbox_key, "one"}}));
  CHECK_EQ(port.asked[0].which.subject, "pod one");
  succeed(0);
  CHECK_EQ(outcome(first), "passed");
  CHECK_EQ(outcome(verify(gate, union_question{labels{{per_sandbox_key, "two"}, {"app", "a"}}, "pod two"})), "passed");
  CHECK_EQ(outcome(verify(gate, union_question{labels{{"app", "a"}}, "pod three"})), "passed");
  CHECK_EQ(port.asked.size(), 1u);
  for (const auto& other : {labels{{"app", "b"}}, labels{}, labels{{"app", "a"}, {"x", "y"}}})
    CHECK_EQ(outcome(verify(gate, union_question{other, "pod"})), "waits");
  CHECK_EQ(port.asked.size(), 4u);
}

SCENARIO("a pass is counted from its start, and ends after 300,000 ms") {
  auto gate = make_gate();
  verify(gate, union_question{labels{{"app", "a"}}, "pod"});
  pass(60s); // the check takes as long
  succeed(0);
  pass(239'999ms);
  CHECK_EQ(outcome(verify(gate, union_question{labels{{"app", "a"}}, "pod"})), "passed");
  CHECK_EQ(port.asked.size(), 1u);
  pass(1ms);
  auto next = verify(gate, union_question{labels{{"app", "a"}}, "pod"});
  CHECK_EQ(outcome(next), "waits");
  REQUIRE_EQ(port.asked.size(), 2u);
  succeed(1);
  CHECK_EQ(outcome(next), "passed");
}

SCENARIO("a check that is slower than a pass is valid answers who waits for it, and nobody else") {
  for (auto old_passes : {true, false}) {
    auto gate = make_gate();
    const auto before = port.asked.size();
    auto old = verify(gate, union_question{labels{{"app", "a"}}, "pod"});
    pass(300s);
    auto next = verify(gate, union_question{labels{{"app", "a"}}, "pod"});
    REQUIRE_EQ(port.asked.size(), before + 2);
    if (old_passes)
      succeed(before);
    else
      fail(before);
    CHECK_EQ(outcome(old), old_passes ? "passed" : "EgressPolicyUnion");
    CHECK_EQ(outcome(next), "waits");
    // What the second one says is what counts.
    if (old_passes)
      fail(before + 1);
    else
      succeed(before + 1);
    CHECK_EQ(outcome(next), old_passes ? "EgressPolicyUnion" : "passed");
    CHECK_EQ(outcome(verify(gate, union_question{labels{{"app", "a"}}, "pod"})), old_passes ? "waits" : "passed");
  }
}

SCENARIO("an ingress that passed stands for good, and apart from the union of the same labels") {
  auto gate = make_gate();
  auto first = verify(gate, ingress_question{labels{{"app", "a"}, {per_sandbox_key, "one"}}, "pod"});
  REQUIRE_EQ(port.asked.size(), 1u);
  CHECK_EQ(port.asked[0].what, "ingress");
  fail(0);
  CHECK_EQ(outcome(first), "EgressPolicyUnion");
  verify(gate, ingress_question{labels{{"app", "a"}, {per_sandbox_key, "one"}}, "pod"});
  REQUIRE_EQ(port.asked.size(), 2u);
  succeed(1);
  pass(24h);
  CHECK_EQ(outcome(verify(gate, ingress_question{labels{{"app", "a"}, {per_sandbox_key, "two"}}, "pod"})), "passed");
  CHECK_EQ(outcome(verify(gate, union_question{labels{{"app", "a"}}, "pod"})), "waits");
  CHECK_EQ(port.asked.size(), 3u);
}

SCENARIO("a caller may leave, and each has a time of its own") {
  auto gate = make_gate();
  auto brief = verify(gate, union_question{labels{{"app", "a"}}, "pod"}, 1s);
  CHECK(port.asked.at(0).until == (deadline{time, shared_bound}));
  auto leaving = verify(gate, union_question{labels{{"app", "a"}}, "pod"});
  const auto leaving_ticket = ticket;
  auto patient = verify(gate, union_question{labels{{"app", "a"}}, "pod"}, 10s);
  auto other = verify(gate, union_question{labels{{"app", "b"}}, "pod"}, 10s);
  pass(1s);
  CHECK_EQ(outcome(brief), "OutOfTime");
  caf::anon_send(gate, atom::cancel_v, leaving_ticket);
  sched.run();
  CHECK_EQ(outcome(leaving), "Cancelled");
  CHECK(port.cancelled.empty());
  succeed(0);
  CHECK_EQ(outcome(patient), "passed");
  CHECK_EQ(outcome(other), "waits");
  pass(10s);
  CHECK_EQ(outcome(other), "OutOfTime");
}

SCENARIO("more callers than a gate lets wait are refused, and a check that runs for nobody counts like one") {
  for (auto patient : {true, false}) {
    auto gate = make_gate();
    const auto before = port.asked.size();
    for (auto i = std::size_t{0}; i < most_callers; ++i)
      verify(gate, union_question{labels{{"app", patient ? "a" : std::to_string(i)}}, "pod"}, patient ? 1h : 1s);
    pass(1s);
    CHECK_EQ(outcome(verify(gate, union_question{labels{{"app", "b"}}, "pod"})), "TooManyWaiting");
    CHECK_EQ(port.asked.size() - before, patient ? 1u : most_callers);
    succeed(before);
    CHECK_EQ(outcome(verify(gate, union_question{labels{{"app", "b"}}, "pod"})), "waits");
  }
}

SCENARIO("a gate that ends withdraws what is under way") {
  auto gate = make_gate();
  verify(gate, union_question{labels{{"app", "a"}}, "pod"});
  verify(gate, named_object_question{});
  succeed(1);
  caf::anon_send_exit(gate, caf::exit_reason::kill);
  sched.run();
  CHECK_EQ(port.cancelled, std::vector{port.asked.at(0).name});
  succeed(0);
}

namespace {

/// What the union cache must do, said once more and in another way. The checks are numbered from 0 as they begin.
struct expected_gate {
  struct check {
    std::chrono::seconds began{0};
    bool passed = false;
    bool open = true;
    bool cached = true;
    std::string waiting{}; // who
  };
  std::map<char, std::string> told{{'a', "waits"}, {'b', "waits"}};
  std::vector<check> checks;
  std::chrono::seconds now{0};

  void asks(char who) {
    for (auto& x : checks)
      if (x.cached && now - x.began < 300s) {
        if (x.passed)
          told[who] = "passed";
        else
          x.waiting += who;
        return;
      }
    for (auto& x : checks)
      x.cached = false;
    checks.push_back({now, false, true, true, std::string{who}});
  }
  /// The oldest check that is open ends; nothing where none is.
  std::optional<std::size_t> ends(bool well) {
    const auto found = std::ranges::find_if(checks, [](const auto& x) { return x.open; });
    if (found == checks.end())
      return std::nullopt;
    found->open = false;
    found->passed = well;
    found->cached = found->cached && well;
    for (auto who : found->waiting)
      told[who] = well ? "passed" : "EgressPolicyUnion";
    return static_cast<std::size_t>(found - checks.begin());
  }
};

} // namespace

SCENARIO("two callers are told what they should be in every order of asking, being answered and time passing") {
  auto orders = 0;
  // a and b ask; p: a check passes, f: one fails; 1 and 2: 150 s pass, so that the second time a pass of the beginning is over.
  auto order = std::string{"12abfp"};
  do {
    ++orders;
    auto gate = make_gate();
    auto want = expected_gate{};
    auto got = std::map<char, answer>{};
    const auto before = port.asked.size();
    for (auto event : order) {
      if (event == 'p' || event == 'f') {
        if (auto which = want.ends(event == 'p')) {
          if (event == 'p')
            succeed(before + *which);
          else
            fail(before + *which);
        }
      } else if (event == '1' || event == '2') {
        want.now += 150s;
        pass(150s);
      } else {
        want.asks(event);
        got[event] = verify(gate, union_question{labels{{"app", "a"}, {per_sandbox_key, std::string{event}}}, "pod"});
      }
    }
    CHECK_EQ(order + ": " + outcome(got['a']), order + ": " + want.told['a']);
    CHECK_EQ(order + ": " + outcome(got['b']), order + ": " + want.told['b']);
    CHECK_EQ(port.asked.size() - before, want.checks.size());
  } while (std::next_permutation(order.begin(), order.end()));
  CHECK_EQ(orders, 720);
}

CAF_TEST_FIXTURE_SCOPE_END()
