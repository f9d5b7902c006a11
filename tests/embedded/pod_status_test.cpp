#define CAF_SUITE pod_status

#include "embedded/pod_facts.hpp"
#include "embedded/pod_log.hpp"
#include "embedded/pod_status.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::embedded;
using nlohmann::json;

namespace {

json pod() {
  return json::parse(R"({
    "metadata": {"name": "w", "namespace": "n", "uid": "u-1"},
    "spec": {"restartPolicy": "Always", "containers": [{"name": "agent", "image": "i:1"}, {"name": "side", "image": "i:2"}]}})");
}

time_source::wall_clock::time_point at(int second) {
  using namespace std::chrono;
  return sys_days{year{2026} / 11 / 29} + hours{12} + seconds{second};
}

void run(container_state& x, int second) {
  x.now = container_state::at::running;
  x.began = at(second);
  x.reason.clear();
}

void end(container_state& x, process_end how, bool final) {
  x.now = final ? container_state::at::terminated : container_state::at::waiting;
  x.ready = x.started = false;
  x.last = how;
  x.last_began = x.began;
  x.last_ended = at(9);
  x.restarts += final ? 0 : 1;
  x.reason = final ? "" : "CrashLoopBackOff";
}

std::string status(const json& x, const char* type) {
  return text_in(condition_of(x, type), "/status");
}

} // namespace

SCENARIO("the reports of a pod follow its containers from waiting to ready, and to one that is started again") {
  auto x = pod();
  auto state = found_state(x);
  state.host_address = "127.0.0.1";
  auto first = report_pod(x, state, at(0));
  CHECK_EQ(first.path, "/api/v1/namespaces/n/pods/w/status");
  CHECK_EQ(text_in(first.body, "/metadata/uid"), "u-1");
  x.merge_patch(first.body);
  CHECK_EQ(phase_of(x), "Pending");
  CHECK_EQ(text_in(x, "/status/containerStatuses/1/state/waiting/reason"), "PodInitializing");
  CHECK(pod_ips(x).empty());
  // One runs, the other does not yet: pending.
  state.address = "127.64.1.2";
  run(state.containers[0], 1);
  x.merge_patch(report_pod(x, state, at(1)).body);
  CHECK_EQ(phase_of(x), "Pending");
  run(state.containers[1], 1);
  x.merge_patch(report_pod(x, state, at(1)).body);
  CHECK_EQ(phase_of(x), "Running");
  CHECK_EQ(pod_ips(x), std::vector<std::string>{"127.64.1.2"});
  CHECK(!pod_ready(x));
  CHECK_EQ(text_in(condition_of(x, "Ready"), "/message"), "containers with unready status: [agent side]");
  // Ready when each is; the instants of what did not change stay.
  state.containers[0].ready = state.containers[0].started = true;
  x.merge_patch(report_pod(x, state, at(2)).body);
  CHECK(!pod_ready(x));
  state.containers[1].ready = state.containers[1].started = true;
  x.merge_patch(report_pod(x, state, at(3)).body);
  CHECK(pod_ready(x));
  CHECK_EQ(text_in(condition_of(x, "Ready"), "/lastTransitionTime"), "2026-11-29T12:00:03Z");
  CHECK_EQ(text_in(condition_of(x, "PodScheduled"), "/lastTransitionTime"), "2026-11-29T12:00:00Z");
  CHECK_EQ(text_in(x, "/status/containerStatuses/0/state/running/startedAt"), "2026-11-29T12:00:01Z");
  // Killed: not ready, and how it ended.
  end(state.containers[0], {0, 9}, false);
  x.merge_patch(report_pod(x, state, at(9)).body);
  CHECK(!pod_ready(x));
  CHECK_EQ(phase_of(x), "Running");
  CHECK_EQ(number_in(x, "/status/containerStatuses/0/restartCount").value_or(-1), 1);
  CHECK_EQ(number_in(x, "/status/containerStatuses/0/lastState/terminated/exitCode").value_or(-1), 137);
  CHECK_EQ(text_in(x, "/status/containerStatuses/0/state/waiting/reason"), "CrashLoopBackOff");
}

SCENARIO("conditions stand in the kubelet's order, and those of others stay") {
  auto x = pod();
  x["status"]["conditions"] = json::array({json{{"type", "example.org/gate"}, {"status", "True"}}});
  auto told = report_pod(x, found_state(x), at(0)).body["status"]["conditions"];
  std::vector<std::string> types;
  for (const auto& c : told)
    types.push_back(c["type"]);
  CHECK_EQ(types, (std::vector<std::string>{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled",
                                            "example.org/gate"}));
}

SCENARIO("the phase of a pod whose containers have ended depends on how, and on its policy") {
  auto x = pod();
  auto state = found_state(x);
  CHECK(starts_again(x, {0, 0}));
  CHECK(starts_again(x, {1, 0}));
  x["spec"]["restartPolicy"] = "OnFailure";
  CHECK(!starts_again(x, {0, 0}));
  CHECK(starts_again(x, {0, 9}));
  x["spec"]["restartPolicy"] = "Never";
  CHECK(!starts_again(x, {1, 0}));
  end(state.containers[0], {0, 0}, true);
  run(state.containers[1], 1);
  CHECK_EQ(phase_of_state(x, state), "Running");
  end(state.containers[1], {0, 0}, true);
  CHECK_EQ(phase_of_state(x, state), "Succeeded");
  x.merge_patch(report_pod(x, state, at(9)).body);
  CHECK_EQ(text_in(condition_of(x, "Ready"), "/reason"), "PodCompleted");
  CHECK_EQ(status(x, "Initialized"), "True");
  end(state.containers[1], {3, 0}, true);
  CHECK_EQ(phase_of_state(x, state), "Failed");
}

SCENARIO("init containers keep a pod pending, and one that fails for good fails it") {
  auto x = pod();
  x["spec"]["initContainers"] = json::parse(R"([{"name": "a", "image": "i"}, {"name": "b", "image": "i", "restartPolicy": "Always"}])");
  auto state = found_state(x);
  REQUIRE_EQ(state.init.size(), 2u);
  run(state.init[0], 1);
  auto told = x;
  told.merge_patch(report_pod(x, state, at(1)).body);
  CHECK_EQ(phase_of(told), "Pending");
  CHECK_EQ(status(told, "Initialized"), "False");
  CHECK_EQ(text_in(condition_of(told, "Initialized"), "/message"), "containers with incomplete status: [a b]");
  end(state.init[0], {0, 0}, true);
  CHECK(init_done(x, state.init[0]));
  CHECK(!init_done(x, state.init[1]));
  run(state.init[1], 2);
  state.init[1].started = true;
  CHECK(init_done(x, state.init[1]));
  end(state.init[0], {1, 0}, true);
  CHECK(!init_done(x, state.init[0]));
  CHECK_EQ(phase_of_state(x, state), "Failed");
}

SCENARIO("a kubelet that finds a pod starts its containers again, if the policy lets it") {
  auto x = pod();
  x["status"]["containerStatuses"] = json::parse(R"([
    {"name": "agent", "restartCount": 2, "state": {"running": {}}},
    {"name": "side", "restartCount": 4, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}])");
  auto state = found_state(x);
  CHECK_EQ(state.containers[0].restarts, 3);
  CHECK(state.containers[0].now == container_state::at::waiting);
  CHECK_EQ(state.containers[1].restarts, 4);
  // What ran under another policy was killed with its kubelet.
  x["spec"]["restartPolicy"] = "Never";
  state = found_state(x);
  CHECK(state.containers[0].now == container_state::at::terminated);
  CHECK((state.containers[0].last == process_end{0, 9}));
  x["spec"]["restartPolicy"] = "OnFailure";
  x["status"]["containerStatuses"][0]["state"] = json::parse(R"({"terminated": {"exitCode": 0}})");
  state = found_state(x);
  CHECK(state.containers[0].now == container_state::at::terminated);
  CHECK((state.containers[0].last == process_end{0, 0}));
}

SCENARIO("a log has one line an output line, with its instant, and long ones in parts") {
  log_lines lines;
  CHECK_EQ(lines.take("one\ntw", at(1)), "2026-11-29T12:00:01.000Z stdout F one\n");
  CHECK_EQ(lines.take("o\n\n", at(2)), "2026-11-29T12:00:02.000Z stdout F two\n2026-11-29T12:00:02.000Z stdout F \n");
  auto part = lines.take(std::string(16 * 1024 + 3, 'x'), at(3));
  auto read = read_log_line(std::string_view{part}.substr(0, part.size() - 1));
  REQUIRE(read);
  CHECK(!read->complete);
  CHECK_EQ(read->text.size(), 16u * 1024);
  CHECK_EQ(read->instant, "2026-11-29T12:00:03.000Z");
  CHECK_EQ(lines.finish(at(4)), "2026-11-29T12:00:04.000Z stdout F xxx\n");
  CHECK_EQ(lines.finish(at(4)), "");
  CHECK(!read_log_line("half a"));
  CHECK_EQ(log_file(log_folder("/logs", "n", "w", "u"), "agent", 2).string(), "/logs/n_w_u/agent/2.log");
}

SCENARIO("a pod that is never restarted does not run its init containers again") {
  auto x = pod();
  x["spec"]["restartPolicy"] = "Never";
  x["spec"]["initContainers"] = json::parse(R"([{"name": "a", "image": "i"}, {"name": "b", "image": "i"}, {"name": "c", "image": "i"},
                                                {"name": "d", "image": "i", "restartPolicy": "Always"}])");
  x["status"]["initContainerStatuses"] = json::parse(R"([
    {"name": "a", "restartCount": 0, "state": {"terminated": {"exitCode": 0}}},
    {"name": "b", "restartCount": 0, "state": {"running": {}}},
    {"name": "c", "restartCount": 99999999999, "state": {"waiting": {}}},
    {"name": "d", "restartCount": 0, "state": {"running": {}}}])");
  auto state = found_state(x);
  CHECK(state.init[0].now == container_state::at::terminated);
  CHECK(init_done(x, state.init[0]));
  CHECK(state.init[1].now == container_state::at::terminated);
  CHECK((state.init[1].last == process_end{0, 9}));
  CHECK(state.init[2].now == container_state::at::waiting);
  CHECK_GE(state.init[2].restarts, 0);
  CHECK(state.init[3].now == container_state::at::waiting);
  CHECK_EQ(phase_of_state(x, state), "Failed");
  // Any other pod's begin anew with it.
  x["spec"]["restartPolicy"] = "OnFailure";
  CHECK(found_state(x).init[0].now == container_state::at::waiting);
}
