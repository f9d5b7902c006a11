#define CAF_SUITE stamps

// Who sees to it that every Sandbox of the node carries an epoch of it ([W] P11, P12).

#include "actors/watch.hpp"
#include "tests/actors/whole_fixture.hpp"
#include "tests/support/fake_watch_port.hpp"

using namespace paddock;
using namespace paddock::test;
using workspace::test::desk;

namespace {

constexpr caf::timespan minute = 1min;
constexpr std::uint64_t first = 1'048'576; // of term 1
using strings = std::vector<std::string>;

struct watched {
  k8s::fake_watch_port port;
};

/// What a watch tells of a Sandbox with this holder epoch.
k8s::kept told(const std::string& name, std::optional<std::string> epoch, int version = 5) {
  auto object = nlohmann::json{
    {"metadata", {{"name", name}, {"namespace", "ns"}, {"uid", "S1"}, {"resourceVersion", std::to_string(version)}, {"generation", 1}}}};
  if (epoch)
    object["metadata"]["annotations"]["sandbox.namzu.ai/holder-epoch"] = *epoch;
  return std::make_shared<const k8s::kept_object>(std::move(object), k8s::kept_object::form::packed);
}

node_actor make_node_over(actor_fixture& x, actor_world& on) {
  auto about = node_info{};
  about.name_space = "ns";
  about.shards = 1;
  return x.keep(x.sys.spawn<node_impl>(std::ref(on), about));
}

/// Over fakes: who is asked, and when.
struct asked : watched, actor_fixture {
  asked() {
    world.watches = &port;
    world.stamps = stamping{first, true};
    node = make_node_over(*this, world);
  }
  void tell(k8s::watch_news x) {
    port.starts.at(0).tell(std::move(x));
    sched.run();
  }
  strings stamped() {
    auto got = strings{};
    for (const auto& x : transitions.stamps)
      got.push_back(x.which.text());
    return got;
  }
  void answer(std::size_t nth, bool written = true) {
    transitions.stamps.at(nth).to({transitions.stamps[nth].before, workspace::stamped{written, "7"}});
    sched.run();
  }
  std::uint64_t alive() {
    return ask<node_info>(node, atom::info_v)->value->workspaces;
  }
  node_actor node;
};

/// Over the real flows: what is sent.
struct sent : watched, whole_fixture {
  sent() : whole_fixture(desk::host::fenced, desk::api_server::with_uids) {
    host.on.how.term = 1;
    on.watches = &port;
    on.stamps = stamping{first, true};
    node = make_node_over(*this, on);
  }
  /// The watch shows the Sandbox as it stands.
  void tell() {
    auto object = *host.cluster.sandbox;
    const auto shown = std::make_shared<const k8s::kept_object>(k8s::sandbox_projection().of(object), k8s::kept_object::form::packed);
    port.starts.at(0).tell(k8s::watch_told{k8s::watch_event::kind::modified, shown});
    settle();
  }
  void list() {
    auto all = std::vector<k8s::kept>{};
    if (host.cluster.sandbox)
      all.push_back(
        std::make_shared<const k8s::kept_object>(k8s::sandbox_projection().of(*host.cluster.sandbox), k8s::kept_object::form::packed));
    port.starts.at(0).tell(k8s::watch_listed{std::move(all), "100"});
    settle();
  }
  template <class T, class... Ts>
  std::shared_ptr<answer_of<T>> settled(Ts... xs) {
    auto got = ask<T>(node, xs...);
    settle();
    return got;
  }
  nlohmann::json stamp_over(const char* stored, std::uint64_t epoch) {
    using namespace workspace::test;
    return nlohmann::json::array({test_op(epoch_at, stored), test_op("/metadata/uid", "S1"), add_op(epoch_at, std::to_string(epoch))});
  }
  node_actor node;
};

} // namespace

BEGIN_FIXTURE_SCOPE(asked)

SCENARIO("what a node finds at its start is stamped one after another, and nobody stays awake for it") {
  tell(k8s::watch_listed{{told("namzu-ws-a", std::nullopt), told("namzu-ws-b", "7"), told("namzu-ws-c", std::to_string(first)),
                          told("namzu-ws-d", "2097152"), told("namzu-ws-e", "latest"), told("other-f", std::nullopt)},
                         "7"});
  CHECK_EQ(stamped(), strings{"a"});
  CHECK(transitions.stamps[0].before.at == workspace::state::unknown);
  CHECK_EQ(alive(), 1u);
  answer(0);
  CHECK_EQ(stamped(), (strings{"a", "b"}));
  workspace::refuse(transitions.stamps[1], {}, workspace::precondition{"stamp", "b", "namzu-ws-b", first, 2'097'152, "2097152"});
  sched.run();
  CHECK_EQ(stamped(), (strings{"a", "b"}));
  CHECK_EQ(alive(), 0u);
  CHECK_EQ(transitions.log, (strings{"stamp", "stamp"}));
  CHECK(warnings.empty()); // they did not come while this node ran
}

SCENARIO("what appears or becomes so later is stamped and said") {
  tell(k8s::watch_listed{{}, "7"});
  tell(k8s::watch_told{k8s::watch_event::kind::added, told("namzu-ws-a", "7", 8)});
  CHECK_EQ(stamped(), strings{"a"});
  answer(0);
  REQUIRE_EQ(warnings.size(), 1u);
  CHECK(warnings[0].find("workspace a") != std::string::npos);
  CHECK(warnings[0].find("7") != std::string::npos);
  tell(k8s::watch_told{k8s::watch_event::kind::modified, told("namzu-ws-a", std::to_string(first), 9)});
  tell(k8s::watch_told{k8s::watch_event::kind::deleted, told("namzu-ws-a", std::nullopt, 10)});
  CHECK_EQ(transitions.stamps.size(), 1u);
  // A hint that was late: there was nothing to write, so there is nothing to say.
  tell(k8s::watch_told{k8s::watch_event::kind::added, told("namzu-ws-b", std::nullopt, 11)});
  answer(1, false);
  CHECK_EQ(warnings.size(), 1u);
}

SCENARIO("a stamp takes its turn among the verbs, and the session it meets goes on with its epoch") {
  tell(k8s::watch_listed{{}, "7"});
  auto opened = ask<opened_view>(node, atom::open_v, "desk"s, open_spec{}, minute);
  tell(k8s::watch_told{k8s::watch_event::kind::added, told("namzu-ws-desk", std::nullopt, 8)});
  CHECK_EQ(transitions.log, strings{"open"});
  transitions.opens[0].to({running(), workspace::opened{}});
  sched.run();
  CHECK_EQ(transitions.log, (strings{"open", "stamp"}));
  auto after = transitions.stamps[0].before;
  CHECK(after.at == workspace::state::running);
  after.epoch = 9;
  after.stamped = true;
  transitions.stamps[0].to({after, workspace::stamped{true, std::nullopt}});
  sched.run();
  CHECK_EQ(alive(), 1u);
  ask<workspace_view>(node, atom::suspend_v, "desk"s, suspend_spec{}, minute);
  CHECK(transitions.suspends.at(0).before.epoch == std::optional<std::uint64_t>{9});
  CHECK(transitions.suspends[0].before.stamped);
  CHECK_EQ(transitions.suspends[0].before.pod, pod_uid{"P1"});
}

SCENARIO("a workspace that is used while it is stamped stays") {
  tell(k8s::watch_listed{{told("namzu-ws-desk", std::nullopt)}, "7"});
  REQUIRE_EQ(transitions.stamps.size(), 1u);
  ask<opened_view>(node, atom::open_v, "desk"s, open_spec{}, minute);
  answer(0);
  REQUIRE_EQ(transitions.opens.size(), 1u);
  transitions.opens[0].to({running(), workspace::opened{}});
  sched.run();
  CHECK_EQ(alive(), 1u);
}

// [W 294] one that could not be stamped at once
SCENARIO("what could not be stamped is stamped after a pause, unless the Sandbox itself is why") {
  tell(k8s::watch_listed{{told("namzu-ws-a", "7"), told("namzu-ws-b", "7"), told("namzu-ws-c", "7"), told("namzu-ws-d", "7")}, "7"});
  const auto end = [this](std::size_t nth, workspace::failure why) {
    workspace::refuse(transitions.stamps.at(nth), {}, std::move(why));
    sched.run();
  };
  const auto busy = k8s::api_failure{k8s::api_failure::transport::status, "PATCH", "/x", 503u, std::nullopt, true, "busy"};
  end(0, k8s::failure{busy});
  end(1, workspace::precondition{"stamp", "b", "namzu-ws-b", first, 2'097'152, "2097152"});
  end(2, workspace::write_unknown{"stamp", k8s::failure{k8s::api_timeout{"PATCH", "/x", 30s, true}}});
  end(3, k8s::failure{k8s::already_gone{"GET", "/x", 404}});
  CHECK_EQ(stamped(), (strings{"a", "b", "c", "d"}));
  CHECK_EQ(alive(), 0u);
  pass(59s);
  CHECK_EQ(transitions.stamps.size(), 4u);
  pass(2s);
  CHECK_EQ(stamped(), (strings{"a", "b", "c", "d", "a"}));
  end(4, k8s::failure{busy});
  CHECK_EQ(stamped(), (strings{"a", "b", "c", "d", "a", "c"}));
  answer(5);
  pass(61s);
  CHECK_EQ(stamped(), (strings{"a", "b", "c", "d", "a", "c", "a"}));
  answer(6);
  pass(10min);
  CHECK_EQ(transitions.stamps.size(), 7u);
  CHECK_EQ(alive(), 0u);
}

SCENARIO("a call that comes while an unknown workspace is stamped is not answered by the stamp's failure") {
  tell(k8s::watch_listed{{told("namzu-ws-desk", "7")}, "7"});
  REQUIRE_EQ(transitions.stamps.size(), 1u);
  auto log = std::make_shared<sink_log>();
  auto called = ask<call_actor>(node, atom::call_v, "desk"s, call_spec{run_spec{}}, keep(sys.spawn(logging_sink, log)), minute);
  workspace::refuse(transitions.stamps[0], {}, k8s::failure{k8s::api_timeout{"PATCH", "/x", 30s, true}});
  sched.run();
  CHECK(!called->why);
  REQUIRE_EQ(transitions.take_ups.size(), 1u);
  transitions.take_ups[0].to({running(), workspace::done{}});
  sched.run();
  CHECK(called->value);
}

SCENARIO("a node that stops stamps nothing more") {
  tell(k8s::watch_listed{{told("namzu-ws-a", std::nullopt), told("namzu-ws-b", std::nullopt)}, "7"});
  self->monitor(node);
  self->send(node, atom::stop_v);
  sched.run();
  CHECK_EQ(transitions.cancelled.size(), 1u);
  workspace::refuse(transitions.stamps.at(0), {}, k8s::failure{k8s::cancelled{"PATCH", "/x", true}});
  sched.run();
  CHECK_EQ(stamped(), strings{"a"});
  CHECK(!self->mailbox().empty());
}

END_FIXTURE_SCOPE()

SCENARIO("a node whose writes carry no epoch stamps nothing") {
  struct unfenced : watched, actor_fixture {};
  unfenced x;
  x.world.watches = &x.port;
  make_node_over(x, x.world);
  x.port.starts.at(0).tell(k8s::watch_listed{{told("namzu-ws-a", std::nullopt)}, "7"});
  x.sched.run();
  CHECK(x.transitions.log.empty());
}

SCENARIO("a node that stands alone stamps only what lives on it") {
  struct alone : watched, actor_fixture {};
  alone x;
  x.world.watches = &x.port;
  x.world.stamps = stamping{};
  auto node = make_node_over(x, x.world);
  x.port.starts.at(0).tell(k8s::watch_listed{{told("namzu-ws-a", std::nullopt), told("namzu-ws-b", "0")}, "7"});
  x.sched.run();
  CHECK(x.transitions.log.empty());
  x.ask<opened_view>(node, atom::open_v, "a"s, open_spec{}, minute);
  x.transitions.opens.at(0).to({x.running(), workspace::opened{}});
  x.sched.run();
  x.port.starts[0].tell(k8s::watch_told{k8s::watch_event::kind::modified, told("namzu-ws-a", std::nullopt, 8)});
  x.port.starts[0].tell(k8s::watch_told{k8s::watch_event::kind::modified, told("namzu-ws-b", "0", 9)});
  x.sched.run();
  CHECK_EQ(x.transitions.log, (strings{"open", "stamp"}));
}

BEGIN_FIXTURE_SCOPE(sent)

// [W 294] one that is idle
SCENARIO("an idle Sandbox of an earlier term is stamped in the background and left asleep") {
  host.cluster.stand("Suspended", "7");
  list();
  CHECK_JSON(host.bodies(), (std::vector<nlohmann::json>{stamp_over("7", first)}));
  CHECK_EQ(host.requests(), (strings{"GET SB", "PATCH SB json"}));
  CHECK_EQ(host.cluster.mode(), "Suspended");
  CHECK(host.guest.calls.empty());
  CHECK(warned.empty());
}

// [W 294] one that is used before the node has learnt of it
SCENARIO("a Sandbox of an earlier term is stamped before its guest is asked anything") {
  host.cluster.stand("Running", "7");
  auto stamped_when_asked = std::optional<std::string>{};
  host.guest.on_execute = [&, probe = host.guest.on_execute](const workspace::test::guest_call& x) {
    if (!stamped_when_asked)
      stamped_when_asked = host.cluster.annotation("holder-epoch");
    return probe(x);
  };
  auto sink = keep(sys.spawn(logging_sink, std::make_shared<sink_log>()));
  run_spec run;
  run.program = "true";
  const auto got = settled<call_actor>(atom::call_v, "desk"s, call_spec{run}, sink, minute);
  REQUIRE(got->value);
  CHECK_EQ(stamped_when_asked, std::to_string(first));
  CHECK_JSON(host.bodies(), (std::vector<nlohmann::json>{stamp_over("7", first)}));
}

// [W 294] one that appears later
SCENARIO("a Sandbox that appears with a lower epoch is stamped, and that is said") {
  list();
  host.cluster.stand("Running", "7");
  tell();
  CHECK_JSON(host.bodies(), (std::vector<nlohmann::json>{stamp_over("7", first)}));
  REQUIRE_EQ(warned.size(), 1u);
  CHECK(warned[0].find("desk") != std::string::npos);
  CHECK_EQ(host.cluster.mode(), "Running");
}

// [W 291] an epoch that this host had stamped is gone
SCENARIO("a lost epoch is no epoch 0, and is stamped again once the watch shows the loss") {
  using namespace workspace::test;
  list();
  REQUIRE(settled<opened_view>(atom::open_v, "desk"s, open_spec{}, minute)->value);
  (*host.cluster.sandbox)["metadata"]["annotations"].erase("sandbox.namzu.ai/holder-epoch");
  host.cluster.bump();
  host.forget();
  const auto refused = settled<workspace_view>(atom::suspend_v, "desk"s, suspend_spec{}, minute);
  REQUIRE(refused->why);
  CHECK_EQ(refused->why->reason, "WorkspacePrecondition");
  CHECK(refused->why->details.find("storedEpoch") == std::string::npos);
  CHECK_EQ(host.sent("PATCH"), 0u);
  const auto version = k8s::text_at(*host.cluster.sandbox, "/metadata/resourceVersion").value();
  tell();
  CHECK_JSON(host.bodies(),
             (std::vector<nlohmann::json>{nlohmann::json::array(
               {test_op("/metadata/resourceVersion", version), test_op("/metadata/uid", "S1"), add_op(epoch_at, std::to_string(first))})}));
  CHECK_EQ(warned.size(), 1u);
  CHECK(settled<workspace_view>(atom::suspend_v, "desk"s, suspend_spec{}, minute)->value);
}

END_FIXTURE_SCOPE()
