#define CAF_SUITE cluster_pods

#include "embedded/pod_log.hpp"
#include "tests/embedded/cluster_world.hpp"

using namespace paddock;
using namespace paddock::embedded;

namespace {

/// A container that runs a line of shell.
json shell(const std::string& name, const std::string& line) {
  return json{{"name", name}, {"image", "none"}, {"command", json::array({"sh", "-c", line})}};
}

json pod(const std::string& name, std::vector<json> containers) {
  return json{{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", {{"name", name}, {"namespace", "default"}}},
              {"spec", {{"terminationGracePeriodSeconds", 2}, {"containers", containers}}}};
}

std::string path(const std::string& name) {
  return core + ("pods/" + name);
}

std::int64_t restarts(const json& x) {
  return number_in(x, "/status/containerStatuses/0/restartCount").value_or(0);
}

std::string content(const fs::path& file) {
  auto in = std::ifstream{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// Writes a pod's file where its probes look.
void touch(const fs::path& file) {
  std::ofstream{file} << "x";
}

json exec_probe_of(const fs::path& file) {
  return json{{"exec", {{"command", json::array({"test", "-e", file.string()})}}}, {"periodSeconds", 1}, {"failureThreshold", 1}};
}

} // namespace

SCENARIO("init containers run one after another, the containers beside each other, each with its log") {
  scratch folder;
  auto order = folder.path / "order";
  world w{options_for(folder.path / "data")};
  auto wanted = pod("p", {shell("one", "echo first-$ME; echo half; exec sleep 600"), shell("two", "exec sleep 600")});
  wanted["spec"]["containers"][0]["env"] =
    json::array({json{{"name", "ME"}, {"valueFrom", {{"fieldRef", {{"fieldPath", "metadata.name"}}}}}}});
  wanted["spec"]["initContainers"] =
    json::array({shell("a", "printf a >> " + order.string()), shell("b", "printf b >> " + order.string())});
  w.must(k8s::post(core + std::string{"pods"}, wanted));
  auto seen = w.until(path("p"), pod_ready);
  CHECK_EQ(content(order), "ab");
  CHECK_EQ(phase_of(seen), "Running");
  CHECK_EQ(number_in(seen, "/status/initContainerStatuses/1/state/terminated/exitCode").value_or(-1), 0);
  CHECK_EQ(text_in(condition_of(seen, "Initialized"), "/status"), "True");
  auto file = log_file(log_folder(folder.path / "data" / "logs", "default", "p", uid_of(seen)), "one", 0);
  auto end = deadline{w.time, 20s};
  while (content(file).find("half") == std::string::npos && !end.passed(w.time))
    test::run_flow(w.on, w.time.sleep_until(w.time.now() + 5ms));
  auto text = content(file);
  auto first = read_log_line(std::string_view{text}.substr(0, text.find('\n')));
  REQUIRE(first);
  CHECK_EQ(first->text, "first-p");
}

SCENARIO("an init container that fails is started again, and one that may not be fails the pod") {
  scratch folder;
  auto flag = folder.path / "flag";
  world w{options_for(std::nullopt)};
  auto wanted = pod("p", {shell("c", "exec sleep 600")});
  wanted["spec"]["initContainers"] = json::array({shell("i", "test -e " + flag.string())});
  w.must(k8s::post(core + std::string{"pods"}, wanted));
  auto waiting =
    w.until(path("p"), [](const json& x) { return number_in(x, "/status/initContainerStatuses/0/restartCount").value_or(0) >= 2; });
  CHECK_EQ(phase_of(waiting), "Pending");
  touch(flag);
  w.until(path("p"), pod_ready);
  wanted["metadata"]["name"] = "q";
  wanted["spec"]["restartPolicy"] = "Never";
  wanted["spec"]["initContainers"] = json::array({shell("i", "exit 4")});
  w.must(k8s::post(core + std::string{"pods"}, wanted));
  auto failed = w.until(path("q"), [](const json& x) { return phase_of(x) == "Failed"; });
  CHECK_EQ(number_in(failed, "/status/initContainerStatuses/0/state/terminated/exitCode").value_or(-1), 4);
  CHECK_EQ(text_in(failed, "/status/containerStatuses/0/state/waiting/reason"), "PodInitializing");
}

SCENARIO("readiness follows its probe, and a container whose liveness probe fails is started again") {
  scratch folder;
  auto go = folder.path / "go";
  auto healthy = folder.path / "healthy";
  touch(healthy);
  world w{options_for(std::nullopt)};
  auto c = shell("c", "exec sleep 600");
  c["readinessProbe"] = exec_probe_of(go);
  c["livenessProbe"] = exec_probe_of(healthy);
  w.must(k8s::post(core + std::string{"pods"}, pod("p", {c})));
  auto running = w.until(path("p"), [](const json& x) { return value_in(x, "/status/containerStatuses/0/started") == json(true); });
  CHECK_EQ(phase_of(running), "Running");
  CHECK(!pod_ready(running));
  // Not ready before the probe has held once, however many failures it takes to lose that.
  auto patient = shell("c", "exec sleep 600");
  patient["readinessProbe"] = exec_probe_of(go);
  patient["readinessProbe"]["failureThreshold"] = 1000;
  w.must(k8s::post(core + std::string{"pods"}, pod("q", {patient})));
  auto started = w.until(path("q"), [](const json& x) { return value_in(x, "/status/containerStatuses/0/started") == json(true); });
  CHECK(!pod_ready(started));
  touch(go);
  w.until(path("p"), pod_ready);
  w.until(path("q"), pod_ready);
  fs::remove(go);
  auto unready = w.until(path("p"), [](const json& x) { return !pod_ready(x); });
  CHECK_EQ(restarts(unready), 0);
  fs::remove(healthy);
  auto again = w.until(path("p"), [](const json& x) { return restarts(x) >= 1; });
  CHECK_EQ(number_in(again, "/status/containerStatuses/0/lastState/terminated/exitCode").value_or(0), 143);
}

SCENARIO("a startup probe holds the others back, and one that never holds ends the container") {
  scratch folder;
  auto up = folder.path / "up";
  world w{options_for(std::nullopt)};
  asio::io_context listens;
  auto server = asio::ip::tcp::acceptor{listens, {asio::ip::make_address("127.0.0.1"), 0}};
  auto c = shell("c", "exec sleep 600");
  c["startupProbe"] = exec_probe_of(up);
  c["startupProbe"]["failureThreshold"] = 2;
  // It would fail at once: nobody listens on port 1.
  c["livenessProbe"] = json{{"tcpSocket", {{"host", "127.0.0.1"}, {"port", 1}}}, {"periodSeconds", 1}, {"failureThreshold", 1}};
  c["readinessProbe"] = json{{"tcpSocket", {{"host", "127.0.0.1"}, {"port", server.local_endpoint().port()}}}, {"periodSeconds", 1}};
  w.must(k8s::post(core + std::string{"pods"}, pod("p", {c})));
  auto again = w.until(path("p"), [](const json& x) { return restarts(x) >= 1; });
  CHECK(!pod_ready(again));
  c.erase("livenessProbe");
  touch(up);
  w.must(k8s::post(core + std::string{"pods"}, pod("q", {c})));
  auto ready = w.until(path("q"), pod_ready);
  CHECK_EQ(restarts(ready), 0);
}

SCENARIO("pods that may end are Succeeded or Failed, with the code of their container") {
  world w{options_for(std::nullopt)};
  for (const auto& [name, line, policy, phase] :
       {std::tuple{"good", "exit 0", "OnFailure", "Succeeded"}, std::tuple{"bad", "exit 3", "Never", "Failed"}}) {
    auto wanted = pod(name, {shell("c", line)});
    wanted["spec"]["restartPolicy"] = policy;
    w.must(k8s::post(core + std::string{"pods"}, wanted));
    auto seen = w.until(path(name), [phase = std::string{phase}](const json& x) { return phase_of(x) == phase; });
    CHECK_EQ(number_in(seen, "/status/containerStatuses/0/state/terminated/exitCode").value_or(-1), line[5] - '0');
    CHECK(!pod_ready(seen));
    // It stays so until it is deleted, and then goes at once.
    w.must(k8s::remove(path(name)));
    w.gone(path(name));
  }
}

SCENARIO("the pre-stop hook runs before TERM, and what ignores TERM is killed") {
  scratch folder;
  auto hook = folder.path / "hook";
  world w{options_for(std::nullopt)};
  auto listens = folder.path / "listens";
  auto on_term = "test -e " + hook.string() + " && touch " + (folder.path / "after").string();
  auto c = shell("c", "trap '" + on_term + "' TERM; touch " + listens.string() + "; while :; do sleep 0.05; done");
  c["readinessProbe"] = exec_probe_of(listens);
  c["lifecycle"]["preStop"]["exec"]["command"] = json::array({"touch", hook.string()});
  auto wanted = pod("p", {c});
  wanted["spec"]["terminationGracePeriodSeconds"] = 1;
  w.must(k8s::post(core + std::string{"pods"}, wanted));
  w.until(path("p"), pod_ready);
  auto began = w.time.now();
  w.must(k8s::remove(path("p")));
  w.gone(path("p"));
  CHECK(fs::exists(hook));
  CHECK(fs::exists(folder.path / "after"));
  CHECK(w.time.now() - began >= 900ms);
}

SCENARIO("a shorter grace is heard while the pre-stop hook runs") {
  scratch folder;
  auto hook = folder.path / "hook";
  world w{options_for(std::nullopt)};
  auto c = shell("c", "exec sleep 600");
  c["lifecycle"]["preStop"]["exec"]["command"] = json::array({"sh", "-c", "touch " + hook.string() + "; exec sleep 600"});
  auto wanted = pod("p", {c});
  wanted["spec"]["terminationGracePeriodSeconds"] = 600;
  w.must(k8s::post(core + std::string{"pods"}, wanted));
  w.until(path("p"), pod_ready);
  w.must(k8s::remove(path("p")));
  auto end = deadline{w.time, 20s};
  while (!fs::exists(hook) && !end.passed(w.time))
    test::run_flow(w.on, w.time.sleep_until(w.time.now() + 5ms));
  w.must(k8s::remove(path("p"), json{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"gracePeriodSeconds", 1}}));
  w.gone(path("p"));
}

SCENARIO("what a pod asks for and cannot have is said in its status") {
  world w{options_for(std::nullopt)};
  auto wanted = pod("p", {shell("c", "exec sleep 600")});
  wanted["spec"]["containers"][0]["env"] =
    json::parse(R"([{"name": "V", "valueFrom": {"configMapKeyRef": {"name": "later", "key": "k"}}}])");
  w.must(k8s::post(core + std::string{"pods"}, wanted));
  auto waiting = w.until(path("p"), [](const json& x) {
    return text_in(x, "/status/containerStatuses/0/state/waiting/reason") == "CreateContainerConfigError";
  });
  CHECK(text_in(waiting, "/status/containerStatuses/0/state/waiting/message").find("ConfigMap later") != std::string::npos);
  auto map = json{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "later"}, {"namespace", "default"}}}};
  map["data"]["k"] = "v";
  w.must(k8s::post(core + std::string{"configmaps"}, map));
  w.until(path("p"), pod_ready);
}
