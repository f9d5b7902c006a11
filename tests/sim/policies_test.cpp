#define CAF_SUITE policies

// The egress scene of the simulation ([W] P7, P8): the policy of one owner, its real POLICY QUEUE and FENCE over the real flows, and an
// adversary between them and the API server, all from one seed. docs/simulation.md has the rest.

#include "actors/fence.hpp"
#include "actors/policy_queue.hpp"
#include "egress/labels.hpp"
#include "tests/actors/egress_fixture.hpp"
#include "tests/sim/chance.hpp"

#include <array>

using namespace paddock;
using namespace paddock::test;
using egress::test::grant_cluster;
using sim::chance;

namespace {

using texts = std::vector<std::string>;
using reply = scripted_api::reply;

constexpr caf::timespan budget = 20s;
const auto own_policy = grant_cluster::policies + "/namzu-sbx-S1";
const auto own_sandbox = std::string{"/apis/agents.x-k8s.io/v1beta1/namespaces/namzu-sandboxes/sandboxes/namzu-ws-desk"};

constexpr const char* as_meant = "what was last meant stands";
constexpr const char* no_namesake = "no grant is made well to an owner that another has taken the place of";

/// What a queue hears, changed: the seam of a planted bug. `meant` is what its last write has made.
struct planted {
  const char* name;
  const char* breaks;
  const char* shows;
  std::function<void(const k8s::call&, reply&, const std::optional<nlohmann::json>& meant)> hears;
};

const auto bugs = std::array{
  // clang-format off
  planted{"owner-never-moves", "P7", no_namesake, [](const auto& x, reply& got, const auto&) { if (x.path == own_sandbox && got && *got) (**got)["metadata"]["uid"] = "S1"; }},
  planted{"believe-what-was-meant", "P8", as_meant, [](const auto& x, reply& got, const auto& meant) { if (x.method == "GET" && x.path == own_policy && meant) got = found(*meant); }},
  // clang-format on
};

/// One run.
struct scene : egress_fixture {
  scene(std::uint64_t seed, const planted* with) : dice(seed), bug(with) {
    auto whose = host.workspace("S1");
    auto labels = egress::label_map{{"sandbox.namzu.ai/template", "namzu-task"}, {"app", "namzu"}};
    labels.merge(egress::per_sandbox_labels(of.how, whose.selector_value));
    host.api.handle_some([](const k8s::call&) { return std::optional<reply>{}; });
    host.api.hold();
    auto watcher = keep(sys.spawn([]() -> policy_watcher_actor::behavior_type { return {[](atom::noted, const policy_event&) {}}; }));
    auto fence = keep(sys.spawn<fence_impl>(std::ref(on), caf::actor_cast<caf::actor>(watcher), false));
    queue = keep(sys.spawn<policy_queue_impl>(std::ref(on), policy_queue_options{std::move(whose), std::move(labels), fence, watcher}));
    settle();
  }

  /// What it violates; empty: nothing.
  std::string run() {
    for (auto i = 0; i < 90 && violated.empty(); ++i)
      step();
    if (violated.empty())
      calm_down();
    return violated;
  }

  // -- the adversary --------------------------------------------------------------

  void step() {
    const auto waiting = host.api.waiting();
    const auto which = dice.pick(100);
    if (!waiting.empty() && which < 70)
      decide(waiting, dice.pick(waiting.size()));
    else if (which < 80 && grants.size() < 6)
      ask_for(hosts[dice.pick(hosts.size())]);
    else if (which < 84)
      ask<caf::unit_t>(queue, atom::check_v, budget);
    else if (which < 88 && !late.empty())
      deliver_late();
    else if (which < 91)
      host.objects.erase(own_policy);
    else if (which < 92 && !moved)
      move_owner();
    else
      pass(std::array{200ms, 2000ms, 7000ms}[dice.pick(3)]);
    settle();
    judge();
  }
  /// The request is carried out and answered, or one of both, or later, or not at all.
  void decide(const std::vector<k8s::call>& waiting, std::size_t nth) {
    const auto& what = waiting[nth];
    switch (dice.pick(12)) {
      case 0: return host.api.answer((carry_out(what), timed_out(what)), nth);
      case 1: return host.api.answer((carry_out(what), status(what, 500)), nth);
      case 2:
        if (what.method != "GET")
          late.push_back(what);
        return host.api.answer(timed_out(what), nth);
      case 3: return host.api.answer(unreachable(what, false), nth);
      default: return answer(what, nth);
    }
  }
  void answer(const k8s::call& what, std::size_t nth) {
    auto got = carry_out(what);
    if (bug != nullptr)
      bug->hears(what, got, meant);
    host.api.answer(std::move(got), nth);
  }
  reply carry_out(const k8s::call& what) {
    auto got = host.answer(what);
    if (what.method == "POST" || what.method == "PATCH")
      written_for_another = moved;
    if (got && (what.method == "POST" || what.method == "PATCH"))
      meant = host.objects.at(own_policy);
    return got;
  }
  void deliver_late() {
    const auto nth = dice.pick(late.size());
    static_cast<void>(host.answer(late[nth]));
    late.erase(late.begin() + static_cast<std::ptrdiff_t>(nth));
  }
  void move_owner() {
    moved = true;
    static_cast<void>(host.workspace("S2"));
  }

  // -- what is asked and held against it --------------------------------------------

  struct asked {
    texts hosts;
    actor_fixture::answer got;
    bool judged = false;
  };
  void ask_for(texts these) {
    grants.push_back({these, ask<caf::unit_t>(queue, atom::allow_v, policy_spec{these}, budget)});
  }
  void judge() {
    for (auto& x : grants) {
      if (!x.got->value || std::exchange(x.judged, true) || x.hosts.empty())
        continue;
      ++well;
      if (written_for_another)
        violated = no_namesake;
    }
  }
  /// Everything is answered from now on; what is late comes after the last grant, and somebody looks then.
  void calm_down() {
    answer_all();
    if (!moved) {
      ask_for({"last.example"});
      answer_all();
      if (!grants.back().got->value)
        violated = "the last grant is not answered well";
    }
    while (!late.empty())
      deliver_late();
    for (const auto by : {1s, 5s, 30s, 90s}) {
      pass(by);
      answer_all();
    }
    ask<caf::unit_t>(queue, atom::check_v, budget);
    answer_all();
    judge();
    if (moved || !violated.empty())
      return;
    const auto stands = host.objects.find(own_policy);
    if (stands == host.objects.end() || egress::hosts_of(stands->second) != texts{"last.example"})
      violated = as_meant;
  }
  void answer_all() {
    settle();
    for (auto left = 2000; left > 0; --left) {
      const auto waiting = host.api.waiting();
      if (waiting.empty())
        return;
      answer(waiting[0], 0);
      settle();
    }
    violated = "it asks without end";
  }

  chance dice;
  const planted* bug;
  policy_queue_actor queue;
  std::vector<k8s::call> late;
  std::vector<asked> grants;
  std::optional<nlohmann::json> meant; // what the last write of the queue made
  std::vector<texts> hosts{{"a.example"}, {"b.example"}, {}};
  bool moved = false; // another Sandbox has the name
  bool written_for_another = false;
  std::size_t well = 0;
  std::string violated;
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t seeds = 200;
#else
constexpr std::uint64_t seeds = 1000;
#endif

} // namespace

SCENARIO("a grant is what was last meant, and never that of a namesake, in every run") {
  auto well = std::size_t{0};
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    auto one = scene{seed, nullptr};
    const auto got = one.run();
    well += one.well > 0;
    if (!got.empty())
      CAF_FAIL("seed " << seed << ": " << got);
  }
  MESSAGE("a grant was answered well in " << well << " of " << seeds << " seeds");
  CHECK(well > seeds / 4);
}

SCENARIO("each planted bug of the policies is found by what it breaks") {
  for (const auto& bug : bugs) {
    auto found_by = std::uint64_t{0};
    for (std::uint64_t seed = 1; seed <= 2000 && found_by == 0; ++seed)
      if (scene{seed, &bug}.run() == bug.shows)
        found_by = seed;
    MESSAGE(bug.name << " (" << bug.breaks << "): seed " << found_by);
    CHECK(found_by > 0);
  }
}
