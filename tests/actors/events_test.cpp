#define CAF_SUITE events

#include "actors/event_log.hpp"
#include "actors/subscription.hpp"
#include "tests/actors/listener.hpp"

using namespace paddock;
using namespace paddock::test;
using workspace::opened;
using workspace::origin;

namespace {

constexpr caf::timespan minute = 1min;
using list = std::vector<workspace_event>;

struct fixture : actor_fixture {
  fixture() {
    me = make_workspace();
    ask<opened_view>(me, atom::open_v, open_spec{}, minute);
    transitions.opens.at(0).to({running(), opened{origin::created}});
    sched.run();
    sink = keep(sys.spawn(logging_sink, std::make_shared<sink_log>()));
    hear(0);
  }
  /// A call hears the boot id of this number: all but the first are events.
  void hear(std::size_t n) {
    ask<call_actor>(me, atom::call_v, call_spec{run_spec{}}, sink, minute);
    guests.starts.back().events.end(ended_well("B" + std::to_string(n)));
    sched.run();
  }
  struct ear {
    std::shared_ptr<heard_events> log = std::make_shared<heard_events>();
    event_sink_actor actor;
  };
  ear make_ear() {
    ear out;
    out.actor = keep(sys.spawn(listener, out.log));
    return out;
  }
  /// A sink that takes nothing before it is told to (`take`).
  struct slow_ear {
    std::shared_ptr<std::vector<caf::typed_response_promise<void>>> taken =
      std::make_shared<std::vector<caf::typed_response_promise<void>>>();
    std::shared_ptr<std::vector<problem>> ends = std::make_shared<std::vector<problem>>();
    event_sink_actor actor;
  };
  slow_ear make_slow_ear() {
    slow_ear out;
    out.actor = keep(sys.spawn([taken = out.taken, ends = out.ends](event_sink_actor::pointer it) -> event_sink_actor::behavior_type {
      return {
        [taken, it](atom::noted, const workspace_event&) -> caf::result<void> {
          taken->push_back(it->make_response_promise<void>());
          return taken->back();
        },
        [taken, ends](atom::failed, const problem& x) {
          if (x.reason == "take")
            taken->back().deliver();
          else
            ends->push_back(x);
        },
      };
    }));
    return out;
  }
  void take(const slow_ear& by) {
    self->send(by.actor, atom::failed_v, problem{verdict::failed, "take", "", "{}"});
    sched.run();
  }
  workspace_actor me;
  sink_actor sink;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(events_tests, fixture)

SCENARIO("who subscribes is answered with the past and told the future, numbered without a gap") {
  hear(1);
  hear(2);
  auto one = make_ear();
  const auto past = ask<list>(me, atom::subscribe_v, one.actor);
  REQUIRE(past->value);
  REQUIRE_EQ(past->value->size(), 2u);
  CHECK_EQ(past->value->at(0).number, 1u);
  CHECK_EQ(past->value->at(0).current.guest_boot_id, "B1");
  CHECK_EQ(past->value->at(1).number, 2u);
  CHECK(!past->value->at(0).at.empty());
  CHECK(one.log->events.empty());
  hear(3);
  REQUIRE_EQ(one.log->events.size(), 1u);
  CHECK_EQ(one.log->events[0].number, 3u);
  CHECK_EQ(one.log->events[0].previous.guest_boot_id, "B2");
  CHECK_EQ(ask<list>(me, atom::events_v)->value->size(), 3u);
}

SCENARIO("only the latest of the past are kept") {
  for (auto n = std::size_t{1}; n <= event_log::most_kept + 3; ++n)
    hear(n);
  const auto past = ask<list>(me, atom::events_v);
  REQUIRE_EQ(past->value->size(), event_log::most_kept);
  CHECK_EQ(past->value->front().number, 4u);
  CHECK_EQ(past->value->back().number, event_log::most_kept + 3);
}

SCENARIO("a sink is told one event at a time, and one that falls behind is dropped by name") {
  auto slow = make_slow_ear();
  auto other = make_ear();
  ask<list>(me, atom::subscribe_v, slow.actor);
  ask<list>(me, atom::subscribe_v, other.actor);
  for (auto n = std::size_t{1}; n <= subscription_state::most_waiting + 1; ++n)
    hear(n);
  CHECK_EQ(slow.taken->size(), 1u);
  CHECK(slow.ends->empty());
  hear(1000);
  REQUIRE_EQ(slow.ends->size(), 1u);
  CHECK_EQ(slow.ends->front().reason, "EventsDropped");
  take(slow);
  hear(1001);
  CHECK_EQ(slow.taken->size(), 1u);
  // The others have heard every one.
  CHECK_EQ(other.log->events.size(), subscription_state::most_waiting + 3);
  CHECK(other.log->ends.empty());
}

SCENARIO("a sink that takes its time is told everything, in order") {
  auto slow = make_slow_ear();
  ask<list>(me, atom::subscribe_v, slow.actor);
  for (auto n = std::size_t{1}; n <= 5; ++n)
    hear(n);
  for (auto n = std::size_t{0}; n < 5; ++n) {
    REQUIRE_EQ(slow.taken->size(), n + 1);
    take(slow);
  }
  CHECK(slow.ends->empty());
}

SCENARIO("a sink that goes away or fails is forgotten, and others may take its place") {
  for (auto n = std::size_t{0}; n < event_log::most_listeners; ++n) {
    auto one = make_ear();
    REQUIRE(ask<list>(me, atom::subscribe_v, one.actor)->value);
    if (n + 1 == event_log::most_listeners)
      one.log->then = [](const workspace_event&) { throw std::logic_error{"planted"}; };
  }
  auto more = make_ear();
  const auto no = ask<list>(me, atom::subscribe_v, more.actor);
  REQUIRE(no->why);
  CHECK_EQ(no->why->reason, "TooManyWaiting");
  hear(1);
  CHECK(ask<list>(me, atom::subscribe_v, more.actor)->value);
  hear(2);
  CHECK_EQ(more.log->events.size(), 1u);
}

SCENARIO("who listens is told when the WORKSPACE has ended, after all that it told") {
  auto slow = make_slow_ear();
  ask<list>(me, atom::subscribe_v, slow.actor);
  hear(1);
  hear(2);
  self->send(me, atom::stop_v);
  sched.run();
  CHECK_EQ(slow.taken->size(), 2u);
  REQUIRE_EQ(slow.ends->size(), 1u);
  CHECK_EQ(slow.ends->front().reason, "EventsEnded");
}

SCENARIO("a refresh waits in line with the verbs and answers with what is held then") {
  const auto suspend = ask<workspace_view>(me, atom::suspend_v, suspend_spec{}, minute);
  const auto refresh = ask<workspace_view>(me, atom::refresh_v, minute);
  CHECK(transitions.refreshes.empty());
  workspace::refuse(transitions.suspends.at(0), running(), workspace::suspend_timeout{"desk", "namzu-ws-desk", 1s});
  sched.run();
  REQUIRE_EQ(transitions.refreshes.size(), 1u);
  auto after = suspended();
  after.at = workspace::state::suspending;
  workspace::transition<workspace::done> end{after, workspace::done{}};
  end.events.emplace_back(workspace::suspended_elsewhere{workspace::identity_of(running())});
  transitions.refreshes[0].to(std::move(end));
  sched.run();
  REQUIRE(refresh->value);
  CHECK_EQ(refresh->value->state, "suspending");
  const auto past = ask<list>(me, atom::events_v);
  REQUIRE_EQ(past->value->size(), 1u);
  CHECK_EQ(past->value->front().what, "suspended-elsewhere");
}

CAF_TEST_FIXTURE_SCOPE_END()
