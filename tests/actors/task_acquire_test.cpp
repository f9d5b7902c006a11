#define CAF_SUITE task_acquire

// How a task sandbox is acquired ([C] 3), from the NODE to the requests: real ports, flows and actors over a scripted API server.

#include "tests/actors/task_fixture.hpp"

#include <regex>

using namespace paddock;
using namespace paddock::test;
using texts = std::vector<std::string>;

namespace {

struct fixture : task_fixture {
  /// The reads of the owned object are answered by this, counted from 1, until it declines.
  void answer_polls(std::function<std::optional<task_cluster::reply>(const k8s::call&, int)> how) {
    host.intercept = [this, how = std::move(how)](const k8s::call& x) -> std::optional<task_cluster::reply> {
      if (x.method != "GET" || !is_owned(x.path))
        return std::nullopt;
      return how(x, ++polls);
    };
  }
  static bool is_owned(const std::string& path) {
    return path.find("/sandboxclaims/namzu-task-") != std::string::npos || path.find("/sandboxes/namzu-task-") != std::string::npos;
  }
  void never_ready() {
    host.bind_claim = [](json& claim) { claim["status"] = task_cluster::ready("False", "DependenciesNotReady"); };
  }
  /// A claim that was given a Sandbox, whose pod stands like this and is not Ready.
  void never_ready_with(const json& pod_status) {
    host.bind_claim = [this, pod_status](json& claim) {
      host.bind(claim);
      claim["status"]["conditions"] = task_cluster::ready("False", "DependenciesNotReady")["conditions"];
      host.pod("pool-x-1")["status"] = pod_status;
    };
  }
  static json unschedulable() {
    return {{"phase", "Pending"}, {"conditions", {{{"type", "PodScheduled"}, {"status", "False"}, {"reason", "Unschedulable"}}}}};
  }
  static json waiting_for(const std::string& reason) {
    return {{"phase", "Pending"}, {"containerStatuses", {{{"state", {{"waiting", {{"reason", reason}}}}}}}}};
  }
  void check_acquire(const acquired& got, const std::string& reason, bool retryable) {
    REQUIRE_EQ(outcome(got), "Acquire");
    CHECK_EQ(details(got)["reason"], reason);
    CHECK_EQ(details(got)["retryable"].get<bool>(), retryable);
  }
  [[nodiscard]] std::size_t deletes() const {
    return count("DELETE", "/sandboxclaims/namzu-task-");
  }
  [[nodiscard]] std::optional<time_source::wall_clock::time_point> expiry(const json& lifecycle) const {
    return read_instant(lifecycle["shutdownTime"].get<std::string>());
  }
  [[nodiscard]] std::string dialled() const {
    return guest.calls.empty() ? std::string{} : guest.calls.front().where.host;
  }
  int polls = 0;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(task_acquire_tests, fixture)

// -- out of a pool ------------------------------------------------------------------

// [C 56]
SCENARIO("a task out of a healthy pool: the claim is made, read, and its pod is read") {
  held();
  CHECK_EQ(sent(), (texts{"POST sandboxclaims", "GET TASK", "GET pool-x-1"}));
  const auto body = posted();
  CHECK_JSON(body, (json{{"apiVersion", "extensions.agents.x-k8s.io/v1beta1"},
                         {"kind", "SandboxClaim"},
                         {"metadata", {{"name", body["metadata"]["name"]}, {"namespace", task_space}}},
                         {"spec",
                          {{"warmPoolRef", {{"name", "pool"}}},
                           {"lifecycle", {{"shutdownTime", body["spec"]["lifecycle"]["shutdownTime"]}, {"shutdownPolicy", "Delete"}}}}}}));
}

// [C 57]
SCENARIO("two tasks have two names") {
  held();
  held();
  const auto one = posted(0)["metadata"]["name"].get<std::string>();
  const auto other = posted(1)["metadata"]["name"].get<std::string>();
  CHECK(one != other);
  const auto form = std::regex{"namzu-task-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"};
  CHECK(std::regex_match(one, form));
  CHECK(std::regex_match(other, form));
}

// [C 58]
SCENARIO("a claim dies with its lease") {
  makes.how.lease = std::chrono::seconds{600};
  const auto now = host.time.wall();
  held();
  const auto text = posted()["spec"]["lifecycle"]["shutdownTime"].get<std::string>();
  CHECK(text.ends_with("Z"));
  CHECK(read_instant(text) >= now + std::chrono::seconds{595});
  CHECK(read_instant(text) <= now + std::chrono::seconds{605});
}

// [C 59]
SCENARIO("labels of the claim stand in its metadata and nowhere else; none is no member") {
  held();
  CHECK(!posted()["metadata"].contains("labels"));
  makes.how.claim_labels = {{"sandbox.namzu.ai/host-instance", "h1"}};
  held();
  CHECK_JSON(posted(1)["metadata"]["labels"], (json{{"sandbox.namzu.ai/host-instance", "h1"}}));
  CHECK(posted(1)["spec"].dump().find("host-instance") == std::string::npos);
}

// [C 60]
SCENARIO("a task has the name of the Sandbox that it was given, and its claim is what is renewed and deleted") {
  const auto task = held();
  CHECK_EQ(view_of(task).sandbox_name, "pool-x-1");
  pass(31min);
  destroy(task);
  CHECK_EQ(sent(), (texts{"POST sandboxclaims", "GET TASK", "GET pool-x-1", "PATCH TASK", "DELETE TASK"}));
}

// [C 61]
// [C 62]
SCENARIO("what is not Ready yet is read again: without conditions, unknown, and not ready") {
  answer_polls([this](const k8s::call& x, int nth) -> std::optional<task_cluster::reply> {
    auto claim = host.objects.at(x.path);
    if (nth == 1)
      claim["status"].erase("conditions");
    else if (nth == 2)
      claim["status"] = task_cluster::ready("Unknown", "");
    else if (nth == 3)
      claim["status"] = task_cluster::ready("False", "DependenciesNotReady");
    return found(claim);
  });
  CHECK_EQ(outcome(acquire()), "done");
  CHECK_EQ(polls, 4);
}

// [C 63]
SCENARIO("a Ready claim that names no Sandbox is an error at once") {
  host.bind_claim = [](json& claim) { claim["status"] = task_cluster::ready("True", "DependenciesReady"); };
  const auto got = acquire();
  CHECK_EQ(outcome(got), "NoPod");
  CHECK_EQ(count("GET", "/sandboxclaims/"), 1u);
  CHECK_EQ(deletes(), 1u);
}

// [C 64]
// [C 65]
SCENARIO("a claim that its controller has refused for good ends the acquire with the controller's words") {
  for (const auto* reason : {"WarmPoolNotFound", "TemplateNotFound", "EnvVarsInjectionRejected"}) {
    host.api.calls.clear();
    const auto before = host.time.elapsed();
    host.bind_claim = [&](json& claim) { claim["status"] = task_cluster::ready("False", reason, "it is so"); };
    const auto got = acquire();
    check_acquire(got, "claim-rejected", false);
    CHECK_EQ(details(got)["controllerReason"], reason);
    CHECK_EQ(details(got)["controllerMessage"], "it is so");
    CHECK_EQ(count("GET", "/sandboxclaims/"), 1u);
    CHECK_EQ(deletes(), 1u);
    CHECK(host.time.elapsed() == before);
  }
}

// [C 67]
SCENARIO("without labels that were asked for a refusal has no cause") {
  host.bind_claim = [](json& claim) { claim["status"] = task_cluster::ready("False", "InvalidMetadata", "no"); };
  const auto got = acquire();
  check_acquire(got, "claim-rejected", false);
  CHECK(!details(got).contains("cause"));
}

// -- polls that fail ------------------------------------------------------------------

// [C 70]
SCENARIO("a server that is busy twice is asked again, and the claim is made once") {
  answer_polls([](const k8s::call& x, int nth) { return nth <= 2 ? std::optional{status(x, 503)} : std::nullopt; });
  CHECK_EQ(outcome(acquire()), "done");
  CHECK_EQ(host.api.sent("POST").size(), 1u);
}

// [C 71]
SCENARIO("a server that asks for patience gets it, and never less than the interval") {
  for (const auto asked : {std::chrono::milliseconds{1'000}, std::chrono::milliseconds{0}}) {
    auto at = std::vector<time_source::clock::duration>{};
    polls = 0;
    answer_polls([&](const k8s::call& x, int nth) -> std::optional<task_cluster::reply> {
      at.push_back(host.time.elapsed());
      if (nth > 1)
        return std::nullopt;
      return tl::unexpected{k8s::failure{k8s::api_failure{k8s::api_failure::transport::status, x.method, x.path, 429, asked, true, ""}}};
    });
    REQUIRE_EQ(outcome(acquire()), "done");
    REQUIRE_EQ(at.size(), 2u);
    CHECK(at[1] - at[0] >= std::max(asked, acts_on.how.ready_poll));
    CHECK(at[1] - at[0] < std::chrono::milliseconds{1'100});
  }
}

// [C 72]
SCENARIO("a read that is forbidden ends the acquire") {
  answer_polls([](const k8s::call& x, int) { return std::optional{denied(x)}; });
  check_acquire(acquire(), "forbidden", false);
  CHECK_EQ(polls, 1);
  CHECK_EQ(deletes(), 1u);
}

// [C 73]
SCENARIO("a claim that is gone while it is awaited is told as it is, and is deleted all the same") {
  answer_polls([](const k8s::call& x, int) { return std::optional{gone(x)}; });
  CHECK_EQ(outcome(acquire()), "AlreadyGone");
  CHECK_EQ(deletes(), 1u);
}

// [C 74]
SCENARIO("a server that cannot be reached until the time is up is named, beneath the timeout") {
  answer_polls([](const k8s::call& x, int) { return std::optional{unreachable(x, false)}; });
  const auto got = acquire();
  check_acquire(got, "api-unreachable", true);
  const auto cause = details(got)["cause"];
  CHECK_EQ(cause["reason"], "ReadinessPollTimeout");
  CHECK(cause["message"].get<std::string>().find("never became Ready within 60000 ms") != std::string::npos);
  CHECK_EQ(cause["details"]["cause"]["reason"], "Api");
}

// [C 75]
SCENARIO("a read that went well wipes the failure before it") {
  never_ready();
  answer_polls([](const k8s::call& x, int nth) { return nth < 5 ? std::optional{unreachable(x, false)} : std::nullopt; });
  const auto got = acquire();
  check_acquire(got, "not-ready", true);
  CHECK(!details(got)["cause"]["details"].contains("cause"));
}

// -- why it is not Ready ----------------------------------------------------------------

// [C 76]
SCENARIO("a pod that fits on no node is why: it is read before the claim is deleted") {
  never_ready_with(unschedulable());
  check_acquire(acquire(), "capacity", true);
  const auto all = sent();
  CHECK_EQ(all[all.size() - 2], "GET pool-x-1");
  CHECK_EQ(all.back(), "DELETE TASK");
}

// [C 77]
SCENARIO("an image that cannot be pulled is why") {
  for (const auto* reason : {"ErrImagePull", "ImagePullBackOff", "ImageInspectError", "RegistryUnavailable"}) {
    host.made = 0;
    never_ready_with(waiting_for(reason));
    check_acquire(acquire(), "image-pull", false);
  }
}

// [C 78]
SCENARIO("without a pod that is known none is read") {
  never_ready();
  check_acquire(acquire(), "not-ready", true);
  CHECK_EQ(count("GET", "/pods"), 0u);
}

// [C 79]
SCENARIO("a look at the pod that is not answered is given up after a second") {
  never_ready_with(unschedulable());
  auto at = time_source::clock::duration{};
  host.intercept = [&](const k8s::call& x) -> std::optional<task_cluster::reply> {
    if (x.path != k8s::pods_path(task_space, "pool-x-1"))
      return std::nullopt;
    at = host.time.elapsed();
    return no_answer(x);
  };
  check_acquire(acquire(), "not-ready", true);
  CHECK(host.time.elapsed() - at == std::chrono::seconds{1});
}

// [C 80]
SCENARIO("what the pod says outranks a server that failed at the end") {
  never_ready_with(unschedulable());
  answer_polls([](const k8s::call& x, int nth) { return nth > 3 ? std::optional{unreachable(x, false)} : std::nullopt; });
  check_acquire(acquire(), "capacity", true);
}

// -- the POST -----------------------------------------------------------------------------

// [C 81]
SCENARIO("a POST that may have been carried out is never repeated, and what it may have made is deleted") {
  host.intercept = [this](const k8s::call& x) -> std::optional<task_cluster::reply> {
    if (x.method != "POST")
      return std::nullopt;
    static_cast<void>(host.act(x));
    return status(x, 500);
  };
  check_acquire(acquire(), "api-unreachable", true);
  CHECK_EQ(host.api.sent("POST").size(), 1u);
  CHECK_EQ(deletes(), 1u);
  CHECK_EQ(host.api.sent("DELETE")[0].path, k8s::claims_path(task_space, posted()["metadata"]["name"].get<std::string>()));
}

// [C 82]
SCENARIO("a POST that is never answered is out of its own time, or out of that of the whole acquire") {
  host.intercept = [this](const k8s::call& x) { return x.method == "POST" ? no_answer(x) : std::nullopt; };
  check_acquire(acquire(), "api-timeout", true);
  acts_on.how.ready_timeout = std::chrono::milliseconds{2'000};
  check_acquire(acquire(), "not-ready", true);
  CHECK_EQ(host.api.sent("POST").size(), 2u);
  CHECK_EQ(deletes(), 2u);
}

// [C 83]
// [C 84]
SCENARIO("a POST that is refused is told so, and its object is deleted in case it stands") {
  auto code = 403u;
  host.intercept = [&](const k8s::call& x) -> std::optional<task_cluster::reply> {
    if (x.method != "POST")
      return std::nullopt;
    return code == 403 ? denied(x) : status(x, code);
  };
  check_acquire(acquire(), "forbidden", false);
  CHECK_EQ(deletes(), 1u);
  code = 400;
  const auto got = acquire();
  CHECK_EQ(outcome(got), "Api");
  CHECK_EQ(details(got)["status"].get<int>(), 400);
  CHECK_EQ(deletes(), 2u);
}

// -- cleaning up --------------------------------------------------------------------------

// [C 85]
// [C 86]
SCENARIO("how the clean-up goes changes nothing, and it takes a second at most") {
  never_ready();
  auto how = 0u;
  host.intercept = [&](const k8s::call& x) -> std::optional<task_cluster::reply> {
    if (x.method != "DELETE")
      return std::nullopt;
    return how == 0 ? no_answer(x) : how == 500 ? std::optional{status(x, how)} : std::optional{gone(x, how)};
  };
  const auto before = host.time.elapsed();
  check_acquire(acquire(), "not-ready", true);
  CHECK(host.time.elapsed() - before <= acts_on.how.ready_timeout + std::chrono::milliseconds{1'050});
  for (const auto code : {404u, 410u, 500u}) {
    how = code;
    check_acquire(acquire(), "not-ready", true);
  }
  CHECK_EQ(deletes(), 4u);
}

// [C 87]
SCENARIO("who withdraws while the claim is awaited is told so, and it is deleted") {
  never_ready();
  const auto got = begin();
  turn();
  CHECK_EQ(count("GET", "/sandboxclaims/"), 1u);
  caf::anon_send_exit(holder, caf::exit_reason::user_shutdown);
  settle();
  REQUIRE(got->why);
  CHECK_EQ(got->why->reason, "Cancelled");
  CHECK_EQ(deletes(), 1u);
}

// [C 88]
SCENARIO("a holder that is gone already makes no request") {
  node();
  holder = make_holder();
  caf::anon_send_exit(holder, caf::exit_reason::user_shutdown);
  sched.run();
  const auto got = ask<task_actor>(node(), atom::acquire_v, task_spec{}, holder, caf::timespan{1min});
  settle();
  CHECK(got->why);
  CHECK(host.api.calls.empty());
}

// [C 89]
SCENARIO("an API server that never answers is given up within the time, and a clean-up") {
  acts_on.how.ready_timeout = std::chrono::milliseconds{100};
  host.intercept = [this](const k8s::call& x) { return no_answer(x); };
  check_acquire(acquire(), "not-ready", true);
  CHECK(host.time.elapsed() <= std::chrono::milliseconds{1'150});
}

// -- a Sandbox of its own -------------------------------------------------------------------

// [C 90]
SCENARIO("without a pool the template is read first, and the Sandbox runs, has a Service and an expiry") {
  makes.how.pool.reset();
  held();
  CHECK_EQ(sent(), (texts{"GET namzu-task", "POST sandboxes", "GET TASK", "GET TASK"}));
  const auto spec = posted()["spec"];
  CHECK_EQ(spec["operatingMode"], "Running");
  CHECK(spec["service"].get<bool>());
  CHECK_EQ(spec["shutdownPolicy"], "Delete");
  CHECK(expiry(spec) > host.time.wall());
  CHECK_JSON(spec["podTemplate"]["spec"], host.objects[k8s::template_path(task_space, "namzu-task")]["spec"]["podTemplate"]["spec"]);
}

// [C 91]
SCENARIO("annotations of the template survive, and the template's own label wins over one of that name") {
  auto& labels = host.objects[k8s::template_path(task_space, "namzu-task")]["spec"]["podTemplate"]["metadata"]["labels"];
  labels["sandbox.namzu.ai/template"] = "another";
  held(direct());
  const auto metadata = posted()["spec"]["podTemplate"]["metadata"];
  CHECK_JSON(metadata["annotations"], (json{{"a", "b"}}));
  CHECK_JSON(metadata["labels"], (json{{"app", "x"}, {"sandbox.namzu.ai/template", "namzu-task"}}));
}

// [C 92]
SCENARIO("disks of the template are taken as they are, and none is no member") {
  held(direct());
  CHECK(!posted()["spec"].contains("volumeClaimTemplates"));
  const auto disks = json::parse(R"([{"metadata":{"name":"d"},"spec":{"x":1}}])");
  host.objects[k8s::template_path(task_space, "namzu-task")]["spec"]["volumeClaimTemplates"] = disks;
  held(direct());
  CHECK_JSON(posted(1)["spec"]["volumeClaimTemplates"], disks);
}

// [C 93]
// [C 94]
// [C 95]
SCENARIO("a template without a pod, one that may not be read, and one that is not there make nothing") {
  auto& from = host.objects[k8s::template_path(task_space, "namzu-task")];
  from["spec"]["podTemplate"].erase("spec");
  const auto unusable = acquire(direct());
  CHECK_EQ(outcome(unusable), "TemplateUnusable");
  CHECK(unusable->why->message.find("namzu-task") != std::string::npos);
  auto forbidden = true;
  host.intercept = [&](const k8s::call& x) { return std::optional{forbidden ? denied(x) : gone(x)}; };
  check_acquire(acquire(direct()), "forbidden", false);
  forbidden = false;
  CHECK_EQ(outcome(acquire(direct())), "AlreadyGone");
  CHECK_EQ(host.writes(), 0u);
}

// [C 96]
SCENARIO("a template that is edited between two tasks is what the second is made of") {
  held(direct());
  host.objects[k8s::template_path(task_space, "namzu-task")]["spec"]["podTemplate"]["spec"]["containers"][0]["image"] = "edited";
  held(direct());
  CHECK_EQ(posted(1)["spec"]["podTemplate"]["spec"]["containers"][0]["image"], "edited");
}

// [C 4]
SCENARIO("a runtime class that the pods of a pool cannot be given is refused before anything is asked") {
  acts_on.how.runtime_class = "kata";
  CHECK_EQ(outcome(acquire()), "IllegalArgument");
  CHECK(host.api.calls.empty());
}

// [C 5]
SCENARIO("a runtime class is laid over the pod of the template, and nothing else of it changes") {
  acts_on.how.runtime_class = "kata";
  held(direct());
  auto want = host.objects[k8s::template_path(task_space, "namzu-task")]["spec"]["podTemplate"]["spec"];
  want["runtimeClassName"] = "kata";
  CHECK_JSON(posted()["spec"]["podTemplate"]["spec"], want);
}

// -- the pod ----------------------------------------------------------------------------------

// [C 98]
SCENARIO("a pod whose deletion timestamp is null lives; one that is being deleted or has ended does not") {
  auto spoil = std::function<void(json&)>{[](json& pod) { pod["metadata"]["deletionTimestamp"] = nullptr; }};
  host.bind_claim = [&](json& claim) {
    host.bind(claim);
    spoil(host.pod(claim["status"]["sandbox"]["name"]));
  };
  CHECK_EQ(outcome(acquire()), "done");
  for (const auto& how : std::vector<std::function<void(json&)>>{
         [](json& pod) { pod["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z"; },
         [](json& pod) { pod["status"]["phase"] = "Succeeded"; },
         [](json& pod) { pod["status"]["phase"] = "Failed"; },
       }) {
    host.objects.erase(k8s::pods_path(task_space, "pool-x-" + std::to_string(host.made)));
    spoil = how;
    CHECK_EQ(outcome(acquire()), "NoPod");
  }
}

// [C 99]
SCENARIO("a pod that is not there under its name is found by the selector of its Sandbox") {
  host.bind_claim = [this](json& claim) {
    host.bind(claim);
    auto pod = host.objects.extract(k8s::pods_path(task_space, "pool-x-1"));
    host.pod("other") = pod.mapped();
  };
  held();
  CHECK_EQ(sent(), (texts{"POST sandboxclaims", "GET TASK", "GET pool-x-1", "GET pool-x-1", "GET pods?labelSelector=hash%3D1"}));
  CHECK_EQ(guest.calls.at(0).where.token.reveal(), "pod-1");
}

// [C 100]
SCENARIO("without a live pod anywhere the acquire fails, and the claim is deleted") {
  host.bind_claim = [this](json& claim) {
    host.bind(claim);
    host.objects.erase(k8s::pods_path(task_space, "pool-x-1"));
  };
  CHECK_EQ(outcome(acquire()), "NoPod");
  CHECK_EQ(deletes(), 1u);
}

// [C 101]
SCENARIO("a Service's name is dialled, else the first address, else nothing is") {
  auto spoil = [](json&) {};
  auto erase_name = [](json& x) { x["status"]["sandbox"].erase("serviceFQDN"); };
  auto erase_both = [](json& x) { x["status"]["sandbox"] = {{"name", x["status"]["sandbox"]["name"]}}; };
  auto how = std::function<void(json&)>{spoil};
  host.bind_claim = [&](json& claim) {
    host.bind(claim);
    how(claim);
  };
  held();
  CHECK_EQ(dialled(), "pool-x-1.svc");
  guest.calls.clear();
  how = erase_name;
  held();
  CHECK_EQ(dialled(), "10.0.0.9");
  how = erase_both;
  CHECK_EQ(outcome(acquire()), "NoPod");
}

// [C 102]
// [C 103]
SCENARIO("under pod-ip a pod without an address is waited for, and the first of several is taken") {
  acts_on.how.agent_address = workspace::settings::address::pod_ip;
  auto reads = 0;
  host.intercept = [&](const k8s::call& x) -> std::optional<task_cluster::reply> {
    if (x.path != k8s::pods_path(task_space, "pool-x-1"))
      return std::nullopt;
    auto pod = host.pod("pool-x-1");
    pod["status"].erase("podIP");
    if (++reads > 3) {
      pod["status"]["podIP"] = "";
      pod["status"]["podIPs"] = {{{"ip", "10.1.0.7"}}, {{"ip", "fd00::7"}}};
    }
    return found(pod);
  };
  held();
  CHECK_EQ(reads, 4);
  CHECK_EQ(dialled(), "10.1.0.7");
}

// [C 104]
SCENARIO("under pod-ip the addresses of the Sandbox are never taken instead") {
  acts_on.how.agent_address = workspace::settings::address::pod_ip;
  host.bind_claim = [this](json& claim) {
    host.bind(claim);
    host.pod("pool-x-1")["status"].erase("podIP");
  };
  const auto got = acquire();
  REQUIRE_EQ(outcome(got), "NoPod");
  CHECK(got->why->message.find("status.podIP") != std::string::npos);
  CHECK(guest.calls.empty());
}

// [C 105]
SCENARIO("by a Service's name and without labels the pod is read once") {
  held();
  CHECK_EQ(count("GET", "/pods/"), 1u);
}

// [C 106]
SCENARIO("a pod that is labelled a moment later is waited for") {
  configure_egress([](egress::egress_config& x) { x.profile = "none"; });
  host.labels_pods = false;
  const auto start = host.time.elapsed();
  host.intercept = [&](const k8s::call& x) -> std::optional<task_cluster::reply> {
    if (x.path == k8s::pods_path(task_space, "pool-x-1") && host.time.elapsed() - start >= std::chrono::milliseconds{50})
      host.pod("pool-x-1")["metadata"]["labels"][of->how.profile_label_key] = "none";
    return std::nullopt;
  };
  CHECK_EQ(outcome(acquire()), "done");
}

CAF_TEST_FIXTURE_SCOPE_END()
