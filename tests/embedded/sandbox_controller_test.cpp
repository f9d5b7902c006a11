#define CAF_SUITE sandbox_controller

#include "base/hash.hpp"
#include "embedded/pod_facts.hpp"
#include "embedded/sandbox_controller.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <fstream>

using namespace paddock;
using namespace paddock::embedded;
using nlohmann::json;

namespace {

/// What the real controller was seen to do.
const json& recorded() {
  static const auto all = [] {
    auto file = std::ifstream{PADDOCK_TEST_RECORDINGS "/sandbox_controller.json"};
    return json::parse(file);
  }();
  return all;
}

time_source::wall_clock::time_point at(int hour, int minute, int second) {
  using namespace std::chrono;
  return sys_days{year{2026} / 11 / 29} + hours{hour} + minutes{minute} + seconds{second};
}

std::string text(const json& x) {
  return x.dump();
}

sandbox_view view_of(const json& x) {
  auto result = sandbox_view{x.at("sandbox"), {}, {}, {}};
  if (!x.at("pod").is_null())
    result.pods.push_back(x.at("pod"));
  if (!x.at("service").is_null())
    result.service = x.at("service");
  if (!x.at("claim").is_null())
    result.claims[name_of(x.at("claim"))] = x.at("claim");
  return result;
}

sandbox_view settled(const std::string& name) {
  for (const auto& x : recorded().at("settled"))
    if (x.at("name") == name)
      return view_of(x);
  CAF_FAIL("no recording " << name);
  return {};
}

const json& written(std::size_t n) {
  return recorded().at("writes").at(n).at("body");
}

/// Whether `large` says all that `small` says; a recorded object also has what the server filled in.
bool within(const json& small, const json& large) {
  if (!small.is_object())
    return small == large;
  for (const auto& [key, value] : small.items())
    if (!large.contains(key) || !within(value, large.at(key)))
      return false;
  return true;
}

/// The recorded pod spec has defaults inside its containers, too.
bool same_pod(json ours, json theirs) {
  auto& own = ours["spec"]["containers"];
  auto& other = theirs["spec"]["containers"];
  if (own.size() != other.size())
    return false;
  for (std::size_t i = 0; i < own.size(); ++i)
    if (!within(own[i], other[i]))
      return false;
  ours["spec"].erase("containers");
  return ours["metadata"] == theirs["metadata"] && within(ours, theirs);
}

} // namespace

// [C 215] the name hash
SCENARIO("the name hash is FNV-1a in eight digits") {
  CHECK_EQ(fnv1a_hex("abc"), "1a47e90b");
  CHECK_EQ(fnv1a_hex(""), "811c9dc5");
}

SCENARIO("a Sandbox that the real controller left alone is left alone") {
  for (const auto& x : recorded().at("settled")) {
    auto name = x.at("name").get<std::string>();
    auto seen = view_of(x);
    auto plan = plan_sandbox(seen, at(18, 10, 0));
    auto report = report_sandbox(seen, plan.errors, at(18, 10, 0));
    for (const auto& write : plan.writes)
      MESSAGE(name << ": " << write.call.method << " " << write.call.path << " " << write.call.body.dump());
    if (report)
      MESSAGE(name << ": " << report->body.dump());
    CHECK_EQ(plan.writes.size(), 0u);
    CHECK_EQ(plan.errors.size(), 0u);
    CHECK(!report);
  }
}

SCENARIO("a new Sandbox gets its disk, pod, annotation and Service, then its status") {
  GIVEN("the Sandbox as it was created") {
    auto seen = sandbox_view{recorded().at("created"), {}, {}, {}};
    auto now = at(18, 3, 36);
    WHEN("one pass is made") {
      auto plan = plan_sandbox(seen, now);
      THEN("the writes are the recorded ones, in their order") {
        REQUIRE_EQ(plan.writes.size(), 4u);
        CHECK(plan.errors.empty());
        for (std::size_t i = 0; i < 4; ++i) {
          CHECK_EQ(plan.writes[i].call.path, recorded().at("writes").at(i).at("uri").get<std::string>());
          CHECK_EQ(plan.writes[i].call.method, i == 2 ? "PATCH" : "POST");
        }
        CHECK(within(plan.writes[0].call.body, written(0)));
        CHECK_EQ(text(plan.writes[0].call.body["metadata"]), text(written(0)["metadata"]));
        CHECK(same_pod(plan.writes[1].call.body, written(1)));
        CHECK_EQ(text(plan.writes[2].call.body), text(written(2)));
        CHECK(within(plan.writes[3].call.body, written(3)));
        CHECK_EQ(text(plan.writes[3].call.body["metadata"]), text(written(3)["metadata"]));
      }
      THEN("the report after their answers is the recorded one") {
        auto pod = written(1);
        pod["metadata"]["uid"] = "u";
        apply_answer(seen, plan.writes[0], written(0));
        apply_answer(seen, plan.writes[1], pod);
        apply_answer(seen, plan.writes[3], written(3));
        auto report = report_sandbox(seen, plan.errors, now);
        REQUIRE(report);
        CHECK_EQ(report->path, recorded().at("writes").at(4).at("uri").get<std::string>());
        CHECK_EQ(text(report->body), text(written(4)));
      }
    }
  }
}

SCENARIO("the reports follow the pod as recorded") {
  GIVEN("a Sandbox whose pod is scheduled, runs and gets ready") {
    auto seen = settled("sandbox-02-pending");
    auto& pod = seen.pods.at(0);
    auto take = [&](const k8s::call& report) { seen.sandbox.merge_patch(report.body); };
    pod["spec"]["nodeName"] = "node-1";
    pod["status"]["conditions"] = json::array({json{{"type", "PodScheduled"}, {"status", "True"}}});
    auto scheduled = report_sandbox(seen, {}, at(18, 3, 37));
    REQUIRE(scheduled);
    CHECK_EQ(text(scheduled->body), text(written(5)));
    take(*scheduled);
    pod["status"]["phase"] = "Running";
    pod["status"]["podIPs"] = json::array({json{{"ip", "127.0.0.1"}}});
    auto running = report_sandbox(seen, {}, at(18, 3, 38));
    REQUIRE(running);
    CHECK_EQ(text(running->body), text(written(6)));
    take(*running);
    pod["status"]["conditions"].push_back(json{{"type", "Ready"}, {"status", "True"}});
    auto ready = report_sandbox(seen, {}, at(18, 3, 38));
    REQUIRE(ready);
    CHECK_EQ(text(ready->body), text(written(7)));
  }
}

SCENARIO("a node alone is no news before Ready") {
  auto seen = settled("sandbox-02-pending");
  seen.pods.at(0)["spec"]["nodeName"] = "node-1";
  CHECK(!report_sandbox(seen, {}, at(18, 3, 37)));
}

SCENARIO("template metadata reaches the running pod, its spec does not, the ports of the Service do") {
  auto seen = settled("sandbox-05-ready");
  // Metadata.
  auto changed = settled("sandbox-06-template-metadata-changed").sandbox;
  seen.sandbox["spec"] = changed["spec"];
  seen.sandbox["metadata"]["generation"] = changed["metadata"]["generation"];
  auto plan = plan_sandbox(seen, at(18, 3, 38));
  REQUIRE_EQ(plan.writes.size(), 1u);
  CHECK_EQ(plan.writes[0].call.path, "/api/v1/namespaces/rec/pods/a");
  CHECK_EQ(text(plan.writes[0].call.body), text(written(8)));
  auto report = report_sandbox(seen, plan.errors, at(18, 3, 38));
  REQUIRE(report);
  CHECK_EQ(text(report->body), text(written(9)));
  // Spec.
  seen = settled("sandbox-06-template-metadata-changed");
  auto with_spec = settled("sandbox-07-template-spec-changed").sandbox;
  seen.sandbox["spec"] = with_spec["spec"];
  seen.sandbox["metadata"]["generation"] = with_spec["metadata"]["generation"];
  plan = plan_sandbox(seen, at(18, 3, 39));
  REQUIRE_EQ(plan.writes.size(), 1u);
  CHECK_EQ(plan.writes[0].call.path, "/api/v1/namespaces/rec/services/a");
  CHECK_EQ(text(plan.writes[0].call.body), text(written(11)));
}

SCENARIO("suspending deletes the pod and says so, and says again when it has gone") {
  GIVEN("a running Sandbox whose mode was set to Suspended") {
    auto seen = settled("sandbox-07-template-spec-changed");
    seen.sandbox = recorded().at("suspend_asked");
    WHEN("a pass is made") {
      auto plan = plan_sandbox(seen, at(18, 3, 40));
      THEN("the pod is deleted under its uid, and nothing else is") {
        REQUIRE_EQ(plan.writes.size(), 1u);
        CHECK_EQ(plan.writes[0].call.method, "DELETE");
        CHECK_EQ(plan.writes[0].call.path, "/api/v1/namespaces/rec/pods/a");
        CHECK_EQ(text_in(plan.writes[0].call.body, "/preconditions/uid"), uid_of(seen.pods.at(0)));
        CHECK(!plan.writes[0].call.body.contains("gracePeriodSeconds"));
      }
      THEN("the report is the recorded one") {
        auto report = report_sandbox(seen, plan.errors, at(18, 3, 40));
        REQUIRE(report);
        CHECK_EQ(text(report->body), text(written(14)));
      }
    }
    WHEN("the pod has gone") {
      seen = settled("sandbox-08-suspending");
      seen.pods.clear();
      auto plan = plan_sandbox(seen, at(18, 3, 40));
      THEN("the annotation goes, and the report is the recorded one") {
        REQUIRE_EQ(plan.writes.size(), 1u);
        CHECK_EQ(text(plan.writes[0].call.body), text(written(16)));
        auto report = report_sandbox(seen, plan.errors, at(18, 3, 40));
        REQUIRE(report);
        CHECK_EQ(text(report->body), text(written(17)));
      }
    }
  }
}

SCENARIO("resuming makes a new pod of the same name") {
  auto seen = settled("sandbox-09-suspended");
  seen.sandbox = recorded().at("resume_asked");
  auto plan = plan_sandbox(seen, at(18, 3, 41));
  REQUIRE_EQ(plan.writes.size(), 2u);
  CHECK(same_pod(plan.writes[0].call.body, written(19)));
  CHECK_EQ(text(plan.writes[1].call.body), text(written(20)));
  auto pod = written(19);
  apply_answer(seen, plan.writes[0], pod);
  auto report = report_sandbox(seen, plan.errors, at(18, 3, 41));
  REQUIRE(report);
  CHECK_EQ(text(report->body), text(written(21)));
}

SCENARIO("no second pod is made while the outgoing one terminates") {
  auto seen = settled("sandbox-12-resumed-while-terminating");
  REQUIRE(terminating(seen.pods.at(0)));
  CHECK_EQ(plan_sandbox(seen, at(18, 3, 42)).writes.size(), 0u);
  // It still counts as the pod.
  CHECK(!report_sandbox(seen, {}, at(18, 3, 42)));
}

SCENARIO("a pod that vanished is made again") {
  auto seen = settled("sandbox-05-ready");
  seen.pods.clear();
  auto plan = plan_sandbox(seen, at(18, 4, 0));
  REQUIRE_EQ(plan.writes.size(), 3u);
  CHECK_EQ(text(plan.writes[0].call.body), text(written(16)));
  CHECK_EQ(plan.writes[1].call.method, "POST");
  CHECK_EQ(text(plan.writes[2].call.body), text(written(2)));
}

SCENARIO("a stranger under a name is an error, an adoptable one is adopted") {
  for (const auto& x : recorded().at("refused")) {
    auto seen = view_of(x);
    // As before the first pass: no report yet.
    seen.sandbox.erase("status");
    auto plan = plan_sandbox(seen, at(18, 10, 0));
    REQUIRE_EQ(plan.errors.size(), 1u);
    CHECK_EQ("Error seen: " + plan.errors[0], text_in(condition_of(x.at("sandbox"), "Ready"), "/message"));
    auto report = report_sandbox(seen, plan.errors, at(18, 10, 0));
    REQUIRE(report);
    auto said = report->body["status"];
    auto wanted = x.at("sandbox").at("status");
    for (auto* status : {&said, &wanted})
      for (auto& condition : (*status)["conditions"])
        condition.erase("lastTransitionTime");
    CHECK_EQ(text(said), text(wanted));
  }
  // The same pod with the label.
  auto seen = view_of(recorded().at("refused").at(0));
  seen.pods.at(0)["metadata"]["labels"]["agents.x-k8s.io/adoptable"] = "true";
  auto plan = plan_sandbox(seen, at(18, 10, 0));
  CHECK_EQ(plan.errors.size(), 0u);
  REQUIRE_EQ(plan.writes.size(), 2u);
  auto pod = seen.pods.at(0);
  pod.merge_patch(plan.writes[0].call.body);
  auto adopted = settled("foreign-pod-adopted").pods.at(0);
  CHECK_EQ(text(pod["metadata"]["labels"]), text(adopted["metadata"]["labels"]));
  CHECK_EQ(text(pod["metadata"]["annotations"]), text(adopted["metadata"]["annotations"]));
  CHECK_EQ(text(pod["metadata"]["ownerReferences"]), text(adopted["metadata"]["ownerReferences"]));
}

SCENARIO("of two pods none is chosen") {
  auto seen = settled("sandbox-05-ready");
  auto second = seen.pods.at(0);
  second["metadata"]["name"] = "b";
  second["metadata"]["uid"] = "other";
  seen.pods.push_back(second);
  seen.service.reset();
  CHECK_EQ(plan_sandbox(seen, at(18, 4, 0)).writes.size(), 0u);
  auto report = report_sandbox(seen, {}, at(18, 4, 0));
  REQUIRE(report);
  auto after = seen.sandbox;
  after.merge_patch(report->body);
  CHECK_EQ(text_in(condition_of(after, "Ready"), "/reason"), "MultiplePods");
  CHECK(!after["status"].contains("podIPs"));
  // Suspending deletes neither.
  seen.sandbox["spec"]["operatingMode"] = "Suspended";
  CHECK_EQ(plan_sandbox(seen, at(18, 4, 0)).writes.size(), 0u);
  report = report_sandbox(seen, {}, at(18, 4, 0));
  REQUIRE(report);
  after = seen.sandbox;
  after.merge_patch(report->body);
  CHECK_EQ(text_in(condition_of(after, "Suspended"), "/reason"), "PodStateUnknown");
}

SCENARIO("an expired Sandbox is reported, then taken down") {
  GIVEN("a Sandbox with the policy Retain whose time has come") {
    auto seen = sandbox_view{recorded().at("expired_before"), {}, {}, {}};
    auto pod = settled("sandbox-05-ready").pods.at(0);
    pod["metadata"]["name"] = "exp";
    pod["metadata"]["ownerReferences"][0]["uid"] = uid_of(seen.sandbox);
    seen.pods.push_back(pod);
    auto now = at(18, 4, 5);
    auto take = [&](const k8s::call& report) { seen.sandbox.merge_patch(report.body); };
    WHEN("the first pass is made") {
      auto plan = plan_sandbox(seen, now);
      auto report = report_sandbox(seen, plan.errors, now);
      THEN("it only says so, and comes back at once") {
        CHECK(plan.writes.empty());
        REQUIRE(plan.revisit);
        CHECK_EQ(plan.revisit->count(), 1);
        REQUIRE(report);
        take(*report);
        auto wanted = recorded().at("expired").at(2).at("status");
        CHECK_EQ(text(seen.sandbox["status"]), text(wanted));
        // The second pass deletes the pod and keeps the conditions only; with the policy Delete the Sandbox goes, too.
        plan = plan_sandbox(seen, now);
        REQUIRE_EQ(plan.writes.size(), 1u);
        CHECK_EQ(plan.writes[0].call.method, "DELETE");
        auto deleting = seen;
        deleting.sandbox["spec"]["shutdownPolicy"] = "Delete";
        auto last = plan_sandbox(deleting, now);
        REQUIRE_EQ(last.writes.size(), 2u);
        CHECK_EQ(last.writes[1].call.path, "/apis/agents.x-k8s.io/v1beta1/namespaces/rec/sandboxes/exp");
        CHECK(!last.report);
        report = report_sandbox(seen, plan.errors, now);
        REQUIRE(report);
        take(*report);
        CHECK_EQ(text(seen.sandbox["status"]), text(recorded().at("expired").at(3).at("status")));
      }
    }
    WHEN("there is a second left") {
      auto plan = plan_sandbox(seen, at(18, 4, 4));
      THEN("it is looked at again after two") {
        REQUIRE(plan.revisit);
        CHECK_EQ(plan.revisit->count(), 2000);
      }
    }
  }
}

SCENARIO("lastTransitionTime moves with the status only") {
  auto seen = settled("sandbox-05-ready");
  seen.pods.at(0)["status"]["conditions"] =
    json::array({json{{"type", "PodScheduled"}, {"status", "True"}}, json{{"type", "Ready"}, {"status", "False"}}});
  seen.sandbox["metadata"]["generation"] = 9;
  auto report = report_sandbox(seen, {}, at(19, 0, 0));
  REQUIRE(report);
  auto after = seen.sandbox;
  after.merge_patch(report->body);
  CHECK_EQ(text_in(condition_of(after, "Ready"), "/lastTransitionTime"), "2026-11-29T19:00:00Z");
  CHECK_EQ(text_in(condition_of(after, "Suspended"), "/lastTransitionTime"), "2026-11-29T18:03:36Z");
  CHECK_EQ(number_in(condition_of(after, "Suspended"), "/observedGeneration").value_or(0), 9);
}

SCENARIO("a terminating Sandbox is left alone") {
  auto seen = settled("sandbox-05-ready");
  seen.pods.clear();
  seen.sandbox["metadata"]["deletionTimestamp"] = "2026-11-29T18:05:00Z";
  auto plan = plan_sandbox(seen, at(18, 5, 0));
  CHECK(plan.writes.empty());
  CHECK(!plan.report);
}
