#define CAF_SUITE open

#include "tests/workspace/desk.hpp"
#include "workspace/pod_template.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <regex>

using namespace paddock;
using namespace paddock::workspace;
using namespace paddock::workspace::test;
namespace pt = paddock::test;
using nlohmann::json;
using strings = std::vector<std::string>;
using host = desk::host;
using server = desk::api_server;

namespace {

json posted(const desk& x) {
  auto got = x.api.sent("POST");
  REQUIRE_EQ(got.size(), 1u);
  return got.front().body;
}

std::string disk_refusal(json claims, json containers, const char* kind = "containers") {
  auto x = desk{};
  x.cluster.the_template["spec"]["volumeClaimTemplates"] = std::move(claims);
  x.cluster.the_template["spec"]["podTemplate"]["spec"].erase("containers");
  x.cluster.the_template["spec"]["podTemplate"]["spec"][kind] = std::move(containers);
  auto got = x.open();
  const auto* why = failed_with<disk_refused>(got);
  if (got.answer)
    return "";
  REQUIRE(why != nullptr);
  CHECK_EQ(x.requests(), strings{"GET TPL"});
  CHECK_EQ(why->source, "SandboxTemplate tpl in namespace ns");
  return why->text;
}

json block(const char* name) {
  return {{"metadata", {{"name", name}}}, {"spec", {{"volumeMode", "Block"}}}};
}

json containers(const char* list, const char* name = "workspace") {
  return json::array({{{"name", "c"}, {list, json::array({{{"name", name}}})}}});
}

} // namespace

// [W 13] nothing stands
SCENARIO("an open of a name under which nothing stands creates a workspace") {
  auto x = desk{};
  auto got = x.open();
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET TPL", "POST SBC", "GET SB", "GET POD", "GET PVC"}));
  auto body = posted(x);
  auto annotations = body["metadata"].at("annotations");
  auto from = read_template(x.cluster.the_template, overlay{"tpl", std::nullopt, {}});
  CHECK_JSON(body, (json{{"apiVersion", "agents.x-k8s.io/v1beta1"},
                         {"kind", "Sandbox"},
                         {"metadata", {{"name", "namzu-ws-desk"}, {"namespace", "ns"}, {"annotations", annotations}}},
                         {"spec",
                          {{"operatingMode", "Running"},
                           {"service", true},
                           {"volumeClaimTemplates", x.cluster.the_template["spec"]["volumeClaimTemplates"]},
                           {"podTemplate", from->pod_template}}}}));
  CHECK(got.answer->from == origin::created);
  CHECK(got.after.from == origin::created);
  CHECK(got.after.at == state::running);
  CHECK_EQ(got.after.pod, pod_uid{"P1"});
  CHECK_EQ(got.after.boot, x.guest.boot);
  REQUIRE(got.after.guest.has_value());
  CHECK_EQ(got.after.guest->host, "desk.ns.svc");
  CHECK_EQ(got.after.guest->port, 1024);
  CHECK_EQ(got.after.guest->token, secret{"P1"});
}

// [W 14] what the create stamps
SCENARIO("a create without an epoch stamps the hash and nothing else") {
  auto x = desk{};
  auto got = x.open();
  auto annotations = posted(x)["metadata"].at("annotations");
  CHECK_EQ(annotations.size(), 1u);
  auto hash = annotations.at("sandbox.namzu.ai/pod-template-hash").get<std::string>();
  CHECK(std::regex_match(hash, std::regex{"sha256:[0-9a-f]{64}"}));
  CHECK_EQ(got.after.revision, hash);
  CHECK(got.after.revision_current);
}

// [W 15] a create with an epoch
// [W 6] epoch 0
SCENARIO("a create with an epoch stamps it beside the hash") {
  for (auto epoch : {std::uint64_t{4}, std::uint64_t{0}}) {
    auto x = desk{};
    auto before = session{};
    before.epoch = epoch;
    auto got = x.open(before);
    REQUIRE(got.answer.has_value());
    auto annotations = posted(x)["metadata"].at("annotations");
    CHECK_EQ(annotations.size(), 2u);
    CHECK_JSON(annotations.at("sandbox.namzu.ai/holder-epoch"), std::to_string(epoch));
    CHECK(annotations.contains("sandbox.namzu.ai/pod-template-hash"));
    CHECK_EQ(got.after.epoch, epoch);
  }
}

SCENARIO("a fenced host creates under the first epoch of its term") {
  auto x = desk{host::fenced, server::with_uids};
  x.on.how.epoch_base = 7;
  x.on.how.term = 2;
  auto got = x.open();
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.cluster.annotation("holder-epoch"), std::to_string(7 + 2 * (1 << 20)));
  CHECK_EQ(got.after.epoch, 7u + 2u * (1u << 20u));
  CHECK(got.after.stamped);
  CHECK_EQ(got.after.sandbox, sandbox_uid{"S1"});
  CHECK_EQ(got.after.claims, (std::map<std::string, claim_uid>{{"workspace", claim_uid{"C1"}}}));
}

// [W 16] no claim is involved
SCENARIO("no path of a create names a sandbox claim") {
  auto x = desk{};
  REQUIRE(x.open().answer.has_value());
  for (const auto& call : x.api.calls)
    CHECK(call.path.find("sandboxclaims") == std::string::npos);
}

// [W 17] a Filesystem claim
// [W 18] no volumeMode
// [W 19] no claims
// [W 20] a claim that nobody uses as a device
// [W 21] a claim that is mounted
// [W 23] one of two claims is not Block
// [W 24] a claim without a name
SCENARIO("a template whose disks are not block disks is refused before anything is posted") {
  const auto devices = containers("volumeDevices");
  auto files = block("workspace");
  files["spec"]["volumeMode"] = "Filesystem";
  CHECK_NE(disk_refusal(json::array({files}), devices), "");
  auto absent = block("workspace");
  absent["spec"].erase("volumeMode");
  CHECK_NE(disk_refusal(json::array({absent}), devices), "");
  CHECK_NE(disk_refusal(json::array(), devices), "");
  CHECK_NE(disk_refusal(json{}, devices), "");
  CHECK_NE(disk_refusal(json::array({block("workspace")}), containers("volumeDevices", "other")), "");
  CHECK_NE(disk_refusal(json::array({block("workspace")}), containers("volumeMounts")), "");
  auto second = files;
  second["metadata"]["name"] = "more";
  CHECK_NE(disk_refusal(json::array({block("workspace"), second}), devices), "");
  auto nameless = block("workspace");
  nameless["metadata"].erase("name");
  CHECK_NE(disk_refusal(json::array({nameless}), devices), "");
}

// [W 22] only an init container uses the disk
SCENARIO("a disk that only an init container has as a device is accepted") {
  CHECK_EQ(disk_refusal(json::array({block("workspace")}), containers("volumeDevices"), "initContainers"), "");
}

// [W 25] a template without a pod spec
SCENARIO("a template without a pod spec is refused by its name") {
  auto x = desk{};
  x.cluster.the_template["spec"]["podTemplate"].erase("spec");
  auto got = x.open();
  const auto* why = failed_with<template_unusable>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->template_name, "tpl");
  CHECK(to_string(*why).find("tpl") != std::string::npos);
  CHECK_EQ(x.requests(), strings{"GET TPL"});
}

SCENARIO("the template of the open outranks the configured one") {
  auto x = desk{};
  x.on.how.template_name = "task";
  auto how = open_options{};
  how.template_name = "tpl";
  auto got = x.open({}, how);
  REQUIRE(got.answer.has_value());
  CHECK_JSON(posted(x)["spec"]["podTemplate"]["metadata"]["labels"].at("sandbox.namzu.ai/template"), "tpl");
  CHECK_EQ(got.after.template_name, "tpl");
}

// [W 28] a configured runtime class
SCENARIO("a configured runtime class overrides the template's and is part of the hash") {
  auto x = desk{};
  x.on.how.runtime_class = "kata";
  REQUIRE(x.open().answer.has_value());
  auto body = posted(x);
  CHECK_JSON(body["spec"]["podTemplate"]["spec"].at("runtimeClassName"), "kata");
  CHECK_JSON(body["metadata"]["annotations"].at("sandbox.namzu.ai/pod-template-hash"), hash_of(body["spec"]["podTemplate"]));
}

// [W 29] the POST fails; what it did is not known ([W] P13), and nothing is done about it
SCENARIO("a POST that answers 500 ends the open and cleans nothing up") {
  for (auto how : {host::unfenced, host::fenced}) {
    auto x = desk{how};
    x.cluster.intercept = [](const k8s::call& what, std::size_t) {
      return what.method == "POST" ? std::optional{pt::status(what, 500)} : std::nullopt;
    };
    auto got = x.open();
    CHECK(failed_with<write_unknown>(got) != nullptr);
    CHECK_EQ(status_of(got.answer.error()), 500u);
    CHECK_EQ(x.requests(), (strings{"GET TPL", "POST SBC"}));
    CHECK(got.after.at == state::unknown);
    CHECK_EQ(got.after.epoch, how == host::fenced ? std::optional<std::uint64_t>{1} : std::nullopt);
  }
}

// [W 30] a 201 without a body
SCENARIO("a create whose answer has no body goes on") {
  auto x = desk{host::unfenced, server::with_uids};
  x.cluster.intercept = [&x](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    if (what.method != "POST")
      return std::nullopt;
    x.cluster.stand("Running");
    return pt::no_value();
  };
  auto got = x.open();
  REQUIRE(got.answer.has_value());
  CHECK(got.answer->from == origin::created);
  CHECK_EQ(got.after.sandbox, sandbox_uid{"S1"});
}

SCENARIO("a uid that is first seen while the pod is waited for is the one that later reads must show") {
  auto x = desk{host::unfenced, server::with_uids};
  x.on.how.agent_address = settings::address::pod_ip;
  auto reads = 0;
  x.cluster.intercept = [&](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    if (what.method == "POST") {
      x.cluster.stand("Running");
      x.cluster.pod->at("status").erase("podIP");
      return pt::no_value();
    }
    if (what.method == "GET" && what.path.find("/sandboxes/") != std::string::npos && ++reads == 2)
      x.cluster.stand("Running", std::nullopt, "S2");
    return std::nullopt;
  };
  auto got = x.open();
  const auto* why = failed_with<replaced>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->expected, sandbox_uid{"S1"});
  CHECK_EQ(why->actual, sandbox_uid{"S2"});
  CHECK(x.guest.calls.empty());
}

// [W 31] no pod at the first read
SCENARIO("a created workspace without a pod fails at the first read of it") {
  auto x = desk{};
  x.cluster.intercept = [](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    if (what.method != "GET" || what.path.find("/pods") == std::string::npos)
      return std::nullopt;
    return what.path.find("labelSelector") == std::string::npos ? pt::gone(what) : pt::found({{"items", json::array()}});
  };
  auto how = open_options{};
  how.leave_on_failure = true;
  auto got = x.open({}, how);
  const auto* start = start_failure_of(got);
  REQUIRE(start != nullptr);
  const auto* why = std::get_if<no_pod>(&start->why);
  REQUIRE(why != nullptr);
  CHECK(why->text.find("could not read a pod uid") != std::string::npos);
  CHECK_EQ(x.requests(), (strings{"GET TPL", "POST SBC", "GET SB", "GET POD", "GET PODS"}));
  CHECK_EQ(x.time.sleeping(), 0u);
}

// [W 32] never Ready
SCENARIO("a created workspace that never becomes Ready runs out of its budget") {
  auto x = desk{};
  x.cluster.controller_acts = false;
  auto started = x.time.now();
  auto got = x.open();
  const auto* start = start_failure_of(got);
  REQUIRE(start != nullptr);
  const auto* why = std::get_if<readiness_timeout>(&start->why);
  REQUIRE(why != nullptr);
  CHECK(why->bound == std::chrono::milliseconds{60'000});
  CHECK(x.time.now() - started >= std::chrono::milliseconds{60'000});
  CHECK(x.time.now() - started < std::chrono::milliseconds{62'000});
  CHECK(got.after.at == state::suspending);
}

// [W 35] the disks are read one by one, after the probe
// [W 36] a disk that may not be read
SCENARIO("the uids of the disks are read after the probe and may stay unknown") {
  auto x = desk{host::unfenced, server::with_uids};
  auto probed_before_claims = false;
  x.cluster.intercept = [&](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    if (what.path.find("persistentvolumeclaims") == std::string::npos)
      return std::nullopt;
    CHECK(what.path.ends_with("/workspace-namzu-ws-desk"));
    probed_before_claims = x.guest.count(guest_call::op::execute) == 1;
    return pt::denied(what);
  };
  auto got = x.open();
  REQUIRE(got.answer.has_value());
  CHECK(probed_before_claims);
  CHECK(got.after.claims.empty());
  CHECK(got.after.claims_read);
  CHECK_EQ(got.after.sandbox, sandbox_uid{"S1"});
  auto asked = x.requests();
  CHECK_EQ(std::ranges::count(asked, "GET PVC"), 1);
}

// [W 7] a budget out of range
SCENARIO("readiness values out of range are refused before anything is sent") {
  for (auto ms : {std::chrono::milliseconds{0}, std::chrono::milliseconds{-1}, std::chrono::milliseconds{2147483648}}) {
    auto x = desk{};
    x.on.how.ready_timeout = ms;
    auto got = x.open();
    CHECK(failed_with<illegal_argument>(got) != nullptr);
    CHECK(x.requests().empty());
    auto y = desk{};
    y.on.how.ready_poll = ms;
    CHECK(failed_with<illegal_argument>(y.open()) != nullptr);
    CHECK(y.requests().empty());
  }
  auto longest = desk{};
  longest.on.how.ready_timeout = std::chrono::milliseconds{2147483647};
  CHECK(longest.open().answer.has_value());
}

// [W 8] withdrawn before it began
SCENARIO("a verb that is withdrawn before it begins sends nothing") {
  for (auto which : {desk::verb::open, desk::verb::suspend, desk::verb::resume, desk::verb::remove}) {
    auto x = desk{host::fenced, server::with_uids};
    auto got = x.run_and_withdraw(which, {}, [] { return true; });
    REQUIRE(got.why.has_value());
    CHECK_EQ(reason_of(*got.why), "Cancelled");
    CHECK(x.requests().empty());
    CHECK(got.after.at == state::unknown);
  }
}

SCENARIO("a retained identity is authenticated before anything is written, and nothing is ever created for it") {
  auto how = open_options{};
  how.expect = sandbox_uid{"S1"};
  auto x = desk{host::unfenced, server::with_uids};
  auto got = x.open({}, how);
  const auto* why = failed_with<identity_mismatch>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->what, "sandbox-absent");
  CHECK_EQ(x.requests(), strings{"GET SB"});
  x.cluster.stand("Suspended", std::nullopt, "S2");
  got = x.open({}, how);
  why = failed_with<identity_mismatch>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->what, "sandbox-uid");
  CHECK_EQ(why->actual, "S2");
  CHECK_EQ(x.requests(), strings{"GET SB"});
  x.cluster.stand("Suspended");
  got = x.open({}, how);
  REQUIRE(got.answer.has_value());
  CHECK(got.answer->from == origin::resumed);
}

SCENARIO("an open that may not create posts nothing") {
  auto how = open_options{};
  how.create = false;
  auto x = desk{};
  CHECK(api_failed_with<k8s::already_gone>(x.open({}, how)) != nullptr);
  CHECK_EQ(x.requests(), strings{"GET SB"});
  x.cluster.stand("Suspended");
  CHECK(x.open({}, how).answer.has_value());
  CHECK_EQ(x.sent("POST"), 0u);
}

// [W 276] a stranger stands when the created one is waited for
SCENARIO("a Sandbox that was replaced after the POST is neither written nor cleaned up") {
  auto x = desk{host::fenced, server::with_uids};
  x.cluster.intercept = [&x](const k8s::call& what, std::size_t n) -> std::optional<desk_cluster::reply> {
    if (n == 3 && what.method == "GET")
      x.cluster.stand("Running", "9", "S2");
    return std::nullopt;
  };
  auto got = x.open();
  const auto* why = failed_with<replaced>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->expected, sandbox_uid{"S1"});
  CHECK_EQ(why->actual, sandbox_uid{"S2"});
  CHECK_EQ(x.requests(), (strings{"GET TPL", "POST SBC", "GET SB"}));
  CHECK(x.guest.calls.empty());
}

SCENARIO("an open of a deleted workspace starts over and keeps only the epoch") {
  auto x = desk{host::fenced, server::with_uids};
  auto before = session{};
  before.at = state::deleted;
  before.epoch = 5;
  before.sandbox = sandbox_uid{"S0"};
  before.retired_pod = pod_uid{"P0"};
  auto got = x.open(before);
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.cluster.annotation("holder-epoch"), "5");
  CHECK_EQ(got.after.sandbox, sandbox_uid{"S1"});
  CHECK_EQ(got.after.retired_pod, std::nullopt);
}

SCENARIO("an open that fails on what stands again does not leave the workspace deleted") {
  for (const auto* method : {"GET", "PATCH"}) {
    auto x = desk{host::fenced, server::with_uids};
    x.cluster.stand("Running", "3");
    auto before = session{};
    before.at = state::deleted;
    before.epoch = 5;
    x.cluster.intercept = [&](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
      if (what.method == method && what.path.find(what.method == "GET" ? "/pods/" : "/sandboxes/") != std::string::npos)
        return pt::status(what, 500);
      return std::nullopt;
    };
    const auto got = x.open(before);
    CHECK(!got.answer.has_value());
    CHECK(got.after.at == state::unknown);
    // A delete asks, and does not answer from memory.
    x.cluster.intercept = nullptr;
    CHECK(x.remove(got.after).answer.has_value());
    CHECK_EQ(x.sent("DELETE"), 1u);
  }
}

SCENARIO("an open whose POST met something that it could not read does not leave the workspace deleted") {
  auto x = desk{host::fenced, server::with_uids};
  x.cluster.stand("Running", "3");
  auto before = session{};
  before.at = state::deleted;
  before.epoch = 5;
  x.cluster.intercept = [](const k8s::call& what, std::size_t) {
    return what.method == "GET" && what.path.find("/sandboxes/") != std::string::npos ? std::optional{pt::status(what, 500)} : std::nullopt;
  };
  const auto got = x.open(before);
  CHECK_EQ(x.requests(), (strings{"GET TPL", "POST SBC", "GET SB"}));
  CHECK(!got.answer.has_value());
  CHECK(got.after.at == state::unknown);
  x.cluster.intercept = nullptr;
  CHECK(x.remove(got.after).answer.has_value());
  CHECK_EQ(x.sent("DELETE"), 1u);
}

SCENARIO("an open of a known workspace never creates another one under its name") {
  auto x = desk{host::fenced, server::with_uids};
  auto before = session{};
  before.at = state::suspended;
  before.epoch = 5;
  before.sandbox = sandbox_uid{"S1"};
  auto got = x.open(before);
  CHECK(api_failed_with<k8s::already_gone>(got) != nullptr);
  CHECK(got.after.at == state::deleted);
  CHECK_EQ(x.sent("POST"), 0u);
}
