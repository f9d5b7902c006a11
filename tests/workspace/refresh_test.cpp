#define CAF_SUITE refresh

// Taking a template's present pod on the way from Suspended to Running ([W] 3.6).

#include "tests/workspace/desk.hpp"
#include "workspace/pod_template.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::workspace;
using namespace paddock::workspace::test;
namespace pt = paddock::test;
using nlohmann::json;
using strings = std::vector<std::string>;
using host = desk::host;
using server = desk::api_server;

namespace {

json& template_spec(desk& x) {
  return x.cluster.the_template["spec"];
}

json stored_pod_template(desk& x) {
  return (*x.cluster.sandbox)["spec"]["podTemplate"];
}

usable_template present(desk& x) {
  return *read_template(x.cluster.the_template, overlay_of(x.on.how, x.which, "tpl"));
}

/// Renames the disk in the template, its device included.
void rename_disk(desk& x) {
  template_spec(x)["volumeClaimTemplates"][0]["metadata"]["name"] = "data";
  template_spec(x)["podTemplate"]["spec"]["containers"][0]["volumeDevices"][0]["name"] = "data";
}

/// Somebody else wakes the workspace before the patch arrives; its pod is not there for the first looks.
void lose_the_race(desk& x) {
  x.cluster.intercept = [&x, looks = 0, raced = false](const k8s::call& what, std::size_t) mutable -> std::optional<desk_cluster::reply> {
    if (what.method == "PATCH" && !std::exchange(raced, true))
      x.cluster.set_mode("Running");
    const auto waits = raced && looks < 3;
    if (waits && what.path.find("labelSelector") != std::string::npos)
      return pt::found({{"items", json::array()}});
    if (waits && what.path.find("/pods/") != std::string::npos && ++looks < 3)
      return pt::gone(what);
    return std::nullopt;
  };
}

} // namespace

// [W 105] a running object of another runtime class
SCENARIO("a refresh does not excuse the runtime class of an object that runs") {
  auto x = desk{};
  x.cluster.stand("Running");
  x.on.how.runtime_class = "gvisor";
  auto got = x.open({}, refreshing());
  const auto* why = failed_with<mismatch>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->field, "runtimeClassName");
  CHECK_EQ(why->expected, "gvisor");
  CHECK_EQ(why->actual, "runc");
  CHECK_EQ(x.sent("PATCH"), 0u);
  CHECK(x.guest.calls.empty());
}

// [W 106] a suspended one
SCENARIO("a refresh writes the runtime class that the object does not have") {
  auto x = desk{};
  x.cluster.stand("Suspended");
  x.on.how.runtime_class = "gvisor";
  CHECK(failed_with<mismatch>(x.open()) != nullptr);
  CHECK_EQ(x.sent("PATCH"), 0u);
  auto got = x.open({}, refreshing());
  REQUIRE(got.answer.has_value());
  CHECK_EQ(stored_pod_template(x)["spec"]["runtimeClassName"], "gvisor");
  CHECK_EQ(x.sent("PATCH"), 1u);
}

// [W 107] a suspended object of another template
SCENARIO("a refresh does not excuse the template label") {
  auto x = desk{};
  x.cluster.stand("Suspended");
  (*x.cluster.sandbox)["spec"]["podTemplate"]["metadata"]["labels"]["sandbox.namzu.ai/template"] = "other";
  auto got = x.open({}, refreshing());
  const auto* why = failed_with<mismatch>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->field, "sandboxTemplateName");
  CHECK_EQ(why->actual, "other");
  CHECK_EQ(x.sent("PATCH"), 0u);
  CHECK_EQ(x.cluster.mode(), "Suspended");
}

// [W 108] the template has renamed the disk: by a resume, and by an adopt
SCENARIO("a refresh from a template whose disk has another name is refused and wakes nothing") {
  auto resumed = desk{};
  auto before = suspended_on(resumed);
  rename_disk(resumed);
  const auto patches = resumed.sent("PATCH");
  auto of_resume = resumed.resume(before, refreshing());
  const auto* why = failed_with<disk_refused>(of_resume);
  REQUIRE(why != nullptr);
  CHECK(why->text.find("data") != std::string::npos);
  CHECK(of_resume.after.at == state::suspended);
  CHECK_EQ(resumed.sent("PATCH"), patches);
  CHECK_EQ(resumed.cluster.mode(), "Suspended");

  auto adopted = desk{};
  adopted.cluster.stand("Suspended");
  rename_disk(adopted);
  CHECK(failed_with<disk_refused>(adopted.open({}, refreshing())) != nullptr);
  CHECK_EQ(adopted.sent("PATCH"), 0u);
  CHECK_EQ(adopted.cluster.mode(), "Suspended");
}

// [W 110] two disks, as before
SCENARIO("a refresh of a workspace with two disks succeeds while the template has both") {
  auto x = desk{};
  template_spec(x)["volumeClaimTemplates"].push_back({{"metadata", {{"name", "cache"}}}, {"spec", {{"volumeMode", "Block"}}}});
  template_spec(x)["podTemplate"]["spec"]["containers"][0]["volumeDevices"].push_back({{"name", "cache"}, {"devicePath", "/dev/cache"}});
  auto before = suspended_on(x);
  edit_template(x);
  auto got = x.resume(before, refreshing());
  REQUIRE(got.answer.has_value());
  CHECK_JSON(stored_pod_template(x), present(x).pod_template);
}

// [W 111] another process wakes it between the read and the patch: by a resume, and by an adopt
SCENARIO("a refresh that lost the race writes nothing and waits for the pod of what runs") {
  for (auto by_adopt : {false, true}) {
    auto x = desk{};
    auto before = suspended_on(x);
    edit_template(x);
    const auto stored = stored_pod_template(x);
    const auto patches = x.sent("PATCH");
    lose_the_race(x);
    auto got = by_adopt ? x.open({}, refreshing()) : x.resume(before, refreshing());
    REQUIRE(got.answer.has_value());
    CHECK_EQ(x.sent("PATCH"), patches + 1);
    CHECK_JSON(stored_pod_template(x), stored);
    CHECK(got.after.at == state::running);
    CHECK(!got.after.revision_current);
    CHECK(got.answer->from == origin::adopted_running);
    if (by_adopt)
      CHECK(got.after.from == origin::adopted_running);
    CHECK_EQ(got.after.pod, pod_uid{"P2"});
  }
}

// [W 114] under an epoch
SCENARIO("a refresh under an epoch tests the epoch and then the mode, and writes the epoch first") {
  auto x = desk{host::fenced, server::without_uids};
  x.cluster.stand("Suspended", "2");
  edit_template(x);
  auto before = session{};
  before.at = state::suspended;
  before.epoch = 4;
  before.template_name = "tpl";
  auto at = x.now();
  auto got = x.resume(before, refreshing());
  REQUIRE(got.answer.has_value());
  auto from = present(x);
  CHECK_JSON(x.bodies(),
             (std::vector<json>{json::array({test_op(epoch_at, "2"), test_op("/spec/operatingMode", "Suspended"), add_op(epoch_at, "4"),
                                             add_op(changed_at, at), add_op(hash_at, from.hash),
                                             add_op("/spec/podTemplate", from.pod_template), add_op("/spec/operatingMode", "Running")})}));
}
