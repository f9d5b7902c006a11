#define CAF_SUITE fence

#include "actors/fence.hpp"
#include "tests/actors/actor_fixture.hpp"
#include "tests/support/fake_egress_ports.hpp"

#include <algorithm>
#include <map>
#include <set>

using namespace paddock;
using namespace paddock::test;

namespace {

struct fence_fakes {
  egress::fake_fence_port port;
};

egress::egress_error missing() {
  return egress::fence_missing{{"ValidatingAdmissionPolicy", "fence", "/apis/fence"}};
}

struct fixture : fence_fakes, actor_fixture {
  fixture() {
    world.fences = &port;
  }
  fence_actor make_fence() {
    session = keep(sys.spawn([](caf::event_based_actor*) { return caf::behavior{[](int) {}}; }));
    return keep(sys.spawn<fence_impl>(std::ref(world), session));
  }
  answer prove(const fence_actor& fence, std::uint64_t ticket, caf::timespan budget = 1h) {
    return ask<caf::unit_t>(fence, atom::prove_v, ticket, budget);
  }
  void succeed(std::size_t nth = 0) {
    port.proofs.at(nth).to({});
    sched.run();
  }
  void fail(std::size_t nth = 0) {
    port.proofs.at(nth).to(tl::unexpected{missing()});
    sched.run();
  }
  static std::string outcome(const answer& x) {
    return x->value ? "proved" : x->why ? x->why->reason : "waits";
  }

  caf::actor session;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(fence_tests, fixture)

SCENARIO("a FENCE whose session began with a proof asks for none") {
  session = keep(sys.spawn([](caf::event_based_actor*) { return caf::behavior{[](int) {}}; }));
  auto fence = keep(sys.spawn<fence_impl>(std::ref(world), session, true));
  auto got = prove(fence, 1);
  CHECK(got->value);
  CHECK(port.proofs.empty());
}

SCENARIO("a fence is proved once, and answers from memory from then on") {
  auto fence = make_fence();
  CHECK(port.proofs.empty());
  auto first = prove(fence, 1);
  REQUIRE_EQ(port.proofs.size(), 1u);
  CHECK_EQ(outcome(first), "waits");
  auto second = prove(fence, 2);
  CHECK_EQ(port.proofs.size(), 1u);
  succeed();
  CHECK_EQ(outcome(first), "proved");
  CHECK_EQ(outcome(second), "proved");
  CHECK_EQ(outcome(prove(fence, 3)), "proved");
  CHECK_EQ(port.proofs.size(), 1u);
}

SCENARIO("a failed proof is told to all who wait, and is not remembered") {
  auto fence = make_fence();
  auto first = prove(fence, 1);
  auto second = prove(fence, 2);
  fail();
  for (const auto& x : {first, second}) {
    CHECK_EQ(outcome(x), "AdmissionFenceMissing");
    CHECK(x->why->how == verdict::refused);
  }
  auto third = prove(fence, 3);
  REQUIRE_EQ(port.proofs.size(), 2u);
  succeed(1);
  CHECK_EQ(outcome(third), "proved");
}

SCENARIO("each caller waits as long as it has time, and no longer") {
  auto fence = make_fence();
  auto brief = prove(fence, 1, 1s);
  auto patient = prove(fence, 2, 10s);
  REQUIRE_EQ(port.proofs.size(), 1u);
  // The proof is not bound to the time of whoever came first.
  CHECK(port.proofs[0].until == (deadline{time, shared_bound}));
  pass(999ms);
  CHECK_EQ(outcome(brief), "waits");
  pass(1ms);
  CHECK_EQ(outcome(brief), "OutOfTime");
  CHECK(brief->why->how == verdict::unreachable);
  CHECK_EQ(outcome(patient), "waits");
  CHECK(port.cancelled.empty());
  succeed();
  CHECK_EQ(outcome(patient), "proved");
}

SCENARIO("a proof that nobody waits for any more is remembered all the same") {
  auto fence = make_fence();
  auto one = prove(fence, 1, 1s);
  pass(1s);
  CHECK_EQ(outcome(one), "OutOfTime");
  succeed();
  CHECK_EQ(outcome(prove(fence, 2)), "proved");
  CHECK_EQ(port.proofs.size(), 1u);
}

SCENARIO("a caller that has no end of time is bound by the proof's own") {
  auto fence = make_fence();
  auto one = prove(fence, 1, caf::infinite);
  pass(1h);
  CHECK_EQ(outcome(one), "waits");
  fail();
  CHECK_EQ(outcome(one), "AdmissionFenceMissing");
}

SCENARIO("more callers than a fence lets wait are refused") {
  auto fence = make_fence();
  for (auto i = std::size_t{0}; i < most_callers; ++i)
    prove(fence, i + 1);
  auto one_too_many = prove(fence, most_callers + 1);
  CHECK_EQ(outcome(one_too_many), "TooManyWaiting");
  CHECK(one_too_many->why->how == verdict::refused);
  CHECK_EQ(port.proofs.size(), 1u);
}

SCENARIO("a fence dies with its session") {
  for (auto crash : {true, false}) {
    auto fence = make_fence();
    auto one = prove(fence, 1);
    if (crash)
      caf::anon_send_exit(session, caf::exit_reason::kill);
    else
      caf::anon_send(fence, atom::stop_v);
    sched.run();
    CHECK_EQ(outcome(one), "SessionOver");
    CHECK(one->why->how == verdict::refused);
    REQUIRE(!port.cancelled.empty());
    CHECK_EQ(port.cancelled.back(), port.proofs.back().name);
    const auto proofs = port.proofs.size();
    succeed(proofs - 1); // too late: there is nobody to tell
    CHECK_EQ(outcome(prove(fence, 2)), "OutcomeUnknown");
    CHECK_EQ(port.proofs.size(), proofs);
    auto next = prove(make_fence(), 3);
    REQUIRE_EQ(port.proofs.size(), proofs + 1);
    succeed(proofs);
    CHECK_EQ(outcome(next), "proved");
  }
  CHECK_EQ(port.cancelled.size(), 2u);
}

SCENARIO("a proved fence that is stopped leaves nothing to cancel") {
  auto fence = make_fence();
  prove(fence, 1);
  succeed();
  caf::anon_send(fence, atom::stop_v);
  sched.run();
  CHECK(port.cancelled.empty());
}

namespace {

/// What two callers must be told, said once more and in another way: `order` has a and b for who asks, A and B for who leaves,
/// p for the answer of the cluster.
struct expected_fence {
  std::map<char, std::string> told{{'a', "waits"}, {'b', "waits"}};
  std::size_t proofs = 0;
  bool proved = false;
  bool asking = false;
  std::set<char> waiting;

  void asks(char who) {
    if (proved) {
      told[who] = "proved";
      return;
    }
    waiting.insert(who);
    proofs += asking ? 0 : 1;
    asking = true;
  }
  void leaves(char who, const std::string& reason) {
    if (waiting.erase(who) != 0)
      told[who] = reason;
  }
  void answered(bool well) {
    if (!std::exchange(asking, false))
      return;
    proved = well;
    for (auto who : std::exchange(waiting, {}))
      told[who] = well ? "proved" : "AdmissionFenceMissing";
  }
};

} // namespace

SCENARIO("two callers are told what they should be in every order of asking, leaving and being answered") {
  auto orders = 0;
  for (auto [leave_a, leave_b] :
       {std::pair{'c', 'c'}, {'c', 't'}, {'c', 'd'}, {'t', 't'}, {'t', 'd'}, {'d', 'd'}, {'c', '-'}, {'t', '-'}, {'d', '-'}, {'-', '-'}})
    for (auto well : {true, false}) {
      auto order = std::string{"ABabp"};
      do {
        if (order.find('A') < order.find('a') || order.find('B') < order.find('b'))
          continue;
        ++orders;
        auto fence = make_fence();
        auto want = expected_fence{};
        auto got = std::map<char, answer>{};
        auto tickets = std::map<char, std::uint64_t>{};
        auto askers = std::map<char, caf::actor>{};
        const auto before = port.proofs.size();
        const auto answer_proof = [&] {
          const auto open = want.asking;
          want.answered(well);
          if (open && well)
            succeed(port.proofs.size() - 1);
          else if (open)
            fail(port.proofs.size() - 1);
        };
        for (auto event : order) {
          const auto who = static_cast<char>(std::tolower(event));
          const auto how = who == 'a' ? leave_a : leave_b;
          if (event == 'p') {
            answer_proof();
          } else if (event == who) {
            tickets[who] = world.next_ticket();
            want.asks(who);
            got[who] = prove(fence, tickets[who]);
            askers[who] = spawned.back();
          } else if (how == 'c') {
            want.leaves(who, "Cancelled");
            caf::anon_send(fence, atom::cancel_v, tickets[who]);
          } else if (how == 't') {
            want.leaves(who, "OutOfTime");
            caf::anon_send(fence, atom::expired_v, tickets[who]);
          } else if (how == 'd') {
            want.leaves(who, "waits"); // it is gone, and is told nothing
            caf::anon_send_exit(askers[who], caf::exit_reason::kill);
          }
          sched.run();
        }
        answer_proof();
        const auto about = order + leave_a + leave_b + (well ? '+' : '-') + ": ";
        CHECK_EQ(about + outcome(got['a']), about + want.told['a']);
        CHECK_EQ(about + outcome(got['b']), about + want.told['b']);
        CHECK_EQ(port.proofs.size() - before, want.proofs);
        CHECK(port.cancelled.empty());
      } while (std::next_permutation(order.begin(), order.end()));
    }
  CHECK_EQ(orders, 600);
}

CAF_TEST_FIXTURE_SCOPE_END()
