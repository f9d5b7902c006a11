#define CAF_SUITE task_wire

// Task sandboxes down to the bytes that their guest is sent.

#include "tests/actors/task_fixture.hpp"
#include "tests/support/fake_agent.hpp"

using namespace paddock;
using namespace paddock::test;
using texts = std::vector<std::string>;

namespace {

struct fixture : task_fixture {
  fixture() : task_fixture(true) {
    acts_on.how.agent_port = agent.where().port;
    agent.on("execute", {send({{"type", "stdout_delta"}, {"data", scripted_guest::unprivileged_status()}}), send(fake_agent::end_event(0)),
                         send_end()});
    host.bind_claim = [this](json& claim) {
      host.bind(claim);
      claim["status"]["sandbox"]["podIPs"] = {"127.0.0.1"};
      claim["status"]["sandbox"].erase("serviceFQDN");
      host.pod("pool-x-1")["status"]["podIP"] = "127.0.0.1";
    };
  }
  void until(const std::function<bool()>& enough) {
    run_with_sockets(host.context, host.time, [&] {
      sched.run();
      return enough();
    });
  }
  template <class T>
  std::shared_ptr<answer_of<T>> settled(std::shared_ptr<answer_of<T>> x) {
    until([&] { return x->value || x->why; });
    return x;
  }
  task_actor held() {
    const auto got = settled(begin());
    REQUIRE_EQ(outcome(got), "done");
    return *got->value;
  }
  call_actor start(const task_actor& task, call_spec what, const std::shared_ptr<sink_log>& log) {
    const auto got = settled(ask<call_actor>(task, atom::call_v, std::move(what), keep(sys.spawn(logging_sink, log)), caf::timespan{5min}));
    REQUIRE(got->value);
    return *got->value;
  }
  /// Why a call failed.
  problem failure_of(const task_actor& task, call_spec what) {
    auto log = std::make_shared<sink_log>();
    const auto call = start(task, std::move(what), log);
    mail::tell_anonymously(call, atom::input_v, bytes{}, true);
    until([&] { return !log->failed.empty() || !log->ended.empty(); });
    REQUIRE_EQ(log->failed.size(), 1u);
    return log->failed[0];
  }
  static call_spec command() {
    run_spec what;
    what.program = "true";
    return {what, 1024};
  }
  fake_agent agent{host.context};
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(task_wire_tests, fixture)

// [E 302]
// [C 141]
SCENARIO("a task is probed by one command under one reservation") {
  held();
  CHECK_EQ(agent.count("reserve-execution"), 1u);
  REQUIRE_EQ(agent.count("execute"), 1u);
  const auto all = agent.requests();
  const auto execute = std::ranges::find_if(all, [](const auto& x) { return x.value("op", "") == "execute"; });
  CHECK_EQ((*execute)["body"]["command"], "cat");
  CHECK_JSON((*execute)["body"]["args"], (json{"/proc/self/status"}));
  CHECK_EQ((*execute)["token"], "pod-1");
}

// [E 305]
// [C 145]
SCENARIO("a guest that takes a connection, or the probe itself, and never answers is given up, and the claim is deleted") {
  acts_on.how.ready_timeout = std::chrono::milliseconds{1'000};
  agent.on("execute", {watch()});
  agent.on("cancel-execution", {send(fake_agent::acknowledgement("cancelled", true))});
  for (const auto* silent : {"execute", "reserve-execution"}) {
    agent.on(silent, {watch()});
    host.api.calls.clear();
    const auto start = host.time.elapsed();
    const auto got = settled(begin());
    REQUIRE_EQ(outcome(got), "PrivilegeProbe");
    CHECK_EQ(details(got)["reason"], "probe-failed");
    CHECK(got->why->message.find("did not answer") != std::string::npos);
    CHECK(got->why->message.find("1000") != std::string::npos);
    CHECK(host.time.elapsed() - start < std::chrono::seconds{4});
    CHECK_EQ(count("DELETE", "/sandboxclaims/"), 1u);
    host.made = 0;
  }
}

// [C 110]
SCENARIO("under pod-ip a guest that cannot be reached is looked for once, and the same pod changes nothing") {
  acts_on.how.agent_address = workspace::settings::address::pod_ip;
  const auto task = held();
  agent.stop_listening();
  host.api.calls.clear();
  const auto start = host.time.elapsed();
  CHECK_EQ(failure_of(task, command()).reason, "AgentDialFailed");
  CHECK_EQ(sent(), (texts{"GET pool-x-1"}));
  CHECK(host.time.elapsed() - start < 2 * guest::transport_options{}.retry_budget); // of one attempt
}

// [C 114]
SCENARIO("a token that is refused is told by every call, and nothing is tried again") {
  const auto task = held();
  for (const auto* op : {"reserve-execution", "read-file", "write-file", "terminal", "tcp-connect"})
    agent.on(op, {send({{"ok", false}, {"error", "unauthorized"}})});
  host.api.calls.clear();
  auto walk = walk_spec{};
  walk.root = "/work";
  const auto every = std::vector<std::pair<std::string, call_spec>>{
    {"reserve-execution", command()},     {"read-file", {read_spec{"f", {}, {}}, 1024}},
    {"write-file", {write_spec{"f", 0}}}, {"reserve-execution", {walk, 1024}},
    {"terminal", {shell_spec{}, 1024}},   {"tcp-connect", {forward_spec{"127.0.0.1", 80}, 1024}},
  };
  for (const auto& [op, what] : every) {
    const auto asked = agent.count(op);
    CHECK_EQ(failure_of(task, what).reason, "AgentUnauthorized");
    CHECK_EQ(agent.count(op), asked + 1);
  }
  CHECK(host.api.calls.empty());
}

// [G 245]
SCENARIO("a command whose cancellation is not answered for eight seconds takes its task with it") {
  const auto task = held();
  agent.on("execute", {watch()});
  agent.on("cancel-execution", {watch()});
  auto log = std::make_shared<sink_log>();
  const auto call = start(task, command(), log);
  until([&] { return agent.count("execute") == 2; });
  const auto cancelled = host.time.elapsed();
  mail::tell_anonymously(call, atom::cancel_v);
  until([&] { return !log->failed.empty() || !log->ended.empty(); });
  REQUIRE_EQ(log->failed.size(), 1u);
  CHECK_EQ(log->failed[0].reason, "RemoteCancellationUnknown");
  CHECK(json::parse(log->failed[0].details)["retirement"]["accepted"].get<bool>());
  CHECK(host.time.elapsed() - cancelled == 8s);
  CHECK_EQ(count("DELETE", "/sandboxclaims/"), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()
