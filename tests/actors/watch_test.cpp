#define CAF_SUITE watch

#include "actors/watch.hpp"
#include "k8s/sighting.hpp"
#include "tests/actors/actor_fixture.hpp"
#include "tests/support/fake_watch_port.hpp"

#include <stdexcept>

using namespace paddock;
using namespace paddock::test;
using namespace paddock::k8s;
using kind = watch_event::kind;

namespace {

constexpr caf::timespan minute = 1min;

struct watch_fakes {
  fake_watch_port port;
};

/// What one watcher was told: `live S1 7`, `lost none`, …
using told = std::vector<std::string>;

std::string text_of(const sighting& x) {
  return std::string{x.live ? "live" : "lost"} + (x.object ? " " + x.object->uid() + " " + x.object->version() : " none");
}

watcher_actor::behavior_type logging_watcher(std::shared_ptr<told> log) {
  return {[log](atom::shown, const landed& x) { log->push_back(text_of(*static_cast<const sighting*>(x.value.get()))); }};
}

struct fixture : watch_fakes, actor_fixture {
  fixture() {
    world.watches = &port;
    world.warn = [this](const std::string& x) {
      if (std::exchange(bug, false))
        throw std::logic_error{"planted"};
      warnings.push_back(x);
    };
  }
  watch_actor make_watch() {
    return keep(sys.spawn<watch_impl>(std::ref(world), sandboxes_of("ns")));
  }
  struct watcher {
    watcher_actor actor;
    std::shared_ptr<told> heard;
  };
  watcher make_watcher() {
    auto heard = std::make_shared<told>();
    return {keep(sys.spawn(logging_watcher, heard)), heard};
  }
  watcher subscribe(const watch_actor& to, const std::string& name) {
    auto made = make_watcher();
    caf::anon_send(to, atom::watch_v, name, made.actor);
    sched.run();
    return made;
  }
  void tell(watch_news x, std::size_t nth = 0) {
    port.starts.at(nth).tell(std::move(x));
    sched.run();
  }
  static read_failure answered(unsigned status) {
    return {status, std::nullopt, "GET /things: answered " + std::to_string(status)};
  }
  node_actor make_node() {
    auto about = node_info{};
    about.name_space = "ns";
    about.shards = 4;
    return keep(sys.spawn<node_impl>(std::ref(world), about));
  }
  /// The last thing that a verb of ticket `name` was shown.
  std::string seen_by(workspace::ticket name) {
    auto got = std::string{"nothing"};
    for (const auto& [ticket, x] : transitions.seen)
      if (ticket == name)
        got = text_of(x);
    return got;
  }
  /// The WATCH that the port was last started for ends by an exception.
  void crash_watch() {
    bug = true;
    tell(watch_lost{answered(403)}, port.starts.size() - 1);
  }
  bool bug = false;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(watch_tests, fixture)

SCENARIO("a watcher is told what is known of its name, then every change of it and of no other") {
  auto watch = make_watch();
  REQUIRE_EQ(port.starts.size(), 1u);
  CHECK_EQ(port.starts[0].what.what.collection, "/apis/agents.x-k8s.io/v1beta1/namespaces/ns/sandboxes");
  auto early = subscribe(watch, "a");
  tell(watch_listed{{kept_sandbox("a", "S1", 5), kept_sandbox("b", "S2", 6)}, "7"});
  auto late = subscribe(watch, "a");
  auto other = subscribe(watch, "c");
  tell(watch_told{kind::modified, kept_sandbox("a", "S1", 8)});
  tell(watch_told{kind::modified, kept_sandbox("b", "S2", 9)});
  tell(watch_told{kind::deleted, kept_sandbox("a", "S1", 10)});
  tell(watch_marked{"11"});
  CHECK_EQ(*early.heard, (told{"lost none", "live S1 5", "live S1 8", "live none"}));
  CHECK_EQ(*late.heard, (told{"live S1 5", "live S1 8", "live none"}));
  CHECK_EQ(*other.heard, told{"live none"});
}

SCENARIO("an event that comes twice is told once") {
  auto watch = make_watch();
  auto one = subscribe(watch, "a");
  tell(watch_listed{{kept_sandbox("a", "S1", 5)}, "7"});
  tell(watch_told{kind::added, kept_sandbox("a", "S1", 5)});
  tell(watch_listed{{kept_sandbox("a", "S1", 5)}, "9"});
  CHECK_EQ(*one.heard, (told{"lost none", "live S1 5"}));
}

SCENARIO("a list after a gap is told as what changed meanwhile") {
  auto watch = make_watch();
  tell(watch_listed{{kept_sandbox("a", "S1", 5), kept_sandbox("b", "S2", 6)}, "7"});
  auto a = subscribe(watch, "a");
  auto b = subscribe(watch, "b");
  auto c = subscribe(watch, "c");
  tell(watch_listed{{kept_sandbox("a", "S9", 12), kept_sandbox("c", "S3", 13)}, "20"});
  CHECK_EQ(a.heard->back(), "live S9 12");
  CHECK_EQ(*b.heard, (told{"live S2 6", "live none"}));
  CHECK_EQ(*c.heard, (told{"live none", "live S3 13"}));
}

SCENARIO("watchers are told when nothing is told any more, and when it is again") {
  auto watch = make_watch();
  tell(watch_listed{{kept_sandbox("a", "S1", 5)}, "7"});
  auto one = subscribe(watch, "a");
  tell(watch_lost{answered(0)});
  tell(watch_lost{answered(0)});
  CHECK_EQ(*one.heard, (told{"live S1 5", "lost S1 5"}));
  WHEN("a bookmark comes") {
    tell(watch_marked{"9"});
    CHECK_EQ(*one.heard, (told{"live S1 5", "lost S1 5", "live S1 5"}));
  }
  WHEN("it is lost again and an event comes") {
    tell(watch_lost{answered(503)});
    tell(watch_told{kind::modified, kept_sandbox("a", "S1", 10)});
    CHECK_EQ(*one.heard, (told{"live S1 5", "lost S1 5", "live S1 5", "lost S1 5", "live S1 10"}));
  }
  CHECK(warnings.empty());
}

SCENARIO("a watch that is not permitted is warned of once") {
  auto watch = make_watch();
  tell(watch_lost{answered(403)});
  tell(watch_lost{answered(0)});
  tell(watch_lost{answered(403)});
  REQUIRE_EQ(warnings.size(), 1u);
  CHECK(warnings[0].find("403") != std::string::npos);
  auto one = subscribe(watch, "a");
  CHECK_EQ(*one.heard, told{"lost none"});
  WHEN("it is permitted and then is not again") {
    tell(watch_listed{{}, "7"});
    tell(watch_lost{answered(403)});
    CHECK_EQ(warnings.size(), 2u);
  }
}

SCENARIO("a watcher that ends is forgotten, and one that names another name leaves the first") {
  auto watch = make_watch();
  tell(watch_listed{{}, "7"});
  auto gone = subscribe(watch, "a");
  caf::anon_send_exit(gone.actor, caf::exit_reason::kill);
  sched.run();
  auto moved = subscribe(watch, "a");
  caf::anon_send(watch, atom::watch_v, std::string{"b"}, moved.actor);
  sched.run();
  tell(watch_told{kind::added, kept_sandbox("a", "S1", 8)});
  tell(watch_told{kind::added, kept_sandbox("b", "S2", 9)});
  CHECK_EQ(*gone.heard, told{"live none"});
  CHECK_EQ(*moved.heard, (told{"live none", "live none", "live S2 9"}));
}

SCENARIO("a WATCH that ends stops its list+watch, and what was under way is told to nobody") {
  auto watch = make_watch();
  const auto name = port.starts.at(0).name;
  caf::anon_send_exit(watch, caf::exit_reason::kill);
  sched.run();
  CHECK_EQ(port.stopped, (std::vector<watch_port::ticket>{name}));
  tell(watch_listed{{}, "7"});
}

// -- what a WORKSPACE makes of it -----------------------------------------------

SCENARIO("a verb is shown what the WATCH shows, from its start to its end") {
  auto node = make_node();
  REQUIRE_EQ(port.starts.size(), 1u);
  tell(watch_listed{{kept_sandbox("namzu-ws-desk", "S1", 5)}, "7"});
  ask<opened_view>(node, atom::open_v, "desk"s, open_spec{}, minute);
  REQUIRE_EQ(transitions.opens.size(), 1u);
  const auto ticket = transitions.opens[0].name;
  CHECK_EQ(seen_by(ticket), "live S1 5");
  tell(watch_told{kind::modified, kept_sandbox("namzu-ws-desk", "S1", 8, true)});
  tell(watch_told{kind::modified, kept_sandbox("namzu-ws-other", "S2", 9, true)});
  CHECK_EQ(seen_by(ticket), "live S1 8");
  WHEN("there is a gap") {
    tell(watch_lost{answered(0)});
    CHECK_EQ(seen_by(ticket), "lost S1 8");
    tell(watch_marked{"9"});
    CHECK_EQ(seen_by(ticket), "live S1 8");
  }
  WHEN("the verb ends") {
    transitions.opens[0].to({running(), workspace::opened{}});
    sched.run();
    tell(watch_told{kind::modified, kept_sandbox("namzu-ws-desk", "S1", 10)});
    CHECK_EQ(seen_by(ticket), "live S1 8");
    THEN("the next one is shown it") {
      ask<workspace_view>(node, atom::suspend_v, "desk"s, suspend_spec{}, minute);
      CHECK_EQ(seen_by(transitions.suspends.at(0).name), "live S1 10");
    }
  }
}

SCENARIO("the death of a WATCH is noticed by the verb, and the next WATCH is followed") {
  auto node = make_node();
  tell(watch_listed{{kept_sandbox("namzu-ws-desk", "S1", 5)}, "7"});
  ask<opened_view>(node, atom::open_v, "desk"s, open_spec{}, minute);
  const auto ticket = transitions.opens.at(0).name;
  CHECK_EQ(seen_by(ticket), "live S1 5");
  crash_watch();
  CHECK_EQ(seen_by(ticket), "lost none");
  CHECK_EQ(port.starts.size(), 1u);
  REQUIRE_EQ(warnings.size(), 1u);
  CHECK(warnings[0].find("WATCH") != std::string::npos);
  WHEN("the back-off is over") {
    sched.advance_time(100ms);
    sched.run();
    REQUIRE_EQ(port.starts.size(), 2u);
    tell(watch_listed{{kept_sandbox("namzu-ws-desk", "S1", 9)}, "9"}, 1);
    CHECK_EQ(seen_by(ticket), "live S1 9");
    THEN("a WORKSPACE that starts now is told as well") {
      ask<opened_view>(node, atom::open_v, "late"s, open_spec{}, minute);
      CHECK_EQ(seen_by(transitions.opens.at(1).name), "live none");
    }
    THEN("a second crash keeps it down for longer") {
      crash_watch();
      sched.advance_time(100ms);
      sched.run();
      CHECK_EQ(port.starts.size(), 2u);
      sched.advance_time(100ms);
      sched.run();
      CHECK_EQ(port.starts.size(), 3u);
    }
  }
}

SCENARIO("without a port nothing is watched and verbs are shown nothing") {
  world.watches = nullptr;
  auto node = make_node();
  ask<opened_view>(node, atom::open_v, "desk"s, open_spec{}, minute);
  REQUIRE_EQ(transitions.opens.size(), 1u);
  CHECK(transitions.seen.empty());
  CHECK(port.starts.empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
