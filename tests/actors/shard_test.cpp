#define CAF_SUITE shard

#include "actors/supervise.hpp"
#include "tests/actors/actor_fixture.hpp"

#include <stdexcept>

using namespace paddock;
using namespace paddock::test;
using workspace::opened;
using workspace::origin;

namespace {

constexpr caf::timespan minute = 1min;

/// A port with a bug: its `open` throws for the workspace "boom" while `armed`.
class buggy_transitions final : public workspace::transitions_port {
public:
  explicit buggy_transitions(workspace::fake_transitions_port& inner) : inner_(inner) {
  }
  void open(workspace::ticket name, workspace::id which, workspace::open_options how, workspace::session before, deadline until,
            then<opened> to) override {
    if (armed && which.text() == "boom")
      throw std::logic_error{"planted"};
    inner_.open(name, which, how, before, until, to);
  }
  void take_up(workspace::ticket name, workspace::id which, workspace::session before, deadline until, then<workspace::done> to) override {
    inner_.take_up(name, which, before, until, to);
  }
  void suspend(workspace::ticket name, workspace::id which, workspace::suspend_options how, workspace::session before, deadline until,
               then<workspace::done> to) override {
    inner_.suspend(name, which, how, before, until, to);
  }
  void resume(workspace::ticket name, workspace::id which, workspace::open_options how, workspace::session before, deadline until,
              then<opened> to) override {
    inner_.resume(name, which, how, before, until, to);
  }
  void remove(workspace::ticket name, workspace::id which, workspace::remove_options how, workspace::session before, deadline until,
              then<workspace::done> to) override {
    inner_.remove(name, which, how, before, until, to);
  }
  void reset_epoch(workspace::ticket name, workspace::id which, workspace::epoch_reset what, workspace::session before, deadline until,
                   then<workspace::done> to) override {
    inner_.reset_epoch(name, which, what, before, until, to);
  }
  void stamp(workspace::ticket name, workspace::id which, workspace::session before, deadline until, then<workspace::stamped> to) override {
    inner_.stamp(name, which, before, until, to);
  }
  void refresh(workspace::ticket name, workspace::id which, workspace::session before, deadline until, then<workspace::done> to) override {
    inner_.refresh(name, which, before, until, to);
  }
  void reread(workspace::ticket name, workspace::id which, workspace::session now, deadline until,
              std::function<void(workspace::result<std::optional<workspace::found_pod>>)> to) override {
    inner_.reread(name, which, now, until, to);
  }
  void explain(workspace::ticket name, workspace::id which, std::string operation, workspace::session before, workspace::failure original,
               deadline until, then<workspace::done> to) override {
    inner_.explain(name, which, operation, before, original, until, to);
  }
  void cancel(workspace::ticket name) override {
    inner_.cancel(name);
  }
  void saw(workspace::ticket name, k8s::sighting x) override {
    inner_.saw(name, std::move(x));
  }
  bool armed = true;

private:
  workspace::fake_transitions_port& inner_;
};

struct buggy_world {
  workspace::fake_transitions_port inner;
  buggy_transitions transitions_with_a_bug{inner};
};

struct fixture : buggy_world, actor_fixture {
  fixture() {
    shard = keep(sys.spawn<shard_impl>(std::ref(bug_world)));
  }
  actor_world bug_world{
    transitions_with_a_bug, inventory, guests, time, "standard", [this](const std::string& x) { warnings.push_back(x); }};
  shard_actor shard;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(shard_tests, fixture)

SCENARIO("a WORKSPACE is started by its first message and counted") {
  CHECK_EQ(ask<std::uint64_t>(shard, atom::count_v)->value, std::optional<std::uint64_t>{0});
  ask<opened_view>(shard, atom::open_v, "desk"s, open_spec{}, minute);
  CHECK_EQ(inner.opens.size(), 1u);
  CHECK_EQ(ask<std::uint64_t>(shard, atom::count_v)->value, std::optional<std::uint64_t>{1});
  CHECK(ask<workspace_view>(shard, atom::view_v, "lamp"s)->value->state.empty());
  CHECK_EQ(ask<std::uint64_t>(shard, atom::count_v)->value, std::optional<std::uint64_t>{1});
}

SCENARIO("a crash of a WORKSPACE is answered as an unknown outcome, and it comes back with its state read from the cluster") {
  GIVEN("a workspace with a bug and one without") {
    auto healthy = ask<opened_view>(shard, atom::open_v, "desk"s, open_spec{}, minute);
    inner.opens.at(0).to({running(), opened{origin::created}});
    sched.run();
    REQUIRE(healthy->value);
    WHEN("the bug strikes") {
      auto got = ask<opened_view>(shard, atom::open_v, "boom"s, open_spec{}, minute);
      THEN("the caller does not hear `failed`, and the log names actor and message without content") {
        REQUIRE(got->why);
        CHECK(got->why->how == verdict::unknown);
        CHECK_EQ(got->why->reason, "OutcomeUnknown");
        REQUIRE_EQ(warnings.size(), 1u);
        CHECK_NE(warnings[0].find("WORKSPACE boom"), std::string::npos);
        CHECK_NE(warnings[0].find("planted"), std::string::npos);
        CHECK_NE(warnings[0].find("open"), std::string::npos);
      }
      THEN("it is down until the back-off is over, and what comes meanwhile waits") {
        transitions_with_a_bug.armed = false;
        auto log = std::make_shared<sink_log>();
        auto sink = keep(sys.spawn(logging_sink, log));
        auto call = ask<call_actor>(shard, atom::call_v, "boom"s, call_spec{run_spec{}}, sink, minute);
        CHECK(!call->value);
        CHECK(!call->why);
        CHECK(inner.take_ups.empty());
        sched.advance_time(99ms);
        sched.run();
        CHECK(inner.take_ups.empty());
        sched.advance_time(1ms);
        sched.run();
        REQUIRE_EQ(inner.take_ups.size(), 1u);
        CHECK(inner.take_ups[0].before.at == workspace::state::unknown);
        inner.take_ups[0].to({running(), workspace::done{}});
        sched.run();
        CHECK(call->value);
      }
      THEN("the other workspace has noticed nothing") {
        auto now = ask<workspace_view>(shard, atom::view_v, "desk"s);
        REQUIRE(now->value);
        CHECK_EQ(now->value->state, "running");
        for (const auto& x : inner.take_ups)
          CHECK_EQ(x.which.text(), "boom");
      }
    }
  }
}

SCENARIO("the WORKSPACE of a deleted workspace ends, after what was asked before") {
  ask<opened_view>(shard, atom::open_v, "desk"s, open_spec{}, minute);
  inner.opens.at(0).to({running(), opened{origin::created}});
  sched.run();
  auto removed = ask<caf::unit_t>(shard, atom::remove_v, "desk"s, remove_spec{}, minute);
  auto behind = ask<workspace_view>(shard, atom::suspend_v, "desk"s, suspend_spec{}, minute);
  auto gone = running();
  gone.at = workspace::state::deleted;
  inner.removes.at(0).to({gone, workspace::done{}});
  sched.run();
  CHECK(removed->value);
  // It came before the end of the delete was known, so the old one carries it or refuses it; nobody is left waiting.
  workspace::refuse(inner.suspends.at(0), gone, workspace::destroyed{"suspend", "namzu-ws-desk"});
  sched.run();
  CHECK(behind->why);
  CHECK_EQ(ask<std::uint64_t>(shard, atom::count_v)->value, std::optional<std::uint64_t>{0});
  ask<opened_view>(shard, atom::open_v, "desk"s, open_spec{}, minute);
  REQUIRE_EQ(inner.opens.size(), 2u);
  CHECK(inner.opens[1].before.at == workspace::state::unknown);
}

SCENARIO("the back-off doubles from 100 ms to 10 s") {
  CHECK(back_off(1) == 100ms);
  CHECK(back_off(2) == 200ms);
  CHECK(back_off(7) == 6400ms);
  CHECK(back_off(8) == 10s);
  CHECK(back_off(100) == 10s);
}

SCENARIO("a SHARD that stops answers who waits and ends after its WORKSPACEs") {
  auto under_way = ask<opened_view>(shard, atom::open_v, "desk"s, open_spec{}, minute);
  self->monitor(shard);
  self->send(shard, atom::stop_v);
  sched.run();
  CHECK(self->mailbox().empty());
  auto late = ask<opened_view>(shard, atom::open_v, "lamp"s, open_spec{}, minute);
  REQUIRE(late->why);
  CHECK_EQ(late->why->reason, "NodeStopping");
  workspace::refuse(inner.opens.at(0), {}, k8s::failure{k8s::cancelled{"POST", "/x", false}});
  sched.run();
  CHECK(under_way->why);
  CHECK(!self->mailbox().empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
