#define CAF_SUITE cluster

#include "tests/embedded/cluster_world.hpp"

using namespace paddock;
using namespace paddock::embedded;

// [C 201] Sandbox POST
SCENARIO("a Sandbox gets a pod, its disks and a Service, and a guest answers in the pod") {
  GIVEN("a cluster") {
    world w{options_for(std::nullopt)};
    WHEN("a Sandbox is posted") {
      w.must(k8s::post(sandboxes, sandbox("a")));
      auto seen = w.ready("a");
      THEN("the children carry its name, hash and owner") {
        auto pod = w.get(core + std::string{"pods/a"});
        auto service = w.get(core + std::string{"services/a"});
        auto claim = w.get(core + std::string{"persistentvolumeclaims/workspace-a"});
        for (const auto* child : {&pod, &service, &claim}) {
          CHECK_EQ(label_of(*child, "agents.x-k8s.io/sandbox-name-hash"), "e40c292c");
          CHECK(ours(seen, *child));
        }
        CHECK_EQ(annotation_of(seen, "agents.x-k8s.io/pod-name"), "a");
        CHECK_EQ(text_in(seen, "/status/selector"), "agents.x-k8s.io/sandbox-name-hash=e40c292c");
        CHECK_EQ(text_in(seen, "/status/serviceFQDN"), "a.default.svc.cluster.local");
        CHECK_EQ(text_in(pod, "/spec/nodeName"), "embedded");
        REQUIRE(text_in(pod, "/status/podIP").starts_with("127."));
        CHECK_EQ(text_in(seen, "/status/podIPs/0"), text_in(pod, "/status/podIP"));
        CHECK(!w.boot_of(pod).empty());
        // Only with its token.
        auto where = w.endpoint_of(pod);
        where.token = secret{"another"};
        auto got = test::run_flow(w.on, w.guests().write_file(where, "probe", "x", deadline{w.time, 10s}));
        REQUIRE(!got);
        CHECK_EQ(guest::reason_of(got.error()), "AgentUnauthorized");
      }
    }
  }
}

// [C 202] suspend
SCENARIO("suspending ends the pod and keeps the rest") {
  GIVEN("a ready Sandbox whose pod something holds back") {
    world w{options_for(std::nullopt)};
    w.must(k8s::post(sandboxes, sandbox("a")));
    w.ready("a");
    auto pods = core + std::string{"pods/a"};
    auto services = core + std::string{"services/a"};
    auto claims = core + std::string{"persistentvolumeclaims/workspace-a"};
    auto pod = w.get(pods);
    auto service = w.get(services);
    auto claim = w.get(claims);
    auto process = guest_of(uid_of(pod));
    REQUIRE(process != 0);
    w.must(k8s::merge_patch(pods, finalizers(json::array({"example.org/hold"}))));
    WHEN("its mode becomes Suspended") {
      w.must(k8s::merge_patch(sandbox_path("a"), mode("Suspended")));
      auto seen = w.until(sandbox_path("a"), reason("Ready", "SandboxSuspended"));
      THEN("the pod terminates, and the conditions say so") {
        CHECK_EQ(text_in(condition_of(seen, "Ready"), "/status"), "False");
        CHECK_EQ(text_in(condition_of(seen, "Suspended"), "/status"), "False");
        CHECK_EQ(text_in(condition_of(seen, "Suspended"), "/reason"), "PodTerminating");
        auto going = w.until(pods, [](const json& x) { return terminating(x); });
        CHECK_EQ(uid_of(going), uid_of(pod));
        // The process ends though the object is held.
        CHECK(w.ends(process));
      }
    }
    WHEN("the pod is let go") {
      w.must(k8s::merge_patch(pods, finalizers(nullptr)));
      auto seen = w.until(sandbox_path("a"), reason("Suspended", "PodTerminated"));
      THEN("it is suspended, and Service and disk are the same") {
        CHECK_EQ(text_in(condition_of(seen, "Suspended"), "/status"), "True");
        CHECK(w.get(pods).is_null());
        CHECK_EQ(uid_of(w.get(services)), uid_of(service));
        CHECK_EQ(uid_of(w.get(claims)), uid_of(claim));
      }
    }
  }
}

// [C 203] resume, and resume while the old pod is held terminating
SCENARIO("resuming makes another pod, and never a second one") {
  GIVEN("a suspended Sandbox") {
    world w{options_for(std::nullopt)};
    w.must(k8s::post(sandboxes, sandbox("a")));
    w.ready("a");
    auto pods = core + std::string{"pods/a"};
    auto first = w.get(pods);
    w.must(k8s::merge_patch(sandbox_path("a"), mode("Suspended")));
    w.until(sandbox_path("a"), reason("Suspended", "PodTerminated"));
    WHEN("its mode becomes Running") {
      w.must(k8s::merge_patch(sandbox_path("a"), mode("Running")));
      auto seen = w.ready("a");
      THEN("there is a pod of the same name and another uid") {
        auto next = w.get(pods);
        CHECK_EQ(name_of(next), "a");
        CHECK_NE(uid_of(next), uid_of(first));
        CHECK_EQ(text_in(condition_of(seen, "Suspended"), "/status"), "False");
        CHECK_EQ(text_in(condition_of(seen, "Suspended"), "/reason"), "NotSuspended");
      }
    }
    WHEN("it is suspended and resumed while something holds the pod") {
      auto held = w.get(pods);
      w.must(k8s::merge_patch(pods, finalizers(json::array({"example.org/hold"}))));
      w.must(k8s::merge_patch(sandbox_path("a"), mode("Suspended")));
      w.until(pods, [](const json& x) { return terminating(x); });
      w.until(sandbox_path("a"), reason("Suspended", "PodTerminating"));
      w.must(k8s::merge_patch(sandbox_path("a"), mode("Running")));
      w.until(sandbox_path("a"), reason("Suspended", "NotSuspended"));
      THEN("the held one stays the only one, and another comes when it has gone") {
        auto list = w.get(core + std::string{"pods"});
        REQUIRE_EQ(list["items"].size(), 1u);
        CHECK_EQ(uid_of(list["items"][0]), uid_of(held));
        w.must(k8s::merge_patch(pods, finalizers(nullptr)));
        auto next = w.until(pods, [&](const json& x) { return !x.is_null() && uid_of(x) != uid_of(held); });
        w.until(pods, [](const json& x) { return pod_ready(x); });
        CHECK_EQ(uid_of(w.get(pods)), uid_of(next));
        w.ready("a");
      }
    }
  }
}

// [C 205] a changed pod template
SCENARIO("a changed template reaches the labels of the running pod and the spec of the next") {
  world w{options_for(std::nullopt)};
  w.must(k8s::post(sandboxes, sandbox("a")));
  w.ready("a");
  auto pods = core + std::string{"pods/a"};
  auto before = w.get(pods);
  auto changed = sandbox("a")["spec"]["podTemplate"];
  changed["metadata"]["labels"] = json{{"app", "other"}, {"extra", "1"}};
  changed["spec"]["containers"][0]["image"] = "guest:2";
  w.must(k8s::merge_patch(sandbox_path("a"), json{{"spec", {{"podTemplate", changed}}}}));
  auto after = w.until(pods, [](const json& x) { return label_of(x, "extra") == "1"; });
  CHECK_EQ(label_of(after, "app"), "other");
  CHECK_EQ(uid_of(after), uid_of(before));
  CHECK_EQ(after["spec"].dump(), before["spec"].dump());
  w.must(k8s::merge_patch(sandbox_path("a"), mode("Suspended")));
  w.gone(pods);
  w.must(k8s::merge_patch(sandbox_path("a"), mode("Running")));
  w.ready("a");
  CHECK_EQ(text_in(w.get(pods), "/spec/containers/0/image"), "guest:2");
}

SCENARIO("a guest that is killed is a container that is started again") {
  GIVEN("a ready pod") {
    world w{options_for(std::nullopt)};
    w.must(k8s::post(sandboxes, sandbox("a")));
    w.ready("a");
    auto pods = core + std::string{"pods/a"};
    auto pod = w.get(pods);
    auto boot = w.boot_of(pod);
    auto process = guest_of(uid_of(pod));
    REQUIRE(process != 0);
    WHEN("its process is killed") {
      ::kill(process, SIGKILL);
      THEN("the pod is not ready, then ready with another process under its uid and address") {
        // Either is seen in the pod's conditions or has been over before the first look; the count says that it happened.
        auto again = w.until(
          pods, [](const json& x) { return number_in(x, "/status/containerStatuses/0/restartCount").value_or(0) == 1 && pod_ready(x); });
        CHECK_EQ(uid_of(again), uid_of(pod));
        CHECK_EQ(text_in(again, "/status/podIP"), text_in(pod, "/status/podIP"));
        CHECK_EQ(number_in(again, "/status/containerStatuses/0/lastState/terminated/exitCode").value_or(0), 137);
        CHECK_NE(w.boot_of(again), boot);
        CHECK_NE(guest_of(uid_of(pod)), process);
        w.ready("a");
      }
    }
  }
}

SCENARIO("deleting a Sandbox takes its pod, Service, disk and the disk's folder away") {
  scratch folder;
  world w{options_for(folder.path)};
  w.must(k8s::post(sandboxes, sandbox("a")));
  w.must(k8s::post(sandboxes, sandbox("b")));
  w.ready("a");
  w.ready("b");
  auto claims = core + std::string{"persistentvolumeclaims/workspace-a"};
  auto disk = folder.path / "disks" / uid_of(w.get(claims));
  auto other = folder.path / "disks" / uid_of(w.get(core + std::string{"persistentvolumeclaims/workspace-b"}));
  auto process = guest_of(uid_of(w.get(core + std::string{"pods/a"})));
  REQUIRE(fs::is_directory(disk));
  w.must(k8s::remove(sandbox_path("a")));
  w.gone(sandbox_path("a"));
  w.gone(core + std::string{"pods/a"});
  w.gone(core + std::string{"services/a"});
  w.gone(claims);
  auto end = deadline{w.time, 20s};
  while (fs::exists(disk) && !end.passed(w.time))
    test::run_flow(w.on, w.time.sleep_until(w.time.now() + 5ms));
  CHECK(!fs::exists(disk));
  CHECK(::kill(process, 0) != 0);
  // Nothing of the other.
  CHECK(fs::exists(other));
  CHECK(pod_ready(w.get(core + std::string{"pods/b"})));
}

SCENARIO("an object made under an owner that is gone is collected") {
  world w{options_for(std::nullopt)};
  auto owner = w.must(k8s::post(sandboxes, sandbox("a")));
  w.must(k8s::remove(sandbox_path("a")));
  w.gone(core + std::string{"persistentvolumeclaims/workspace-a"});
  auto late = json{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "late"}, {"namespace", "default"}}}};
  late["metadata"]["ownerReferences"] =
    json::array({json{{"apiVersion", "agents.x-k8s.io/v1beta1"}, {"kind", "Sandbox"}, {"name", "a"}, {"uid", uid_of(owner)}}});
  w.must(k8s::post(core + std::string{"configmaps"}, late));
  w.gone(core + std::string{"configmaps/late"});
  // One whose owner stands stays: the collector has looked at it when a later one has gone.
  auto stands = w.must(k8s::post(sandboxes, sandbox("b")));
  auto kept = late;
  kept["metadata"]["name"] = "kept";
  kept["metadata"]["ownerReferences"][0]["name"] = "b";
  kept["metadata"]["ownerReferences"][0]["uid"] = uid_of(stands);
  w.must(k8s::post(core + std::string{"configmaps"}, kept));
  w.must(k8s::post(core + std::string{"configmaps"}, late));
  w.gone(core + std::string{"configmaps/late"});
  CHECK(!w.get(core + std::string{"configmaps/kept"}).is_null());
}

SCENARIO("a foreground deletion does not wait for what another owner keeps") {
  world w{options_for(std::nullopt)};
  const auto maps = core + std::string{"configmaps"};
  auto child = json{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "child"}}}};
  for (const auto* name : {"goes", "stays"}) {
    const auto owner = w.must(k8s::post(maps, json{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}}}));
    child["metadata"]["ownerReferences"].push_back(
      json{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", name}, {"uid", uid_of(owner)}, {"blockOwnerDeletion", true}});
  }
  w.must(k8s::post(maps, child));
  w.must(k8s::remove(maps + "/goes", json{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", "Foreground"}}));
  w.gone(maps + "/goes");
  const auto left = w.get(maps + "/child")["metadata"]["ownerReferences"];
  REQUIRE_EQ(left.size(), 1u);
  CHECK_EQ(text_in(left[0], "/name"), "stays");
}

SCENARIO("with a folder everything is there again after a restart") {
  scratch folder;
  auto pods = core + std::string{"pods/a"};
  auto uid = std::string{};
  auto process = pid_t{0};
  {
    world w{options_for(folder.path)};
    w.must(k8s::post(sandboxes, sandbox("a")));
    w.ready("a");
    auto pod = w.get(pods);
    uid = uid_of(pod);
    process = guest_of(uid);
    auto put = test::run_flow(w.on, w.guests().write_file(w.endpoint_of(pod), "kept", "text", deadline{w.time, 10s}));
    REQUIRE(put);
    WHEN("a second cluster is started on it") {
      auto second = start_cluster(options_for(folder.path));
      THEN("it is refused") {
        REQUIRE(!second);
        CHECK(second.error().find(folder.path.string()) != std::string::npos);
        CHECK(second.error().find("another cluster") != std::string::npos);
      }
    }
  }
  CHECK(::kill(process, 0) != 0);
  world w{options_for(folder.path)};
  auto again =
    w.until(pods, [](const json& x) { return pod_ready(x) && number_in(x, "/status/containerStatuses/0/restartCount").value_or(0) == 1; });
  CHECK_EQ(uid_of(again), uid);
  auto got = test::run_flow(w.on, w.guests().read_file(w.endpoint_of(again), "kept", 100, deadline{w.time, 10s}));
  REQUIRE(got);
  CHECK_EQ(got->bytes, "text");
  CHECK_EQ(fs::status(folder.path).permissions(), fs::perms::owner_all);
}

SCENARIO("every cluster has the default template, and leaves one that is there alone") {
  scratch folder;
  auto path = read_default_template("default").path;
  {
    world w{options_for(folder.path)};
    auto made = w.get(path);
    CHECK_EQ(text_in(made, "/spec/volumeClaimTemplates/0/spec/volumeMode"), "Block");
    CHECK_EQ(text_in(made, "/spec/podTemplate/spec/containers/0/name"), "agent");
    CHECK_EQ(number_in(made, "/spec/podTemplate/spec/terminationGracePeriodSeconds").value_or(0), 5);
    w.must(k8s::merge_patch(path, json{{"metadata", {{"labels", {{"mine", "yes"}}}}}}));
    CHECK(w.it().kubeconfig().find(w.it().token().reveal()) != std::string::npos);
  }
  world w{options_for(folder.path)};
  CHECK_EQ(label_of(w.get(path), "mine"), "yes");
}

SCENARIO("a pod whose program does not stay is started again and again, more and more slowly") {
  auto how = options_for(std::nullopt);
  how.guest_program = "/bin/false";
  world w{std::move(how)};
  w.must(k8s::post(sandboxes, sandbox("a")));
  auto pod = w.until(core + std::string{"pods/a"},
                     [](const json& x) { return number_in(x, "/status/containerStatuses/0/restartCount").value_or(0) >= 3; });
  CHECK(!pod_ready(pod));
  CHECK_EQ(number_in(pod, "/status/containerStatuses/0/lastState/terminated/exitCode").value_or(0), 1);
  CHECK_EQ(text_in(condition_of(w.get(sandbox_path("a")), "Ready"), "/status"), "False");
  // Suspending ends it at any time.
  w.must(k8s::merge_patch(sandbox_path("a"), mode("Suspended")));
  w.gone(core + std::string{"pods/a"});
}

SCENARIO("a cluster that cannot start says what is wrong") {
  auto says = [](cluster_options how, const std::string& part) {
    auto got = start_cluster(std::move(how));
    if (got)
      return false;
    MESSAGE(got.error());
    return got.error().find(part) != std::string::npos;
  };
  scratch folder;
  auto how = options_for(std::nullopt);
  how.guest_program = folder.path / "missing";
  CHECK(says(how, "missing"));
  how.guest_program = PADDOCK_TEST_RECORDINGS "/sandbox_controller.json";
  CHECK(says(how, "cannot be executed"));
  how = options_for(std::nullopt);
  how.address = "0.0.0.0";
  CHECK(says(how, "0.0.0.0 is not a loopback address"));
  how = options_for(folder.path / "file" / "below");
  std::ofstream{folder.path / "file"} << "x";
  CHECK(says(how, (folder.path / "file").string()));
  // A port that somebody has.
  asio::io_context on;
  auto taken = asio::ip::tcp::acceptor{on, {asio::ip::make_address("127.0.0.1"), 0}};
  how = options_for(std::nullopt);
  how.port = taken.local_endpoint().port();
  CHECK(says(how, std::to_string(how.port)));
}

SCENARIO("a cluster stops in time with its guests, and calls back once for each who asked") {
  auto how = options_for(std::nullopt);
  auto started = start_cluster(how);
  REQUIRE(started);
  asio::io_context on;
  real_flow_time time;
  auto exchange = make_http_exchange(time);
  auto client = control_client{*exchange, time, (*started)->server(), (*started)->token()};
  for (const auto* name : {"a", "b", "c"})
    REQUIRE(test::run_flow(on, client.send(k8s::post(sandboxes, sandbox(name)))));
  auto first = std::promise<void>{};
  auto second = std::promise<void>{};
  auto began = time.now();
  (*started)->stop([&] { first.set_value(); });
  (*started)->stop([&] { second.set_value(); });
  first.get_future().wait();
  second.get_future().wait();
  CHECK(time.now() - began < 4s);
}
