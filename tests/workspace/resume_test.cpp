#define CAF_SUITE resume

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

// [W 90] a suspended workspace
SCENARIO("a resume wakes, binds the new pod and probes it under its token") {
  auto x = desk{};
  auto before = suspended_on(x);
  auto at = x.now();
  auto got = x.resume(before);
  REQUIRE(got.answer.has_value());
  CHECK_JSON(x.api.sent("PATCH").back().body, desk::merge("Running", at));
  CHECK_EQ(x.requests(), (strings{"GET SB", "PATCH SB merge", "GET SB", "GET POD"}));
  CHECK(got.after.at == state::running);
  CHECK(got.answer->from == origin::resumed);
  REQUIRE_EQ(x.guest.count(guest_call::op::execute), 2u);
  CHECK_EQ(x.guest.calls[1].where.token, secret{"P2"});
  CHECK_EQ(got.after.pod, pod_uid{"P2"});
}

// [W 54] the origin is fixed for life
SCENARIO("a resume does not change how the session came to be") {
  auto x = desk{};
  x.cluster.stand("Running");
  auto got = x.resume(suspended_on(x));
  REQUIRE(got.answer.has_value());
  CHECK(got.after.from == origin::adopted_running);
}

// [W 91] a running one, unfenced
SCENARIO("a resume of a running workspace that knows no uid and no epoch sends nothing") {
  auto x = desk{};
  auto got = x.resume(opened_on(x));
  REQUIRE(got.answer.has_value());
  CHECK(x.requests().empty());
}

// [W 92] a deleted one
SCENARIO("a deleted workspace is not resumed") {
  auto x = desk{};
  auto before = session{};
  before.at = state::deleted;
  auto got = x.resume(before);
  const auto* why = failed_with<destroyed>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->operation, "resume");
  CHECK(x.requests().empty());
}

// [W 93] after a suspend that timed out
// [W 56] the old pod is shown for a while
SCENARIO("a resume waits for a pod other than the one that was suspended") {
  for (auto shows_old : {true, false}) {
    auto x = desk{};
    auto before = opened_on(x);
    auto old = *x.cluster.pod;
    auto stuck = true;
    x.cluster.intercept = [&](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
      return stuck && is_get(what, "/pods/") ? std::optional{pt::found(desk_cluster::draining(old))} : std::nullopt;
    };
    auto held = x.suspend(before);
    REQUIRE(failed_with<suspend_timeout>(held) != nullptr);
    auto reads = 0;
    x.cluster.intercept = [&](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
      if (is_get(what, "/pods/") && ++reads <= 2)
        return shows_old ? pt::found(old) : pt::gone(what);
      if (is_get(what, "labelSelector"))
        return pt::found({{"items", json::array()}});
      return std::nullopt;
    };
    const auto probes = x.guest.calls.size();
    auto got = x.resume(held.after);
    REQUIRE(got.answer.has_value());
    CHECK_EQ(got.after.pod, pod_uid{"P2"});
    CHECK_EQ(reads, 3);
    for (auto i = probes; i < x.guest.calls.size(); ++i)
      CHECK_EQ(x.guest.calls[i].where.token, secret{"P2"});
  }
}

// [W 94] it runs already
SCENARIO("a resume of what already runs sends no patch and binds the pod that stands") {
  auto x = desk{};
  auto before = suspended_on(x);
  x.cluster.set_mode("Running");
  auto changed = x.cluster.annotation("operating-mode-changed-at");
  x.time.advance(std::chrono::seconds{5});
  auto got = x.resume(before);
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET SB", "GET SB", "GET POD"}));
  CHECK_EQ(x.cluster.annotation("operating-mode-changed-at"), changed);
  CHECK_EQ(got.after.pod, pod_uid{"P2"});
}

// [W 95] the object cannot be read
SCENARIO("a resume that cannot read the object changes nothing, and a later one works") {
  auto x = desk{};
  auto before = suspended_on(x);
  x.cluster.intercept = [](const k8s::call& what, std::size_t) { return std::optional{pt::status(what, 500)}; };
  auto got = x.resume(before);
  CHECK_EQ(status_of(got.answer.error()), 500u);
  CHECK(got.after.at == state::suspended);
  CHECK_EQ(got.after.retired_pod, before.retired_pod);
  x.cluster.intercept = {};
  CHECK(x.resume(got.after).answer.has_value());
}

// [W 97] what the next resume excludes
SCENARIO("a resume forgets the pod it replaced") {
  auto x = desk{};
  auto got = x.resume(suspended_on(x));
  CHECK_EQ(got.after.retired_pod, std::nullopt);
  auto again = x.suspend(got.after);
  CHECK_EQ(again.after.retired_pod, pod_uid{"P2"});
  // A pod with the uid of the first one is now as good as any.
  x.cluster.intercept = [&x](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    if (!is_get(what, "/pods/"))
      return std::nullopt;
    auto pod = *x.cluster.pod;
    pod["metadata"]["uid"] = "P1";
    return pt::found(pod);
  };
  CHECK_EQ(x.resume(again.after).after.pod, pod_uid{"P1"});
}

// [W 155] a running workspace, an epoch
// [W 156] one stamp a call
// [W 154] a stamp touches nothing else
SCENARIO("a fenced resume of a running workspace stamps and does nothing else") {
  auto x = desk{host::fenced, server::without_uids};
  auto held = session{};
  held.epoch = 2;
  auto before = x.open(held).after;
  CHECK_EQ(before.epoch, 2u);
  x.forget();
  before.epoch = 6;
  for (auto i = 0; i < 2; ++i) {
    auto got = x.resume(before);
    REQUIRE(got.answer.has_value());
    CHECK_EQ(x.requests(), (strings{"GET SB", "PATCH SB json"}));
    CHECK_JSON(x.api.sent("PATCH").back().body, json::array({test_op(epoch_at, i == 0 ? "2" : "6"), add_op(epoch_at, "6")}));
    before = got.after;
  }
  CHECK_EQ(x.cluster.annotation("operating-mode-changed-at"), std::nullopt);
  auto at = x.now();
  REQUIRE(x.suspend(before).answer.has_value());
  CHECK_JSON(x.api.sent("PATCH").back().body, json::array({test_op(epoch_at, "6"), add_op(epoch_at, "6"), add_op(changed_at, at),
                                                           add_op("/spec/operatingMode", "Suspended")}));
}

// [W 168] the stamp carries the uid
SCENARIO("a stamp tests the epoch and then the uid") {
  auto x = desk{host::fenced, server::with_uids};
  auto before = opened_on(x);
  before.epoch = 2;
  REQUIRE(x.resume(before).answer.has_value());
  CHECK_JSON(x.api.sent("PATCH").at(0).body, json::array({test_op(epoch_at, "0"), test_op("/metadata/uid", "S1"), add_op(epoch_at, "2")}));
}

// [W 166] the object is another one
SCENARIO("a resume of an object that was made anew wakes nothing") {
  auto x = desk{host::unfenced, server::with_uids};
  auto before = suspended_on(x);
  x.cluster.stand("Suspended", std::nullopt, "S2");
  auto got = x.resume(before);
  CHECK(failed_with<replaced>(got) != nullptr);
  CHECK_EQ(x.requests(), strings{"GET SB"});
  CHECK_EQ(x.cluster.mode(), "Suspended");
  CHECK(got.after.at == state::suspended);
}

SCENARIO("a stranger that already runs is not bound either") {
  auto x = desk{host::unfenced, server::with_uids};
  auto before = suspended_on(x);
  x.cluster.stand("Running", std::nullopt, "S2");
  CHECK(failed_with<replaced>(x.resume(before)) != nullptr);
  CHECK_EQ(x.requests(), strings{"GET SB"});
}

// [W 281] a running workspace that was suspended elsewhere
SCENARIO("a resume of a running workspace reads it once and resumes it where it was suspended") {
  auto x = desk{host::unfenced, server::with_uids};
  auto before = opened_on(x);
  auto got = x.resume(before);
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.requests(), strings{"GET SB"});
  x.cluster.set_mode("Suspended");
  auto at = x.now();
  got = x.resume(before);
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET SB", "PATCH SB json", "GET SB", "GET POD"}));
  CHECK_JSON(x.api.sent("PATCH").at(0).body, json::array({test_op("/metadata/uid", "S1"), test_op("/spec/operatingMode", "Suspended"),
                                                          add_op(changed_at, at), add_op("/spec/operatingMode", "Running")}));
  CHECK_EQ(got.after.pod, pod_uid{"P2"});
}

SCENARIO("a wake-up whose answer was lost is resuming, and the next resume looks first") {
  for (auto landed : {true, false}) {
    auto x = desk{host::fenced, server::with_uids};
    auto before = suspended_on(x);
    auto delivering = false;
    x.cluster.intercept = [&](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
      if (what.method != "PATCH" || delivering)
        return std::nullopt;
      delivering = true;
      if (landed)
        static_cast<void>(x.cluster.answer(what));
      delivering = false;
      return pt::unreachable(what, true);
    };
    auto got = x.resume(before);
    REQUIRE(failed_with<write_unknown>(got) != nullptr);
    CHECK(got.after.at == state::resuming);
    CHECK_EQ(got.after.epoch, *before.epoch + 1);
    CHECK_EQ(got.after.retired_pod, pod_uid{"P1"});
    x.cluster.intercept = {};
    auto again = x.resume(got.after);
    REQUIRE(again.answer.has_value());
    CHECK_EQ(again.after.pod, pod_uid{"P2"});
    CHECK_EQ(x.cluster.annotation("holder-epoch"), std::to_string(*before.epoch + 1));
  }
}

// [W 98] a plain resume after an edit of the template
SCENARIO("a plain resume leaves the pod template as it is") {
  auto x = desk{};
  auto before = suspended_on(x);
  edit_template(x);
  auto stored = (*x.cluster.sandbox)["spec"]["podTemplate"];
  auto at = x.now();
  REQUIRE(x.resume(before).answer.has_value());
  CHECK_JSON(x.api.sent("PATCH").back().body, desk::merge("Running", at));
  CHECK_JSON((*x.cluster.sandbox)["spec"]["podTemplate"], stored);
  auto asked = x.requests();
  CHECK_EQ(std::ranges::count(asked, "GET TPL"), 0);
}

// [W 99] a refresh
// [W 101] never the disks
SCENARIO("a resume with a refresh writes template, hash and mode in one patch, under the uid where it is known") {
  for (auto says : {server::without_uids, server::with_uids}) {
    auto x = desk{host::unfenced, says};
    auto before = suspended_on(x);
    edit_template(x);
    auto from = read_template(x.cluster.the_template, overlay{"tpl", std::nullopt, {}});
    auto at = x.now();
    auto got = x.resume(before, refreshing());
    REQUIRE(got.answer.has_value());
    CHECK_EQ(x.requests(), (strings{"GET SB", "GET TPL", "PATCH SB json", "GET SB", "GET POD"}));
    auto expected = json::array();
    if (says == server::with_uids)
      expected.push_back(test_op("/metadata/uid", "S1"));
    for (auto op : {test_op("/spec/operatingMode", "Suspended"), add_op(changed_at, at), add_op(hash_at, from->hash),
                    add_op("/spec/podTemplate", from->pod_template), add_op("/spec/operatingMode", "Running")})
      expected.push_back(op);
    CHECK_JSON(x.api.sent("PATCH").back().body, expected);
    CHECK_EQ(x.cluster.annotation("pod-template-hash"), from->hash);
    CHECK_EQ(got.after.revision, from->hash);
    CHECK(got.after.revision_current);
    const auto sent = x.api.sent("PATCH").back().body;
    for (const auto& op : sent)
      CHECK(op.at("path").get<std::string>().find("volumeClaimTemplates") == std::string::npos);
  }
}

// [W 100] a key that the template dropped
SCENARIO("a key that the template no longer has is gone after a refresh") {
  auto x = desk{};
  x.cluster.the_template["spec"]["podTemplate"]["spec"]["nodeSelector"] = {{"disk", "ssd"}, {"zone", "a"}};
  auto before = suspended_on(x);
  x.cluster.the_template["spec"]["podTemplate"]["spec"]["nodeSelector"].erase("disk");
  REQUIRE(x.resume(before, refreshing()).answer.has_value());
  CHECK_JSON((*x.cluster.sandbox)["spec"]["podTemplate"]["spec"]["nodeSelector"], (json{{"zone", "a"}}));
}

// [W 109] the template has a disk more
SCENARIO("a refresh from a template with another disk is refused by name and wakes nothing") {
  auto x = desk{};
  auto before = suspended_on(x);
  x.cluster.the_template["spec"]["volumeClaimTemplates"].push_back({{"metadata", {{"name", "more"}}}, {"spec", {{"volumeMode", "Block"}}}});
  auto got = x.resume(before, refreshing());
  const auto* why = failed_with<disk_refused>(got);
  REQUIRE(why != nullptr);
  CHECK(why->text.find("more") != std::string::npos);
  CHECK_EQ(x.requests(), (strings{"GET SB", "GET TPL"}));
  CHECK_EQ(x.cluster.mode(), "Suspended");
  CHECK(got.after.at == state::suspended);
}

// [W 112] no annotations map
// [W 113] and another writer stamps one first
SCENARIO("a refresh of an object without annotations is bound to its version") {
  for (auto raced : {false, true}) {
    auto x = desk{};
    auto before = suspended_on(x);
    (*x.cluster.sandbox)["metadata"].erase("annotations");
    auto version = version_of(x);
    auto from = read_template(x.cluster.the_template, overlay{"tpl", std::nullopt, {}});
    x.cluster.intercept = [&x, raced](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
      if (raced && what.method == "PATCH") {
        (*x.cluster.sandbox)["metadata"]["annotations"] = {{"other", "1"}};
        x.cluster.bump();
      }
      return std::nullopt;
    };
    auto patches = x.sent("PATCH");
    auto at = x.now();
    auto got = x.resume(before, refreshing());
    CHECK_EQ(x.sent("PATCH"), patches + 1);
    auto map = json{{"sandbox.namzu.ai/operating-mode-changed-at", at}, {"sandbox.namzu.ai/pod-template-hash", from->hash}};
    CHECK_JSON(x.api.sent("PATCH").back().body,
               json::array({test_op("/spec/operatingMode", "Suspended"), test_op("/metadata/resourceVersion", version),
                            add_op("/metadata/annotations", map), add_op("/spec/podTemplate", from->pod_template),
                            add_op("/spec/operatingMode", "Running")}));
    CHECK_EQ(got.answer.has_value(), !raced);
    if (raced) {
      CHECK(api_failed_with<k8s::patch_not_applied>(got) != nullptr);
      CHECK_JSON((*x.cluster.sandbox)["metadata"]["annotations"], (json{{"other", "1"}}));
      CHECK_EQ(x.guest.count(guest_call::op::execute), 1u);
    }
  }
}

// [W 115] a newer holder
SCENARIO("a refresh by an overtaken holder is refused") {
  auto x = desk{host::fenced, server::without_uids};
  x.cluster.stand("Suspended", "7");
  auto before = session{};
  before.at = state::suspended;
  before.epoch = 4;
  before.template_name = "tpl";
  auto got = x.resume(before, refreshing());
  const auto* why = failed_with<precondition>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->stored_epoch, 7u);
  CHECK_EQ(x.sent("PATCH"), 0u);
}

// [W 116] deleted between the refusal and the re-read
SCENARIO("an object that is gone after a refused refresh is reported as gone") {
  auto x = desk{};
  auto before = suspended_on(x);
  auto patches = x.sent("PATCH");
  x.cluster.intercept = [&x](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    if (what.method != "PATCH")
      return std::nullopt;
    x.cluster.sandbox.reset();
    return pt::not_applied(what);
  };
  auto got = x.resume(before, refreshing());
  CHECK(api_failed_with<k8s::already_gone>(got) != nullptr);
  CHECK_EQ(x.sent("PATCH"), patches + 1);
  CHECK_EQ(x.guest.count(guest_call::op::execute), 1u);
}

SCENARIO("a refresh that came second writes no template and is a session of what runs") {
  auto x = desk{};
  auto before = suspended_on(x);
  edit_template(x);
  auto stored = (*x.cluster.sandbox)["spec"]["podTemplate"];
  auto patches = x.sent("PATCH");
  x.cluster.intercept = [&x](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    if (what.method == "PATCH")
      x.cluster.set_mode("Running");
    return std::nullopt;
  };
  auto got = x.resume(before, refreshing());
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.sent("PATCH"), patches + 1);
  CHECK_JSON((*x.cluster.sandbox)["spec"]["podTemplate"], stored);
  CHECK(got.after.at == state::running);
  CHECK(!got.after.revision_current);
}

SCENARIO("a workspace that was seen to run is not held for suspended when the verb fails") {
  for (auto by_open : {false, true}) {
    auto x = desk{host::fenced, server::with_uids};
    const auto before = suspended_on(x);
    // Somebody woke it before the first look, or between that and the write.
    for (auto late : {false, true}) {
      x.cluster.set_mode("Suspended");
      if (!late)
        x.cluster.set_mode("Running");
      x.cluster.intercept = [&x, late, patches = 0](const k8s::call& what, std::size_t) mutable -> std::optional<desk_cluster::reply> {
        if (what.method != "PATCH")
          return std::nullopt;
        if (!late || ++patches > 1)
          return pt::denied(what);
        x.cluster.set_mode("Running");
        return pt::not_applied(what);
      };
      const auto got = by_open ? x.open(before) : x.resume(before);
      CHECK(!got.answer.has_value());
      CHECK_EQ(x.cluster.mode(), "Running");
      CHECK(got.after.at == state::suspending);
    }
  }
}
