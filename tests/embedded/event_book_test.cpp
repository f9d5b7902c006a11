#define CAF_SUITE event_book

#include "embedded/claim_controller.hpp"
#include "embedded/event_book.hpp"
#include "embedded/pod_happenings.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::embedded;
using nlohmann::json;
using namespace std::chrono_literals;

namespace {

using instant = event_book::instant;

const instant noon{std::chrono::seconds{1'795'953'600}};

json pod(const std::string& name) {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}, {"namespace", "n"}, {"uid", "u-" + name}, {"resourceVersion", "7"}}}};
}

container_state container(const std::string& name, container_state::at now = container_state::at::waiting) {
  container_state out;
  out.name = name;
  out.now = now;
  return out;
}

std::vector<std::string> reasons(const pod_state& before, const pod_state& after) {
  std::vector<std::string> out;
  for (const auto& x : happenings_between(before, after))
    out.push_back((x.warning ? "! " : "") + x.reason + " " + x.field);
  return out;
}

} // namespace

SCENARIO("what is told again raises the count of one Event") {
  event_book book{{"kubelet", "node-1"}};
  const auto first = book.tell(pod("a"), {false, "Started", "Container started", "spec.containers{main}"}, noon);
  REQUIRE(first);
  CHECK_EQ(first->call.method, "POST");
  CHECK_EQ(first->call.path, "/api/v1/namespaces/n/events");
  const auto& event = first->call.body;
  CHECK(event["involvedObject"] == json::parse(R"({"apiVersion": "v1", "kind": "Pod", "name": "a", "namespace": "n", "uid": "u-a",
    "resourceVersion": "7", "fieldPath": "spec.containers{main}"})"));
  CHECK(event["source"] == json::parse(R"({"component": "kubelet", "host": "node-1"})"));
  CHECK(event["type"] == "Normal");
  CHECK(event["count"] == 1);
  const auto again = book.tell(pod("a"), {false, "Started", "Container started", "spec.containers{main}"}, noon + 5s);
  REQUIRE(again);
  CHECK(again->call
        == k8s::merge_patch("/api/v1/namespaces/n/events/" + event["metadata"]["name"].get<std::string>(),
                            {{"count", 2}, {"lastTimestamp", "2026-11-29T12:00:05Z"}}));
  // Another message, another subject: another Event.
  const auto other = book.tell(pod("a"), {true, "Started", "Container restarted", "spec.containers{main}"}, noon);
  const auto elsewhere = book.tell(pod("b"), {false, "Started", "Container started", "spec.containers{main}"}, noon);
  REQUIRE(other && elsewhere);
  CHECK(other->call.body["type"] == "Warning");
  CHECK_EQ(elsewhere->call.method, "POST");
  CHECK(other->call.body["metadata"]["name"] != event["metadata"]["name"]);
}

SCENARIO("a message that is too long is told as far as whole characters go") {
  event_book book{{"kubelet"}};
  const auto told = book.tell(pod("a"), {true, "Failed", std::string(1023, 'x') + "\xc3\xbc and more"}, noon);
  REQUIRE(told);
  CHECK_EQ(told->call.body["message"].get<std::string>(), std::string(1023, 'x'));
}

SCENARIO("an Event that has gone is made anew") {
  event_book book{{"kubelet"}};
  const auto first = book.tell(pod("a"), {false, "Started", "x"}, noon);
  REQUIRE(first);
  book.forget(first->key);
  CHECK_EQ(book.tell(pod("a"), {false, "Started", "x"}, noon)->call.method, "POST");
}

SCENARIO("one subject is told of 25 times at once, and then once in five minutes") {
  event_book book{{"kubelet"}};
  const auto told = [&](instant at) { return book.tell(pod("a"), {true, "BackOff", "x"}, at).has_value(); };
  for (int i = 0; i < 25; ++i)
    CHECK(told(noon));
  CHECK(!told(noon));
  CHECK(!told(noon + 299s));
  CHECK(told(noon + 301s));
  CHECK(!told(noon + 302s));
  CHECK(book.tell(pod("b"), {true, "BackOff", "x"}, noon).has_value());
}

SCENARIO("what is remembered is bounded, and what is no object is not told of") {
  event_book book{{"kubelet"}};
  CHECK(!book.tell(json::object(), {false, "Started", "x"}, noon));
  for (int i = 0; i < 1030; ++i)
    CHECK(book.tell(pod(std::to_string(i)), {false, "Started", "x"}, noon).has_value());
  CHECK_EQ(book.tell(pod("0"), {false, "Started", "x"}, noon)->call.method, "POST");
  CHECK_EQ(book.tell(pod("1029"), {false, "Started", "x"}, noon)->call.method, "PATCH");
}

SCENARIO("a kubelet tells of containers that start, fail, are put off, and do not answer") {
  pod_state before;
  before.containers = {container("main")};
  auto started = before;
  started.containers = {container("main", container_state::at::running)};
  using words = std::vector<std::string>;
  CHECK_EQ(reasons(before, started), (words{"Started spec.containers{main}"}));
  CHECK_EQ(reasons(started, started), words{});
  auto ready = started;
  ready.containers[0].ready = true;
  CHECK_EQ(reasons(started, ready), words{});
  CHECK_EQ(reasons(ready, started), (words{"! Unhealthy spec.containers{main}"}));
  auto off = before;
  off.containers[0].reason = "CrashLoopBackOff";
  off.containers[0].restarts = 1;
  CHECK_EQ(reasons(started, off), (words{"! BackOff spec.containers{main}"}));
  auto again = started;
  again.containers[0].restarts = 1;
  CHECK_EQ(reasons(off, again), (words{"Started spec.containers{main}"}));
  auto wrong = before;
  wrong.containers[0].reason = "CreateContainerConfigError";
  CHECK_EQ(reasons(before, wrong), (words{"! Failed spec.containers{main}"}));
  CHECK_EQ(reasons(wrong, wrong), words{});
  auto creating = before;
  creating.containers[0].reason = "ContainerCreating";
  CHECK_EQ(reasons(before, creating), words{});
}

SCENARIO("a claim that cannot be bound says why") {
  const auto told = happening_of(claim_state{"WarmPoolNotFound", "SandboxWarmPool \"p\" not found", false, std::nullopt});
  REQUIRE(told);
  CHECK(told->warning);
  CHECK_EQ(told->reason, "WarmPoolNotFound");
  CHECK(!happening_of(claim_state{}));
  CHECK(!happening_of(claim_state{"ClaimExpired", "x", false, std::nullopt})->warning);
}
