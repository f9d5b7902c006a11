#define CAF_SUITE adopt

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

json& labels_of(desk& x) {
  return (*x.cluster.sandbox)["spec"]["podTemplate"]["metadata"]["labels"];
}

json& pod_spec_of(desk& x) {
  return (*x.cluster.sandbox)["spec"]["podTemplate"]["spec"];
}

} // namespace

// [W 37] a suspended object
SCENARIO("a suspended object is woken by one patch") {
  auto x = desk{};
  x.cluster.stand("Suspended");
  auto at = x.now();
  auto bodies_before = x.bodies();
  auto got = x.open();
  REQUIRE(got.answer.has_value());
  CHECK(got.answer->from == origin::resumed);
  CHECK_JSON(x.bodies(), (std::vector<json>{desk::merge("Running", at)}));
  CHECK_EQ(x.requests(), (strings{"GET TPL", "POST SBC", "GET SB", "GET POD", "PATCH SB merge", "GET SB", "GET POD", "GET PVC"}));
}

// [W 38] a running object
// [W 48] the drain check comes before the readiness reads
SCENARIO("a running object is adopted without a write") {
  auto x = desk{};
  x.cluster.stand("Running");
  auto got = x.open();
  REQUIRE(got.answer.has_value());
  CHECK(got.answer->from == origin::adopted_running);
  CHECK_EQ(x.requests(), (strings{"GET TPL", "POST SBC", "GET SB", "GET POD", "GET SB", "GET POD", "GET PVC"}));
}

// [W 39] a standing object without disks
SCENARIO("a standing object without block disks is refused") {
  auto x = desk{};
  x.cluster.stand("Suspended");
  (*x.cluster.sandbox)["spec"].erase("volumeClaimTemplates");
  auto got = x.open();
  const auto* why = failed_with<disk_refused>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->source, "Sandbox namzu-ws-desk in namespace ns");
  CHECK_EQ(x.requests(), (strings{"GET TPL", "POST SBC", "GET SB"}));
}

// [W 41] no template label
SCENARIO("an object of another template, or of none, is refused and not woken") {
  auto x = desk{};
  x.cluster.stand("Suspended");
  labels_of(x)["sandbox.namzu.ai/template"] = "other";
  auto got = x.open();
  const auto* why = failed_with<mismatch>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->sandbox_name, "namzu-ws-desk");
  CHECK_EQ(why->field, "sandboxTemplateName");
  CHECK_EQ(why->expected, "tpl");
  CHECK_EQ(why->actual, "other");
  labels_of(x).erase("sandbox.namzu.ai/template");
  got = x.open();
  why = failed_with<mismatch>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->field, "sandboxTemplateName");
  CHECK_EQ(why->actual, std::nullopt);
  CHECK_EQ(x.sent("PATCH"), 0u);
  CHECK(x.guest.calls.empty());
}

// [W 42] no runtime class where one is configured
SCENARIO("an object without the configured runtime class is neither woken nor probed") {
  auto x = desk{};
  x.on.how.runtime_class = "kata";
  x.cluster.stand("Suspended");
  pod_spec_of(x).erase("runtimeClassName");
  auto got = x.open();
  const auto* why = failed_with<mismatch>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->field, "runtimeClassName");
  CHECK_EQ(why->expected, "kata");
  CHECK_EQ(why->actual, std::nullopt);
  CHECK_EQ(x.sent("PATCH"), 0u);
  CHECK(x.guest.calls.empty());
}

// [W 43] the configured runtime class
SCENARIO("an object of the configured runtime class is woken") {
  auto x = desk{};
  x.on.how.runtime_class = "kata";
  x.cluster.stand("Suspended");
  pod_spec_of(x)["runtimeClassName"] = "kata";
  auto got = x.open();
  REQUIRE(got.answer.has_value());
  CHECK(got.answer->from == origin::resumed);
  CHECK_EQ(x.cluster.mode(), "Running");
}

// [W 45] two fields are wrong
SCENARIO("of two wrong fields the template is reported") {
  auto x = desk{};
  x.on.how.runtime_class = "kata";
  x.cluster.stand("Running");
  labels_of(x)["sandbox.namzu.ai/template"] = "other";
  auto got = x.open();
  const auto* why = failed_with<mismatch>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->field, "sandboxTemplateName");
}

// [W 47] gone after the 409
SCENARIO("an object that is gone after the conflict is reported as gone") {
  auto x = desk{};
  x.cluster.intercept = [](const k8s::call& what, std::size_t) {
    return what.method == "POST" ? std::optional{pt::taken(what)} : std::nullopt;
  };
  auto got = x.open();
  CHECK(api_failed_with<k8s::already_gone>(got) != nullptr);
  CHECK_EQ(x.requests(), (strings{"GET TPL", "POST SBC", "GET SB"}));
}

// [W 49] the drain check is refused
SCENARIO("a drain check that fails ends the adopt before its write") {
  auto x = desk{};
  x.cluster.stand("Suspended");
  x.cluster.intercept = [](const k8s::call& what, std::size_t) {
    return is_get(what, "/pods/") ? std::optional{pt::denied(what)} : std::nullopt;
  };
  auto got = x.open();
  const auto* why = api_failed_with<k8s::credential_failure>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->status, 403u);
  CHECK_EQ(x.requests(), (strings{"GET TPL", "POST SBC", "GET SB", "GET POD"}));
}

// [W 50] the pod of a suspend that timed out is still there
SCENARIO("a pod that is on its way out is waited out after the wake-up") {
  auto x = desk{};
  x.cluster.stand("Running");
  x.cluster.set_mode("Suspended");
  auto old = x.cluster.make_pod();
  old["metadata"]["uid"] = "P1";
  x.cluster.pod = desk_cluster::draining(old);
  auto reads = 0;
  x.cluster.intercept = [&](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    if (is_get(what, "/pods/") && ++reads == 4) {
      x.cluster.pod = x.cluster.make_pod();
      x.cluster.pod->at("metadata")["uid"] = "P2";
    }
    return std::nullopt;
  };
  auto at = x.now();
  x.forget();
  auto got = x.open();
  REQUIRE(got.answer.has_value());
  CHECK(got.answer->from == origin::resumed);
  CHECK_JSON(x.bodies(), (std::vector<json>{desk::merge("Running", at)}));
  CHECK_EQ(got.after.pod, pod_uid{"P2"});
  CHECK_EQ(x.guest.calls.back().where.token, secret{"P2"});
}

// [W 51] a running object whose pod is on its way out
SCENARIO("a running object whose pod is on its way out is bound to the next one without a write") {
  auto x = desk{};
  x.cluster.stand("Running");
  x.cluster.pod = desk_cluster::draining(*x.cluster.pod);
  auto reads = 0;
  x.cluster.intercept = [&](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    if (is_get(what, "/pods/") && ++reads == 3)
      x.cluster.pod = x.cluster.make_pod();
    return std::nullopt;
  };
  auto got = x.open();
  REQUIRE(got.answer.has_value());
  CHECK(got.answer->from == origin::adopted_running);
  CHECK_EQ(x.sent("PATCH"), 0u);
  CHECK_EQ(got.after.pod, pod_uid{"P2"});
}

// [W 53] no pod for a while
SCENARIO("a woken workspace without a pod is waited for") {
  auto x = desk{};
  x.cluster.stand("Suspended");
  auto reads = 0;
  x.cluster.intercept = [&](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    if (is_get(what, "/pods/") && ++reads < 4)
      return pt::gone(what);
    if (is_get(what, "labelSelector"))
      return pt::found({{"items", json::array()}});
    return std::nullopt;
  };
  auto got = x.open();
  REQUIRE(got.answer.has_value());
  CHECK_EQ(got.after.pod, pod_uid{"P1"});
}

// [W 55] the list shows the pod that the name does not
SCENARIO("the list under the selector gives the live pod") {
  auto x = desk{};
  x.cluster.stand("Running");
  auto next = x.cluster.make_pod();
  x.cluster.pod = desk_cluster::draining(*x.cluster.pod);
  x.cluster.listed = {next};
  auto got = x.open();
  REQUIRE(got.answer.has_value());
  CHECK_EQ(got.after.pod, pod_uid{"P2"});
}

// [W 57] pod-ip, the address comes later
SCENARIO("under pod-ip a live pod is bound once it has an address") {
  auto x = desk{};
  x.on.how.agent_address = settings::address::pod_ip;
  x.cluster.stand("Running");
  auto reads = 0;
  x.cluster.pod->at("status").erase("podIP");
  x.cluster.intercept = [&](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    if (is_get(what, "/pods/") && ++reads == 4)
      x.cluster.pod->at("status")["podIP"] = "10.9.9.9";
    return std::nullopt;
  };
  auto got = x.open();
  REQUIRE(got.answer.has_value());
  CHECK_EQ(reads, 4);
  CHECK_EQ(x.guest.calls.at(0).where.host, "10.9.9.9");
}

// [W 59] pod-ip, the Sandbox cannot be read meanwhile
SCENARIO("a Sandbox that cannot be read while the address is awaited is the failure") {
  auto x = desk{};
  x.on.how.agent_address = settings::address::pod_ip;
  x.cluster.stand("Running");
  x.cluster.pod->at("status").erase("podIP");
  auto reads = 0;
  x.cluster.intercept = [&](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    return is_get(what, "/sandboxes/") && ++reads == 3 ? std::optional{pt::status(what, 500)} : std::nullopt;
  };
  auto got = x.open();
  REQUIRE(!got.answer);
  CHECK_EQ(status_of(got.answer.error()), 500u);
}

// [W 60] a pending pod
SCENARIO("a pending pod is bound under service") {
  auto x = desk{};
  x.cluster.stand("Running");
  x.cluster.pod->at("status")["phase"] = "Pending";
  CHECK_EQ(x.open().after.pod, pod_uid{"P1"});
}

// [W 61] a failed pod
SCENARIO("a failed pod is never bound") {
  auto x = desk{};
  x.cluster.stand("Running");
  x.cluster.pod->at("status")["phase"] = "Failed";
  auto got = x.open();
  CHECK(!got.answer);
  CHECK(x.guest.calls.empty());
  CHECK_EQ(got.after.pod, std::nullopt);
}

// [W 62] the Sandbox cannot be read
SCENARIO("a readiness read that fails is not repeated") {
  auto x = desk{};
  x.cluster.intercept = [&](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    return is_get(what, "/sandboxes/") ? std::optional{pt::status(what, 503)} : std::nullopt;
  };
  auto how = open_options{};
  how.leave_on_failure = true;
  auto got = x.open({}, how);
  const auto* start = start_failure_of(got);
  REQUIRE(start != nullptr);
  CHECK_EQ(status_of(start->why), 503u);
  CHECK_EQ(x.requests(), (strings{"GET TPL", "POST SBC", "GET SB"}));
}

SCENARIO("two live pods of the Sandbox fail the bind closed") {
  auto x = desk{host::unfenced, server::with_uids};
  x.cluster.stand("Running");
  x.cluster.listed = {x.cluster.make_pod(), x.cluster.make_pod()};
  x.cluster.pod = desk_cluster::draining(*x.cluster.pod);
  auto got = x.open();
  CHECK(failed_with<ambiguous_pod>(got) != nullptr);
  CHECK(x.guest.calls.empty());
}

// [W 169] the wake-up tests the uid of the first reading, and is the merge patch where that had none (case 37)
// [W 277] the object is replaced before the wake-up
SCENARIO("the wake-up of an adopt is bound to the object that was checked") {
  auto x = desk{host::unfenced, server::with_uids};
  x.cluster.stand("Suspended");
  x.forget();
  auto at = x.now();
  REQUIRE(x.open().answer.has_value());
  CHECK_JSON(x.bodies(), (std::vector<json>{json::array({test_op("/metadata/uid", "S1"), test_op("/spec/operatingMode", "Suspended"),
                                                         add_op(changed_at, at), add_op("/spec/operatingMode", "Running")})}));
  auto y = desk{host::unfenced, server::with_uids};
  y.cluster.stand("Suspended");
  y.cluster.intercept = [&y](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    if (what.method == "PATCH" && k8s::text_at(*y.cluster.sandbox, "/metadata/uid") == "S1")
      y.cluster.stand("Suspended", "9", "S2");
    return std::nullopt;
  };
  auto got = y.open();
  const auto* why = failed_with<replaced>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->actual, sandbox_uid{"S2"});
  CHECK_EQ(y.sent("PATCH"), 1u);
  CHECK_EQ(y.cluster.mode(), "Suspended");
  CHECK_EQ(y.cluster.annotation("holder-epoch"), "9");
  CHECK(y.guest.calls.empty());
}

// [W 274] the Sandbox is replaced between its own read and that of its pod
SCENARIO("a pod of another Sandbox is neither bound nor dialled, and the next read says replaced") {
  auto x = desk{host::unfenced, server::with_uids};
  x.cluster.stand("Running");
  auto reads = 0;
  x.cluster.intercept = [&](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    if (is_get(what, "/pods/") && ++reads == 2)
      x.cluster.stand("Running", std::nullopt, "S2");
    return std::nullopt;
  };
  auto got = x.open();
  const auto* why = failed_with<replaced>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->expected, sandbox_uid{"S1"});
  CHECK_EQ(why->actual, sandbox_uid{"S2"});
  CHECK(x.guest.calls.empty());
  CHECK_EQ(got.after.pod, std::nullopt);
  CHECK_EQ(x.sent("PATCH"), 0u);
}

// [W 282] suspended elsewhere while it is waited for
SCENARIO("a readiness read that says Suspended ends an open or a resume, and nothing is cleaned up") {
  enum class how { create, adopt, resume };
  for (auto which : {how::create, how::adopt, how::resume}) {
    auto x = desk{host::fenced, server::with_uids};
    auto before = session{};
    if (which != how::create)
      x.cluster.stand("Suspended");
    if (which == how::resume)
      before.at = state::suspended, before.sandbox = sandbox_uid{"S1"}, before.epoch = 0;
    auto written = false;
    x.cluster.intercept = [&](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
      if (written && what.method == "GET" && x.cluster.mode() == "Running")
        x.cluster.set_mode("Suspended");
      written = written || what.method == "PATCH" || (what.method == "POST" && which == how::create);
      return std::nullopt;
    };
    auto got = which == how::resume ? x.resume(before) : x.open();
    const auto* why = failed_with<suspended>(got);
    REQUIRE(why != nullptr);
    CHECK_EQ(x.sent("PATCH"), which == how::create ? 0u : 1u);
    CHECK_EQ(x.cluster.mode(), "Suspended");
    CHECK(got.after.at == state::suspending);
    CHECK_EQ(got.after.pod, std::nullopt);
  }
}

// [W 283] somebody else wakes it first
SCENARIO("a wake-up that came second woke nothing, so that its failed start cleans nothing up") {
  auto x = desk{host::fenced, server::with_uids};
  refuse_probe(x.guest);
  x.cluster.stand("Suspended", "0");
  auto patches = 0;
  x.cluster.intercept = [&](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    if (what.method == "PATCH" && ++patches == 1)
      x.cluster.set_mode("Running");
    return std::nullopt;
  };
  auto at = x.now();
  auto got = x.open();
  CHECK(failed_with<privilege_refused>(got) != nullptr);
  auto sent = x.api.sent("PATCH");
  REQUIRE_EQ(sent.size(), 2u);
  CHECK_JSON(sent[0].body, json::array({test_op(epoch_at, "0"), test_op("/metadata/uid", "S1"), test_op("/spec/operatingMode", "Suspended"),
                                        add_op(epoch_at, "1"), add_op(changed_at, at), add_op("/spec/operatingMode", "Running")}));
  CHECK_JSON(sent[1].body, json::array({test_op(epoch_at, "0"), test_op("/metadata/uid", "S1"), add_op(epoch_at, "1")}));
  CHECK_EQ(x.cluster.mode(), "Running");
  CHECK(got.after.at == state::suspending);
}

// [W 292] the pod of a running workspace has ended
SCENARIO("a workspace whose pod has ended is named at once, with the way out") {
  auto x = desk{host::unfenced, server::with_uids};
  x.cluster.stand("Running");
  x.cluster.pod->at("status")["phase"] = "Failed";
  auto& ready = (*x.cluster.sandbox)["status"]["conditions"][1];
  ready["status"] = "False";
  ready["reason"] = "PodFailed";
  auto started = x.time.now();
  auto got = x.open();
  const auto* why = failed_with<no_pod>(got);
  REQUIRE(why != nullptr);
  CHECK(why->text.find("suspend, then resume") != std::string::npos);
  CHECK(x.time.now() == started);
  CHECK_EQ(x.sent("PATCH"), 0u);
}

// [W 273] a WORKSPACE that starts
SCENARIO("a starting host goes on from the stored epoch of its own term and is overtaken by a later one") {
  const auto base = std::uint64_t{3};
  const auto term = std::uint64_t{2} * (1 << 20) + base;
  struct row {
    std::optional<std::string> stored;
    std::optional<std::uint64_t> held;
  };
  const auto rows = std::vector<row>{{std::to_string(term + 8), term + 9},
                                     {std::to_string(term), term + 1},
                                     {std::to_string(term - 5), term},
                                     {std::nullopt, term},
                                     {std::to_string(term + (1 << 20)), std::nullopt},
                                     {"latest", std::nullopt}};
  for (const auto& row : rows) {
    for (auto take_up : {true, false}) {
      auto x = desk{host::fenced, server::with_uids};
      x.on.how.epoch_base = base;
      x.on.how.term = 2;
      x.cluster.stand("Running", row.stored);
      auto after = session{};
      auto why = std::optional<failure>{};
      if (take_up) {
        auto got = x.take_up();
        after = got.after;
        if (!got.answer)
          why = got.answer.error();
      } else {
        auto got = x.open();
        after = got.after;
        if (!got.answer)
          why = got.answer.error();
      }
      if (row.held) {
        REQUIRE(!why.has_value());
        CHECK_EQ(after.epoch, *row.held);
        CHECK_EQ(x.cluster.annotation("holder-epoch"), std::to_string(*row.held));
        CHECK(after.at == state::running);
      } else {
        REQUIRE(why.has_value());
        CHECK(kind_of(*why) == kind::overtaken);
        CHECK_EQ(std::get<precondition>(*why).stored_annotation, row.stored);
        CHECK_EQ(x.sent("PATCH"), 0u);
        CHECK(x.guest.calls.empty());
      }
    }
  }
}

SCENARIO("a running object is stamped before it is served") {
  auto x = desk{};
  x.cluster.stand("Running");
  auto version = version_of(x);
  auto got = x.open(at_epoch(9));
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET TPL", "POST SBC", "GET SB", "GET POD", "PATCH SB json", "GET SB", "GET POD", "GET PVC"}));
  CHECK_JSON(x.api.sent("PATCH").at(0).body, json::array({test_op("/metadata/resourceVersion", version), add_op(epoch_at, "9")}));
}

// [W 147] a create at 4 over what is stored at 5
SCENARIO("an object of a newer holder is not touched") {
  auto x = desk{};
  x.cluster.stand("Suspended", "5");
  auto got = x.open(at_epoch(4));
  const auto* why = failed_with<precondition>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->operation, "createKubernetesWorkspace");
  CHECK_EQ(why->epoch, 4u);
  CHECK_EQ(why->stored_epoch, 5u);
  CHECK_EQ(x.sent("PATCH"), 0u);
  CHECK_EQ(x.cluster.pod, std::nullopt);
}

// [W 102] a refresh on adopting a suspended object
SCENARIO("an adopt with a refresh writes the new template and wakes in one patch") {
  auto x = desk{};
  x.cluster.stand("Suspended");
  x.cluster.the_template["spec"]["podTemplate"]["spec"]["containers"][0]["image"] = "i2";
  auto from = read_template(x.cluster.the_template, overlay{"tpl", std::nullopt, {}});
  auto at = x.now();
  auto got = x.open({}, refreshing());
  REQUIRE(got.answer.has_value());
  CHECK(got.answer->from == origin::resumed);
  auto sent = x.api.sent("PATCH");
  REQUIRE_EQ(sent.size(), 1u);
  CHECK_JSON(sent[0].body, json::array({test_op("/spec/operatingMode", "Suspended"), add_op(changed_at, at), add_op(hash_at, from->hash),
                                        add_op("/spec/podTemplate", from->pod_template), add_op("/spec/operatingMode", "Running")}));
  CHECK_EQ(got.after.revision, from->hash);
  CHECK(got.after.revision_current);
}

// [W 103] a refresh on adopting a running object
SCENARIO("an adopt with a refresh leaves a running object alone") {
  auto x = desk{};
  x.cluster.stand("Running");
  x.cluster.the_template["spec"]["podTemplate"]["spec"]["containers"][0]["image"] = "i2";
  auto got = x.open({}, refreshing());
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.sent("PATCH"), 0u);
  CHECK(!got.after.revision_current);
}

// [W 104] an object without a hash
SCENARIO("an object without a hash has an unknown revision, and adopting stamps none") {
  auto x = desk{};
  x.cluster.stand("Running");
  (*x.cluster.sandbox)["metadata"]["annotations"].erase("sandbox.namzu.ai/pod-template-hash");
  auto got = x.open();
  REQUIRE(got.answer.has_value());
  CHECK_EQ(got.after.revision, std::nullopt);
  CHECK(!got.after.revision_current);
  CHECK_EQ(x.cluster.annotation("pod-template-hash"), std::nullopt);
}

// -- taking up ---------------------------------------------------------------

SCENARIO("taking up a running workspace stamps it, binds a session and wakes nothing") {
  auto x = desk{host::fenced, server::with_uids};
  x.cluster.stand("Running", "0");
  auto got = x.take_up();
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET SB", "GET POD", "PATCH SB json", "GET SB", "GET POD", "GET PVC"}));
  CHECK(got.after.at == state::running);
  CHECK_EQ(got.after.template_name, "tpl");
  CHECK_EQ(got.after.epoch, 1u);
}

SCENARIO("taking up a suspended workspace reads and writes nothing") {
  auto x = desk{host::fenced, server::with_uids};
  x.cluster.stand("Suspended", "0");
  auto got = x.take_up();
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET SB", "GET POD"}));
  CHECK(got.after.at == state::suspended);
  x.cluster.pod = desk_cluster::draining(x.cluster.make_pod());
  got = x.take_up();
  CHECK(got.after.at == state::suspending);
  CHECK_EQ(got.after.retired_pod, pod_uid{"P1"});
  CHECK_EQ(x.cluster.mode(), "Suspended");
}

SCENARIO("a workspace whose controller has not seen its suspend is not taken up as suspended") {
  auto x = desk{host::fenced, server::with_generations};
  x.cluster.controller_acts = false;
  x.cluster.stand("Suspended", "0");
  CHECK(x.take_up().after.at == state::suspending);
  x.cluster.look();
  CHECK(x.take_up().after.at == state::suspended);
}

SCENARIO("taking up a name under which nothing stands says so") {
  auto x = desk{host::fenced, server::with_uids};
  auto got = x.take_up();
  CHECK(api_failed_with<k8s::already_gone>(got) != nullptr);
  CHECK(got.after.at == state::unknown);
  auto known = session{};
  known.at = state::running;
  known.sandbox = sandbox_uid{"S1"};
  CHECK(x.take_up(known).after.at == state::deleted);
}

SCENARIO("taking up an object that is no workspace of ours is refused") {
  auto x = desk{host::fenced, server::with_uids};
  x.cluster.stand("Running");
  labels_of(x).erase("sandbox.namzu.ai/template");
  auto got = x.take_up();
  CHECK(failed_with<mismatch>(got) != nullptr);
  CHECK_EQ(x.sent("PATCH"), 0u);
  CHECK(got.after.at == state::unknown);
}
