#include "tests/sim/simulation.hpp"

#include "actors/shard.hpp"
#include "messages/error.hpp"
#include "tests/sim/chance.hpp"
#include "tests/sim/recorder.hpp"
#include "tests/support/scripted_hosts.hpp"
#include "workspace/flows/guest_calls.hpp"
#include "workspace/flows/ports.hpp"

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include <algorithm>
#include <array>

namespace paddock::sim {

namespace {

using namespace std::chrono_literals;
using fate = network::fate;

constexpr auto call_budget = 6s;
constexpr auto clean_up = 1s; // after the deadline of a call, for what it must put back
const auto desk = std::string{"desk"};
constexpr std::size_t most_steps = 220;
constexpr std::size_t most_operations = 14;

workspace::settings settings_of(std::uint64_t term) {
  workspace::settings out;
  out.name_space = name_space;
  out.template_name = "tpl";
  out.agent_address = workspace::settings::address::pod_ip;
  out.ingress.verify = false;
  out.ready_timeout = 10s; // longer than a call may take
  out.ready_poll = 300ms;
  out.term = term;
  return out;
}

/// One life of a host: the real SHARD and its WORKSPACE over the real flows, and what they act on.
struct host {
  host(network& net, boost::asio::io_context& context, caf::actor_system& sys, std::string slot, int life, std::uint64_t term,
       std::uint64_t& orders, std::optional<std::chrono::milliseconds> idle_after) :
    at{net, std::move(slot), life, term},
    api(at),
    guests(at),
    on{api, guests, net.time, settings_of(term)},
    flows(context.get_executor()),
    transitions(workspace::make_transitions(on, flows)),
    inventory(workspace::make_inventory(on, flows)),
    ways(guests),
    calls(workspace::make_guest_calls(ways.ways(), net.time, flows)),
    recorded(*transitions, at, orders),
    world{recorded, *inventory, *calls, net.time, "tpl", [&net](const std::string& x) { net.eye.note("warning: " + x); }} {
    world.idle_after = idle_after;
    actor = sys.spawn<shard_impl>(std::ref(world));
  }
  place at;
  host_api api;
  host_guests guests;
  workspace::world on;
  flow_group flows;
  std::unique_ptr<workspace::transitions_port> transitions;
  std::unique_ptr<workspace::inventory_port> inventory;
  test::scripted_hosts ways;
  std::unique_ptr<workspace::guest_port> calls;
  recorder recorded;
  actor_world world;
  shard_actor actor;
};

/// What hosts carry from one life to the next.
struct slot {
  std::string name;
  int lives = 0;
  std::uint64_t term = 0; // of the lease
  std::uint64_t orders = 0;
};

/// Something that a caller asked for.
struct operation {
  std::string name;
  time_source::clock::time_point until;
  bool ended = false;
  bool alone = false; // its host is dead: nobody owes it an answer
  const host* of = nullptr;
};
using shared_operation = std::shared_ptr<operation>;

struct testing_config : caf::actor_system_config {
  testing_config() {
    [[maybe_unused]] static const auto once = [] {
      register_messages();
      return true;
    }();
    set("caf.scheduler.policy", "testing");
  }
};

// -- the world, in the order of its ends ------------------------------------------

struct ground {
  ground(std::uint64_t seed, const planted_bug* bug) :
    dice(seed), on(time, [this](const std::string& x) { eye_log(x); }), eye(time, on), net(time, on, eye, bug) {
    log_to = &eye;
  }
  void eye_log(const std::string& x) {
    if (log_to != nullptr)
      log_to->note(x);
  }
  judge* log_to = nullptr;
  chance dice;
  boost::asio::io_context context;
  test::manual_time time;
  cluster on;
  judge eye;
  network net;
  std::vector<std::unique_ptr<host>> hosts;
};

class simulation : ground {
public:
  simulation(std::uint64_t seed, const planted_bug* bug) :
    ground(seed, bug), sys_(config_), clock_(dynamic_cast<caf::scheduler::test_coordinator&>(sys_.scheduler())) {
    storm_ = std::array<std::size_t, 4>{0, 40, 120, 250}[dice.pick(4)];
    lag_ = 1 + dice.pick(4);
    idle_after_ = std::array<std::optional<std::chrono::milliseconds>, 4>{std::nullopt, 40ms, 400ms, 2s}[dice.pick(4)];
    for (auto& x : slots_)
      raise(x);
  }
  ~simulation() {
    for (auto& x : hosts)
      if (!x->at.dead)
        kill(*x);
    settle();
    // An actor that waits for an answer keeps itself alive.
    for (const auto& x : held_)
      caf::anon_send_exit(x, caf::exit_reason::kill);
    for (auto& x : hosts)
      x->actor = nullptr;
    held_.clear();
    settle();
  }
  simulation(const simulation&) = delete;
  simulation& operator=(const simulation&) = delete;

  outcome run() {
    settle();
    for (std::size_t i = 0; i < most_steps && eye.violations.empty(); ++i)
      step();
    if (eye.violations.empty())
      calm_down();
    return {eye.violations, eye.history};
  }

private:
  // -- time and order --------------------------------------------------------------

  void settle() {
    for (std::size_t did = 1; did != 0;) {
      did = clock_.run();
      context.restart();
      did += context.poll();
    }
  }
  bool pass_time() {
    auto next = time.next();
    if (auto other = net.next(); other && (!next || *other < *next))
      next = other;
    if (!next)
      return false;
    advance_to(*next);
    return true;
  }
  void advance_to(time_source::clock::time_point to) {
    const auto by = to > time.now() ? to - time.now() : 0s;
    time.advance_to(to);
    clock_.advance_time(by);
    net.expire();
    settle();
    for (const auto& x : operations_)
      if (!x->ended && !x->alone && time.now() > x->until + clean_up) {
        x->ended = true;
        eye.violated(invariant::in_time, x->name + " has no answer");
      }
  }

  // -- the adversary ---------------------------------------------------------------

  void step() {
    struct choice {
      std::size_t weight;
      std::function<void()> act;
    };
    auto all = std::vector<choice>{};
    const auto may = [&all](bool when, std::size_t weight, std::function<void()> act) {
      if (when && weight > 0)
        all.push_back({weight, std::move(act)});
    };
    const auto steps = on.steps();
    may(!net.requests.empty(), 200, [this] { net.decide(dice.pick(net.requests.size()), some_fate()); });
    may(!net.commands.empty(), 120, [this] { net.decide_command(dice.pick(net.commands.size()), some_fate()); });
    may(!net.late.empty(), 12, [this] { net.deliver_late(dice.pick(net.late.size())); });
    may(!net.late_commands.empty(), 12, [this] { net.deliver_late_command(dice.pick(net.late_commands.size())); });
    may(!steps.empty(), 240 / lag_, [this, &steps] { steps[dice.pick(steps.size())](); });
    may(asked_ < most_operations, 12, [this] { ask_something(); });
    may(true, net.requests.empty() && net.commands.empty() ? 60 : 6, [this] { pass_time(); });
    may(storm_ > 0, 2, [this] { crash(alive(dice.pick(slots_.size()))); });
    if (auto* x = writer())
      may(storm_ > 0, 12, [this, x] { crash(*x); });
    may(storm_ > 0, 1, [this] { on.wipe(); });
    may(storm_ > 0 && !on.sandbox(), 6, [this] { on.make_stranger(dice.pick(2) == 0); });
    may(storm_ > 0, 1, [this] {
      if (on.lose_annotation())
        eye.epoch_lost();
    });
    may(storm_ > 0, 1, [this] { on.restart_guest(); });
    may(storm_ > 0, 2, [this] { on.wake(); });
    may(storm_ > 0, 2, [this] { replace_at_once(); });
    auto sum = std::size_t{0};
    for (const auto& x : all)
      sum += x.weight;
    auto at = dice.pick(sum);
    for (const auto& x : all) {
      if (at < x.weight) {
        x.act();
        break;
      }
      at -= x.weight;
    }
    settle();
  }

  /// While the hosts wait, another object takes the name, and all that follows from it happens.
  void replace_at_once() {
    on.wipe();
    on.make_stranger(dice.pick(2) == 0);
    for (auto i = 0; i < 40; ++i)
      if (const auto steps = on.steps(); !steps.empty())
        steps[dice.pick(steps.size())]();
  }

  fate some_fate() {
    if (!dice.once_in(storm_))
      return fate::answered;
    return std::array{fate::answer_lost, fate::given_up, fate::given_up, fate::server_error, fate::never_sent}[dice.pick(5)];
  }

  /// From now on everything arrives, and nobody asks for more: what is owed is answered.
  void calm_down() {
    eye.note("the world calms down");
    for (std::size_t i = 0; i < 4 * most_steps && eye.violations.empty(); ++i) {
      if (const auto steps = on.steps(); !steps.empty())
        steps.front()();
      if (!net.late.empty())
        net.deliver_late(0);
      if (!net.late_commands.empty())
        net.deliver_late_command(0);
      if (!net.requests.empty())
        net.decide(0, fate::answered);
      else if (!net.commands.empty())
        net.decide_command(0, fate::answered);
      else {
        settle();
        if (owed() == nullptr && on.steps().empty() && net.late.empty() && net.late_commands.empty())
          break;
        if (net.requests.empty() && net.commands.empty() && !pass_time())
          if (const auto* x = owed())
            advance_to(x->until + clean_up + 1ms);
      }
      settle();
    }
    if (const auto* x = owed(); x != nullptr && eye.violations.empty())
      eye.violated(invariant::in_time, x->name + " has no answer in the end");
    eye.finish();
  }
  [[nodiscard]] const operation* owed() const {
    const auto found = std::ranges::find_if(operations_, [](const auto& x) { return !x->ended && !x->alone; });
    return found == operations_.end() ? nullptr : found->get();
  }

  // -- hosts -----------------------------------------------------------------------

  void raise(slot& x) {
    // A lease that went through other hands has a higher term; a host that is back in time keeps its own.
    if (x.term == 0 || dice.pick(4) == 0)
      x.term = ++last_term_;
    ++x.lives;
    hosts.push_back(std::make_unique<host>(net, context, sys_, x.name, x.lives, x.term, x.orders, idle_after_));
    eye.note(hosts.back()->at.name() + " starts in term " + std::to_string(x.term));
  }
  void kill(host& x) {
    x.at.dead = true;
    x.at.verb = nullptr;
    caf::anon_send_exit(x.actor, caf::exit_reason::kill);
    x.flows.close([] {});
    for (const auto& y : operations_)
      y->alone = y->alone || y->of == &x;
  }
  /// A host whose write is on its way; null: none is.
  host* writer() {
    for (const auto& sent : net.requests)
      for (auto& x : hosts)
        if (sent->what.method != "GET" && !x->at.dead && x->at.name() == sent->host)
          return x.get();
    return nullptr;
  }
  void crash(host& x) {
    eye.note(x.at.name() + " crashes");
    const auto name = x.at.slot;
    kill(x);
    settle();
    raise(*std::ranges::find(slots_, name, &slot::name));
  }
  host& alive(std::size_t nth) {
    for (auto& x : hosts)
      if (!x->at.dead && x->at.slot == slots_.at(nth).name)
        return *x;
    throw std::logic_error{"a slot without a host"};
  }

  // -- callers -----------------------------------------------------------------------

  shared_operation expect(const host& of, std::string what) {
    auto x = std::make_shared<operation>(operation{of.at.name() + " " + what, time.now() + call_budget, false, false, &of});
    eye.note("somebody asks " + x->name);
    operations_.push_back(x);
    return x;
  }
  void answered(const shared_operation& x, const problem* why) {
    if (x->alone)
      return;
    x->ended = true;
    if (why != nullptr)
      eye.told(why->message + why->details);
    eye.note(x->name + (why == nullptr ? " is answered well" : " is answered " + to_string(why->how) + " " + why->reason));
    if (time.now() > x->until + clean_up)
      eye.violated(invariant::in_time, x->name + " was answered late");
  }

  /// Asks, and hands the answer on; each question has its own asker.
  template <class T, class Handle, class... Ts>
  void ask(const Handle& to, std::function<void(T&)> well, std::function<void(const problem&)> badly, Ts... xs) {
    auto asker = sys_.spawn([=](caf::event_based_actor* me) {
      auto asked = me->request(to, caf::infinite, xs...);
      auto failed = [badly](const caf::error& why) { badly(to_problem(why)); };
      if constexpr (std::is_same_v<T, caf::unit_t>)
        asked.then(
          [well] {
            auto none = T{};
            well(none);
          },
          failed);
      else
        asked.then([well](T& x) { well(x); }, failed);
    });
    held_.push_back(caf::actor_cast<caf::actor>(asker));
  }
  template <class T, class Verb, class... Ts>
  void ask_verb(const host& of, const std::string& what, Verb verb, Ts... xs) {
    auto x = expect(of, what);
    ask<T>(
      of.actor, [this, x](T&) { answered(x, nullptr); }, [this, x](const problem& why) { answered(x, &why); }, verb, desk, xs...);
  }

  void ask_something() {
    ++asked_;
    auto& of = alive(dice.pick(slots_.size()));
    const caf::timespan budget{call_budget};
    const auto which = dice.pick(100);
    if (which < 25)
      ask_verb<opened_view>(of, "open", atom::open_v, open_spec{}, budget);
    else if (which < 48)
      ask_verb<workspace_view>(of, "suspend", atom::suspend_v, suspend_spec{false, false}, budget);
    else if (which < 66)
      ask_verb<opened_view>(of, "resume", atom::resume_v, open_spec{}, budget);
    else if (which < 76)
      ask_verb<caf::unit_t>(of, "remove", atom::remove_v, remove_spec{}, budget);
    else if (which < 90)
      run_command(of);
    else
      pin_and_run(of);
  }

  /// A command in the guest that the session has when it is admitted.
  void run_command(host& of) {
    const auto name = "command-" + std::to_string(++commands_);
    eye.commands[name];
    call(of, of.actor, name, desk);
  }
  /// `which`: the id, where it is not said already.
  template <class Handle, class... Ts>
  void call(host& of, const Handle& by, const std::string& name, const Ts&... which) {
    auto x = expect(of, name);
    auto sink = sys_.spawn([this, x, name]() -> sink_actor::behavior_type {
      return {
        [](atom::output, std::uint8_t, const bytes&) {},
        [](atom::wanted, std::uint64_t) {},
        [](atom::noted, const call_note&) {},
        [this, x, name](atom::ended, const call_end&) { command_ended(x, name, nullptr); },
        [this, x, name](atom::failed, const problem& why) { command_ended(x, name, &why); },
      };
    });
    run_spec what;
    what.program = name;
    held_.push_back(caf::actor_cast<caf::actor>(sink));
    ask<call_actor>(
      by, [](call_actor&) {}, [this, x, name](const problem& why) { command_ended(x, name, &why); }, atom::call_v, which...,
      call_spec{what}, sink_actor{sink}, caf::timespan{call_budget});
  }
  void command_ended(const shared_operation& x, const std::string& name, const problem* why) {
    const auto nothing = why != nullptr
                         && (why->how == verdict::refused || why->how == verdict::usage || why->reason == "AgentDialFailed"
                             || why->reason == "GuestPinRefused");
    if (!x->alone)
      eye.commands[name].answer = why == nullptr ? "done" : nothing ? "nothing" : "unknown";
    answered(x, why);
  }
  /// A command in the guest that the session had when it was pinned, some time later.
  void pin_and_run(host& of) {
    const auto now = of.at.held;
    if (now.at != workspace::state::running || !now.boot || !now.sandbox || !now.pod)
      return;
    pin_spec what{now.sandbox->text(), now.pod->text(), now.boot->text(), {}};
    const auto name = "pinned-" + std::to_string(++commands_);
    eye.commands[name] = {now.pod->text(), now.boot->text(), 0, {}};
    ask<pinned_guest_actor>(
      of.actor,
      [this, &of, name](pinned_guest_actor& x) {
        held_.push_back(caf::actor_cast<caf::actor>(x));
        call(of, x, name);
      },
      [](const problem&) {}, atom::pin_v, desk, what);
  }

  testing_config config_;
  caf::actor_system sys_;
  caf::scheduler::test_coordinator& clock_;
  std::size_t storm_ = 0;                               // faults of a thousand requests
  std::size_t lag_ = 1;                                 // of the controllers
  std::optional<std::chrono::milliseconds> idle_after_; // of the hosts
  std::array<slot, 2> slots_{slot{"A"}, slot{"B"}};
  std::uint64_t last_term_ = 0;
  std::size_t asked_ = 0;
  std::size_t commands_ = 0;
  std::vector<shared_operation> operations_;
  std::vector<caf::actor> held_;
};

} // namespace

outcome run_seed(std::uint64_t seed, const planted_bug* bug) {
  auto it = simulation{seed, bug};
  return it.run();
}

} // namespace paddock::sim
