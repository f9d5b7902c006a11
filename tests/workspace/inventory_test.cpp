#define CAF_SUITE inventory

#include "tests/support/run_flow.hpp"
#include "tests/support/scripted_api.hpp"
#include "tests/support/scripted_guest.hpp"
#include "workspace/flows/inventory.hpp"
#include "workspace/inventory.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::workspace;
using nlohmann::json;

namespace {

constexpr auto path = "/apis/agents.x-k8s.io/v1beta1/namespaces/spaces/sandboxes";

json sandbox(const std::string& name, const char* mode = "Running") {
  return {{"metadata", {{"name", name}, {"uid", "uid of " + name}, {"creationTimestamp", "2026-01-02T03:04:05Z"}}},
          {"spec", {{"operatingMode", mode}, {"podTemplate", {{"metadata", {{"labels", {{"sandbox.namzu.ai/template", "small"}}}}}}}}}};
}
json annotated(json object, const std::string& key, json value) {
  object["metadata"]["annotations"]["sandbox.namzu.ai/" + key] = std::move(value);
  return object;
}

struct fixture {
  boost::asio::io_context lane;
  test::manual_time time;
  test::scripted_api api;
  test::scripted_guest guests;
  settings how = [] {
    auto x = settings{};
    x.name_space = "spaces";
    x.template_name = "small";
    return x;
  }();
  deadline until{time, std::chrono::seconds{5}};

  result<std::vector<summary>> list_now() {
    auto on = world{api, guests, time, how};
    return test::run_flow(lane, list(on, until));
  }
  result<summary> get_now(std::string_view which) {
    auto on = world{api, guests, time, how};
    return test::run_flow(lane, get(on, *id::parse(which), until));
  }
};

} // namespace

BEGIN_FIXTURE_SCOPE(fixture)

// [W 133] a list
SCENARIO("a list is one request and shows the workspaces only") {
  GIVEN("a running and a suspended workspace, a task sandbox, and a prefixed object without the label") {
    auto asleep = annotated(sandbox("namzu-ws-asleep", "Suspended"), "operating-mode-changed-at", "2026-02-03T04:05:06.789Z");
    auto stranger = sandbox("namzu-ws-stranger");
    stranger["spec"]["podTemplate"]["metadata"]["labels"].erase("sandbox.namzu.ai/template");
    api.then(test::found({{"items", {sandbox("namzu-ws-awake"), sandbox("namzu-task-1"), stranger, asleep}}}));
    WHEN("they are listed") {
      const auto got = list_now();
      THEN("there are two rows, after exactly one GET, and no guest is dialled") {
        CHECK_EQ(api.trace(), std::vector<std::string>{std::string{"GET "} + path});
        CHECK(api.calls.front() == k8s::get(path));
        CHECK(guests.calls.empty());
        REQUIRE(got);
        REQUIRE_EQ(got->size(), 2u);
        const auto& first = got->at(0);
        CHECK_EQ(first.workspace, "awake");
        CHECK_EQ(first.sandbox_name, "namzu-ws-awake");
        CHECK_EQ(first.template_name, "small");
        CHECK_EQ(first.mode, "Running");
        CHECK_EQ(first.created_at.value_or(""), "2026-01-02T03:04:05Z");
        CHECK(!first.mode_changed_at);
        CHECK_EQ(first.sandbox, sandbox_uid{"uid of namzu-ws-awake"});
        const auto& second = got->at(1);
        CHECK_EQ(second.workspace, "asleep");
        CHECK_EQ(second.mode, "Suspended");
        CHECK_EQ(second.mode_changed_at.value_or(""), "2026-02-03T04:05:06.789Z");
      }
    }
  }
}

// [W 135] the holder epoch of a row
SCENARIO("the holder epoch of a row is what the annotation says, whatever epoch the host has") {
  const auto epochs = [this] {
    api.then(test::found({{"items",
                           {annotated(sandbox("namzu-ws-a"), "holder-epoch", "latest"), sandbox("namzu-ws-b"),
                            annotated(sandbox("namzu-ws-c"), "holder-epoch", "5")}}}));
    const auto got = list_now();
    REQUIRE(got);
    REQUIRE_EQ(got->size(), 3u);
    CHECK(!got->at(0).holder_epoch);
    CHECK_EQ(got->at(1).holder_epoch, std::optional<std::uint64_t>{0});
    CHECK_EQ(got->at(2).holder_epoch, std::optional<std::uint64_t>{5});
  };
  epochs();
  how.epoch_base = 9;
  how.term = 3;
  epochs();
  how.fenced = false;
  epochs();
  CHECK_EQ(api.calls.size(), 3u);
}

SCENARIO("one workspace is one request") {
  GIVEN("a workspace") {
    api.then(test::found(sandbox("namzu-ws-a", "Suspended")));
    const auto got = get_now("a");
    CHECK_EQ(api.trace(), std::vector<std::string>{std::string{"GET "} + path + "/namzu-ws-a"});
    REQUIRE(got);
    CHECK_EQ(got->workspace, "a");
    CHECK_EQ(got->mode, "Suspended");
    CHECK_EQ(got->holder_epoch, std::optional<std::uint64_t>{0});
  }
  GIVEN("nothing under the name") {
    api.then([](const k8s::call& x) { return test::gone(x); });
    const auto got = get_now("b");
    REQUIRE(!got);
    const auto* why = std::get_if<k8s::failure>(&got.error());
    REQUIRE(why != nullptr);
    CHECK(std::holds_alternative<k8s::already_gone>(*why));
    CHECK(kind_of(got.error()) == kind::not_found);
  }
  GIVEN("an object that is no workspace") {
    auto stranger = sandbox("namzu-ws-c");
    stranger["spec"].erase("podTemplate");
    api.then(test::found(stranger));
    const auto got = get_now("c");
    REQUIRE(!got);
    CHECK(std::holds_alternative<mismatch>(got.error()));
  }
}

SCENARIO("a failed read is a failure and not an empty inventory") {
  api.then([](const k8s::call& x) { return test::status(x, 500); });
  CHECK(!list_now());
  api.then([](const k8s::call& x) { return test::unreachable(x, false); });
  CHECK(!list_now());
  api.then([](const k8s::call& x) { return test::denied(x); });
  CHECK(!get_now("a"));
  api.then(test::no_value());
  CHECK(!get_now("a"));
  api.then(test::found(json::array()));
  CHECK(!get_now("a"));
  api.then(test::found({{"metadata", {{"continue", "more"}}}, {"items", {sandbox("namzu-ws-a")}}}));
  CHECK(!list_now());
  CHECK_EQ(api.calls.size(), 6u);
}

SCENARIO("a list without items is empty") {
  for (const auto& body : {json{}, json::object(), json{{"items", 1}}, json::array()}) {
    api.then(test::found(body));
    const auto got = list_now();
    REQUIRE(got);
    CHECK(got->empty());
  }
}

SCENARIO("an object of an unexpected shape is read as far as it goes") {
  CHECK(!summarise(json{}));
  CHECK(!summarise(json::array()));
  CHECK(!summarise(json{{"metadata", 1}, {"spec", "x"}}));
  auto odd = sandbox("namzu-ws-a");
  odd["spec"]["operatingMode"] = 7;
  odd["metadata"]["annotations"] = "none";
  odd["metadata"].erase("creationTimestamp");
  const auto got = summarise(odd);
  REQUIRE(got);
  CHECK_EQ(got->mode, "Running");
  CHECK(!got->created_at);
  CHECK_EQ(got->holder_epoch, std::optional<std::uint64_t>{0});
  for (const auto* text : {"", "-1", "05", "+5", "5.0", " 5", "9007199254740992", "1e3"}) {
    MESSAGE(text);
    CHECK(!summarise(annotated(sandbox("namzu-ws-a"), "holder-epoch", text))->holder_epoch);
  }
  CHECK_EQ(summarise(annotated(sandbox("namzu-ws-a"), "holder-epoch", "9007199254740991"))->holder_epoch,
           std::optional<std::uint64_t>{9'007'199'254'740'991});
  CHECK_EQ(summarise(annotated(sandbox("namzu-ws-a"), "holder-epoch", 5))->holder_epoch, std::optional<std::uint64_t>{0});
}

END_FIXTURE_SCOPE()
