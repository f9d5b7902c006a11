#define CAF_SUITE pod_request

#include "embedded/pod_facts.hpp"
#include "embedded/pod_request.hpp"
#include "embedded/quantity.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <limits>

using namespace paddock::embedded;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const auto place = pod_place{"node-1", "127.0.0.1", "127.64.1.2"};

json pod() {
  return json::parse(R"({
    "metadata": {"name": "w", "namespace": "n", "uid": "u-1", "labels": {"app": "box"}, "annotations": {"a/b": "c"}},
    "spec": {
      "nodeName": "node-1", "restartPolicy": "Always",
      "volumes": [{"name": "scratch", "emptyDir": {}}, {"name": "other", "persistentVolumeClaim": {"claimName": "other-w"}},
                  {"name": "workspace", "persistentVolumeClaim": {"claimName": "workspace-w"}}],
      "containers": [{"name": "agent", "image": "i:1", "ports": [{"containerPort": 2048}],
                      "volumeDevices": [{"name": "workspace", "devicePath": "/dev/w"}]}]
    }})");
}

json& agent(json& x) {
  return x["spec"]["containers"][0];
}

json field(const std::string& name, const std::string& path) {
  return json{{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}};
}

using data = std::vector<std::pair<std::string, std::string>>;

std::optional<data> nothing(const data_reference&) {
  return std::nullopt;
}

std::optional<data> something(const data_reference& x) {
  if (x.name != "known")
    return std::nullopt;
  return x.secret ? data{{"key", "hidden"}} : data{{"key", "plain"}, {"more", "m"}};
}

std::string value(const container_request& of, const std::string& name) {
  for (const auto& [key, x] : of.environment)
    if (key == name)
      return x;
  return "(none)";
}

std::string why(const json& x, const data_lookup& look = nothing) {
  auto got = read_pod_request(x, place, look);
  return got ? std::string{} : got.error();
}

bool says(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

} // namespace

SCENARIO("a container without a command is the guest, on its first port and the disk of its device") {
  auto got = read_pod_request(pod(), place, nothing);
  REQUIRE(got);
  REQUIRE_EQ(got->containers.size(), 1u);
  CHECK(got->containers[0].guest);
  CHECK_EQ(got->port, 2048);
  CHECK_EQ(got->claim.value_or(""), "workspace-w");
  // Without a device or mount the first claim, without a claim none.
  auto x = pod();
  agent(x).erase("volumeDevices");
  CHECK_EQ(read_pod_request(x, place, nothing)->claim.value_or(""), "other-w");
  x["spec"].erase("volumes");
  agent(x).erase("ports");
  CHECK(!read_pod_request(x, place, nothing)->claim);
  CHECK_EQ(read_pod_request(x, place, nothing)->port, 1024);
}

SCENARIO("the container that takes the bind token is the guest, whatever else stands in the pod") {
  auto x = pod();
  auto side = json{{"name", "side"}, {"command", json::array({"/bin/sleep"})}, {"args", json::array({"$(HOW_LONG)"})}};
  side["env"] = json::array({json{{"name", "HOW_LONG"}, {"value", "9"}}});
  x["spec"]["containers"].insert(x["spec"]["containers"].begin(), side);
  auto got = read_pod_request(x, place, nothing);
  REQUIRE(got);
  CHECK(!got->containers[0].guest);
  CHECK_EQ(got->containers[0].command, (std::vector<std::string>{"/bin/sleep", "9"}));
  CHECK(got->containers[1].guest);
  CHECK_EQ(got->port, 2048);
  // Its command is the image's affair, and there is no image.
  x["spec"]["containers"][1]["command"] = json::array({"/entrypoint"});
  CHECK(!read_pod_request(x, place, nothing)->containers[1].guest);
  x["spec"]["containers"][1]["env"] = json::array({field("NAMZU_AGENT_BIND_TOKEN", "metadata.uid")});
  CHECK(read_pod_request(x, place, nothing)->containers[1].guest);
}

SCENARIO("init containers come first, and one that always restarts stays") {
  auto x = pod();
  x["spec"]["initContainers"] = json::parse(R"([{"name": "a", "command": ["/bin/true"]},
                                                {"name": "b", "command": ["/bin/sleep", "1"], "restartPolicy": "Always"}])");
  auto got = read_pod_request(x, place, nothing);
  REQUIRE(got);
  REQUIRE_EQ(got->init.size(), 2u);
  CHECK(got->init[0].init);
  CHECK(!got->init[0].stays);
  CHECK(!got->init[1].init);
  CHECK(got->init[1].stays);
}

SCENARIO("the downward API tells a container of its pod") {
  auto x = pod();
  agent(x)["resources"]["limits"] = json{{"cpu", "1500m"}, {"memory", "1Gi"}};
  auto limit = json{{"name", "MEM"}};
  limit["valueFrom"]["resourceFieldRef"] = json{{"resource", "limits.memory"}, {"divisor", "1Mi"}};
  auto cpu = json{{"name", "CPU"}};
  cpu["valueFrom"]["resourceFieldRef"] = json{{"resource", "limits.cpu"}};
  agent(x)["env"] = json::array({field("UID", "metadata.uid"), field("NAME", "metadata.name"), field("NS", "metadata.namespace"),
                                 field("APP", "metadata.labels['app']"), field("NOTE", "metadata.annotations['a/b']"),
                                 field("NODE", "spec.nodeName"), field("IP", "status.podIP"), field("HOST", "status.hostIP"), limit, cpu,
                                 json{{"name", "ALL"}, {"value", "$(NAME).$(NS) $$(NAME) $(NOBODY) $"}}});
  auto got = read_pod_request(x, place, nothing);
  REQUIRE(got);
  const auto& it = got->containers[0];
  CHECK_EQ(value(it, "UID"), "u-1");
  CHECK_EQ(value(it, "APP"), "box");
  CHECK_EQ(value(it, "NOTE"), "c");
  CHECK_EQ(value(it, "NODE"), "node-1");
  CHECK_EQ(value(it, "IP"), "127.64.1.2");
  CHECK_EQ(value(it, "HOST"), "127.0.0.1");
  CHECK_EQ(value(it, "MEM"), "1024");
  CHECK_EQ(value(it, "CPU"), "2");
  CHECK_EQ(value(it, "ALL"), "w.n $(NAME) $(NOBODY) $");
  CHECK(it.cpu_limit == 1.5);
  CHECK(it.memory_limit == 1024.0 * 1024 * 1024);
}

SCENARIO("values of ConfigMaps and Secrets are taken, and a missing one is named without a value") {
  auto x = pod();
  agent(x)["envFrom"] = json::parse(R"([{"prefix": "P_", "configMapRef": {"name": "known"}}])");
  agent(x)["env"] = json::parse(R"([{"name": "S", "valueFrom": {"secretKeyRef": {"name": "known", "key": "key"}}},
                                    {"name": "P_more", "value": "mine"},
                                    {"name": "O", "valueFrom": {"configMapKeyRef": {"name": "absent", "key": "k", "optional": true}}}])");
  CHECK_EQ(data_needed(x).size(), 3u);
  auto got = read_pod_request(x, place, something);
  REQUIRE(got);
  CHECK_EQ(value(got->containers[0], "P_key"), "plain");
  CHECK_EQ(value(got->containers[0], "P_more"), "mine");
  CHECK_EQ(value(got->containers[0], "S"), "hidden");
  CHECK_EQ(value(got->containers[0], "O"), "(none)");
  CHECK(says(why(x), "ConfigMap known does not exist"));
  agent(x).erase("envFrom");
  CHECK(says(why(x), "Secret known has no key key"));
}

SCENARIO("what the kubelet cannot give is refused by name") {
  auto x = pod();
  x["spec"]["containers"] = json::array();
  CHECK(says(why(x), "no container"));
  x = pod();
  agent(x)["ports"][0]["containerPort"] = 80;
  CHECK(says(why(x), "80"));
  x = pod();
  agent(x)["env"] = json::array({field("X", "spec.nothing")});
  CHECK(says(why(x), "spec.nothing"));
  x = pod();
  x["spec"]["containers"].push_back(json{{"name", "second"}});
  CHECK(says(why(x), "second"));
  x = pod();
  agent(x)["readinessProbe"] = json{{"grpc", {{"port", 1}}}};
  CHECK(says(why(x), "readinessProbe of container agent"));
  agent(x)["readinessProbe"] = json{{"tcpSocket", {{"port", "web"}}}};
  CHECK(says(why(x), "port"));
}

SCENARIO("probes are read with their defaults") {
  auto x = pod();
  agent(x)["ports"][0]["name"] = "web";
  agent(x)["readinessProbe"] = json::parse(R"({"httpGet": {"port": "web", "path": "ok"}, "successThreshold": 2})");
  agent(x)["livenessProbe"] = json::parse(R"({"exec": {"command": ["/bin/true"]}, "periodSeconds": 2, "timeoutSeconds": 3})");
  agent(x)["startupProbe"] = json::parse(R"({"tcpSocket": {"port": 2048}, "initialDelaySeconds": 1, "failureThreshold": 9})");
  auto got = read_pod_request(x, place, nothing);
  REQUIRE(got);
  const auto& it = got->containers[0];
  REQUIRE(it.readiness);
  auto http = std::get<http_probe>(it.readiness->how);
  CHECK_EQ(http.port, 2048);
  CHECK_EQ(http.path, "/ok");
  CHECK_EQ(it.readiness->successes, 2);
  CHECK_EQ(it.readiness->failures, 3);
  CHECK(it.readiness->period == 10s);
  CHECK(it.readiness->timeout == 1s);
  CHECK(it.liveness->period == 2s);
  CHECK(it.liveness->timeout == 3s);
  CHECK(it.startup->initial_delay == 1s);
  CHECK_EQ(it.startup->failures, 9);
}

SCENARIO("a probe decides after enough answers in a row") {
  auto count = probe_count{2, 3};
  CHECK(!count.saw(true));
  CHECK(count.saw(true) == true);
  CHECK(!count.saw(false));
  CHECK(!count.saw(false));
  CHECK(!count.saw(true));
  CHECK(!count.saw(false));
  CHECK(!count.saw(false));
  CHECK(count.saw(false) == false);
  CHECK(count.saw(false) == false);
}

SCENARIO("quantities are read in all their forms") {
  CHECK(read_quantity("100m") == 0.1);
  CHECK(read_quantity("1.5") == 1.5);
  CHECK(read_quantity("2Gi") == 2.0 * 1024 * 1024 * 1024);
  CHECK(read_quantity("1e3") == 1000.0);
  CHECK(read_quantity("3k") == 3000.0);
  CHECK(!read_quantity(""));
  CHECK(!read_quantity("x"));
  CHECK(!read_quantity("1GiB"));
}

SCENARIO("a key is taken as it is, and what is no pointer points at nothing") {
  auto x = json::parse(R"({"a~b": {"c/d": 1}, "list": [5], "big": 18446744073709551615})");
  CHECK(value_in(x, "/a~b/c~1d") == json(1));
  CHECK(value_in(x, "/a~0b/c~1d") == json(1));
  CHECK(value_in(x, "list").is_null());
  CHECK(value_in(x, "/list/99999999999999999999999").is_null());
  CHECK(value_in(x, "/list/-").is_null());
  CHECK(value_in(x, "/list/0") == json(5));
  CHECK(member_in(x, "/a~b", "c/d") == json(1));
  CHECK(member_in(x, "/list", "0").is_null());
  CHECK_EQ(number_in(x, "/big").value_or(0), std::numeric_limits<std::int64_t>::max());
  // A resource whose name has a slash, and one that is no name at all.
  auto asking = pod();
  agent(asking)["resources"]["limits"] = json{{"example.org/device", 2}};
  auto variable = json{{"name", "N"}};
  variable["valueFrom"]["resourceFieldRef"]["resource"] = "limits.example.org/device";
  agent(asking)["env"] = json::array({variable});
  CHECK_EQ(value(read_pod_request(asking, place, nothing)->containers[0], "N"), "2");
  agent(asking)["env"][0]["valueFrom"]["resourceFieldRef"]["resource"] = "limits.~x";
  CHECK_EQ(value(read_pod_request(asking, place, nothing)->containers[0], "N"), "0");
}

SCENARIO("a name that could lead out of a folder is refused before it becomes part of a path") {
  CHECK(!unfit_name(pod()));
  for (const auto* name : {"../..", "..", ".", "", "a/b", "/etc", "A", "a.b"}) {
    auto x = pod();
    agent(x)["name"] = name;
    CHECK(says(why(x), "is not a DNS label"));
    x = pod();
    x["spec"]["initContainers"] = json::array({json{{"name", name}, {"command", json::array({"true"})}}});
    CHECK(says(why(x), "is not a DNS label"));
  }
  for (const auto* key : {"name", "namespace", "uid"}) {
    auto x = pod();
    x["metadata"][key] = "../x";
    CHECK(unfit_name(x));
  }
  // Of a request's path, too.
  auto x = pod();
  agent(x)["envFrom"] = json::parse(R"([{"secretRef": {"name": "../../other/secrets/known"}}])");
  CHECK(data_needed(x).empty());
  CHECK(says(why(x, something), "does not exist"));
}

SCENARIO("a pod of another shape than a pod's is refused or read as empty, and nothing is thrown") {
  for (const auto* shape : {R"({"spec": "x"})", R"({"spec": {"containers": ["x"]}})", R"({"spec": {"containers": {"name": "a"}}})",
                            R"({"metadata": [], "spec": {"containers": [{"name": 1}]}})"})
    CHECK(!why(json::parse(shape)).empty());
  auto x = pod();
  agent(x)["env"] = "x";
  agent(x)["ports"] = json{{"containerPort", 1}};
  agent(x)["resources"] = json::array({1});
  agent(x)["readinessProbe"] = json::array();
  x["spec"]["volumes"] = "x";
  CHECK_EQ(why(x), "");
}

SCENARIO("the name of a port is that of a number, not of another name") {
  auto x = pod();
  agent(x)["ports"][0] = json{{"name", "web"}, {"containerPort", "web"}};
  agent(x)["readinessProbe"] = json{{"tcpSocket", {{"port", "web"}}}};
  CHECK(says(why(x), "its port is not one"));
  agent(x)["readinessProbe"] = json{{"httpGet", {{"port", 70000}}}};
  CHECK(says(why(x), "its port is not one"));
}

SCENARIO("an amount that no machine has is no number out of range") {
  for (const auto* text : {"inf", "nan", "-inf", "1e400", "1e308E", "infinity"})
    CHECK(!read_quantity(text));
  CHECK(read_quantity("1Ei") == 1024.0 * 1024 * 1024 * 1024 * 1024 * 1024);
  CHECK(quantity_in(json{{"cpu", "-3"}}, "cpu") == 0.0);
  CHECK(quantity_in(json{{"cpu", 2}}, "cpu") == 2.0);
  CHECK(quantity_in(json{{"cpu", json::array()}}, "cpu") == 0.0);
  CHECK(quantity_in(json("x"), "cpu") == 0.0);
  auto x = pod();
  agent(x)["resources"]["limits"] = json{{"memory", "1e300"}};
  auto variable = json{{"name", "N"}};
  variable["valueFrom"]["resourceFieldRef"]["resource"] = "limits.memory";
  agent(x)["env"] = json::array({variable});
  CHECK_EQ(value(read_pod_request(x, place, nothing)->containers[0], "N"), "9223372036854774784");
}
