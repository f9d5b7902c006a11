#define CAF_SUITE suspend

#include "tests/workspace/desk.hpp"
#include "workspace/admission.hpp"
#include "workspace/inventory.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::workspace;
using namespace paddock::workspace::test;
namespace pt = paddock::test;
using nlohmann::json;
using strings = std::vector<std::string>;
using host = desk::host;
using server = desk::api_server;

// [W 75] a suspend without a flush
SCENARIO("a suspend sends one patch and waits for the pod to be gone") {
  auto x = desk{};
  auto before = opened_on(x);
  auto at = x.now();
  auto got = x.suspend(before, {false, false});
  REQUIRE(got.answer.has_value());
  auto patches = x.api.sent("PATCH");
  REQUIRE_EQ(patches.size(), 1u);
  CHECK(patches[0].type == k8s::call::content::merge_patch);
  CHECK_JSON(patches[0].body, desk::merge("Suspended", at));
  CHECK_EQ(x.requests(), (strings{"PATCH SB merge", "GET POD"}));
  CHECK_EQ(x.sent("DELETE"), 0u);
  CHECK(got.after.at == state::suspended);
  CHECK_EQ(got.after.pod, std::nullopt);
  CHECK(!got.after.guest.has_value());
  CHECK_EQ(got.after.retired_pod, before.pod);
}

// [W 76] once more
SCENARIO("a suspend of a suspended workspace sends nothing where no uid is known") {
  auto x = desk{};
  auto held = x.suspend(opened_on(x));
  x.forget();
  auto got = x.suspend(held.after);
  REQUIRE(got.answer.has_value());
  CHECK(x.requests().empty());
  CHECK(got.after.at == state::suspended);
}

// [W 77] a pod that drains, and a condition that says otherwise
SCENARIO("a suspend waits as long as the pod drains, whatever the Suspended condition says") {
  auto x = desk{};
  auto before = opened_on(x);
  (*x.cluster.sandbox)["status"]["conditions"][0] = {{"type", "Suspended"}, {"status", "True"}};
  drain_for(x, 3);
  auto got = x.suspend(before);
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.requests(), (strings{"PATCH SB merge", "GET POD", "GET POD", "GET POD", "GET POD"}));
  CHECK(got.after.at == state::suspended);
}

// [W 78] the pod has stopped
SCENARIO("a pod that has stopped counts as gone") {
  for (const auto* phase : {"Succeeded", "Failed"}) {
    auto x = desk{};
    auto before = opened_on(x);
    x.cluster.intercept = [phase](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
      if (!is_get(what, "/pods/"))
        return std::nullopt;
      return pt::found({{"metadata", {{"uid", "P1"}, {"deletionTimestamp", "x"}}}, {"status", {{"phase", phase}}}});
    };
    auto got = x.suspend(before);
    CHECK(got.after.at == state::suspended);
    CHECK_EQ(x.requests(), (strings{"PATCH SB merge", "GET POD"}));
  }
}

// [W 79] the pod drains past the budget
SCENARIO("a suspend whose pod drains too long is suspending, and can be finished later") {
  auto x = desk{};
  auto before = opened_on(x);
  drain_for(x, 100'000);
  auto got = x.suspend(before);
  const auto* why = failed_with<suspend_timeout>(got);
  REQUIRE(why != nullptr);
  CHECK(why->bound == std::chrono::milliseconds{60'000});
  CHECK_EQ(why->workspace, "desk");
  CHECK(got.after.at == state::suspending);
  auto refusal = admit(x.which, got.after, "exec");
  REQUIRE(!refusal);
  CHECK_EQ(std::get<suspended>(refusal.error()).noticed_by, "admission");
  x.cluster.intercept = {};
  x.forget();
  got = x.suspend(got.after);
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.requests(), (strings{"PATCH SB merge", "GET POD"}));
  CHECK(got.after.at == state::suspended);
  CHECK_EQ(got.after.retired_pod, pod_uid{"P1"});
}

// [W 80] the PATCH answers 500; with a uid [W] P4 holds instead
SCENARIO("where no uid is known a patch that fails leaves the workspace running") {
  auto x = desk{};
  auto before = opened_on(x);
  x.cluster.intercept = [](const k8s::call& what, std::size_t) {
    return what.method == "PATCH" ? std::optional{pt::status(what, 500)} : std::nullopt;
  };
  auto got = x.suspend(before);
  CHECK_EQ(status_of(got.answer.error()), 500u);
  CHECK(got.after.at == state::running);
  CHECK_EQ(got.after.pod, before.pod);
  auto admitted = admit(x.which, got.after, "exec");
  REQUIRE(admitted.has_value());
  CHECK_EQ(admitted->token, secret{"P1"});
  CHECK(x.exec(got.after).has_value());
  x.cluster.intercept = {};
  x.forget();
  CHECK(x.suspend(got.after).after.at == state::suspended);
  CHECK_EQ(x.requests(), (strings{"PATCH SB merge", "GET POD"}));
}

// [W 82] the wait fails
SCENARIO("a pod that cannot be read leaves the landed patch and the state suspending") {
  auto x = desk{};
  auto before = opened_on(x);
  x.cluster.intercept = [](const k8s::call& what, std::size_t) {
    return is_get(what, "/pods/") ? std::optional{pt::status(what, 500)} : std::nullopt;
  };
  auto got = x.suspend(before);
  REQUIRE(api_failed_with<k8s::api_failure>(got) != nullptr);
  CHECK_EQ(status_of(got.answer.error()), 500u);
  CHECK(got.after.at == state::suspending);
  CHECK_EQ(x.cluster.mode(), "Suspended");
}

// [W 86] a deleted workspace
SCENARIO("a deleted workspace is not suspended") {
  auto x = desk{};
  auto before = session{};
  before.at = state::deleted;
  auto got = x.suspend(before);
  const auto* why = failed_with<destroyed>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->operation, "suspend");
  CHECK(x.requests().empty());
}

// [W 88] with a uid and annotations
SCENARIO("a suspend of a known uid reads first and tests the uid") {
  auto x = desk{host::unfenced, server::with_uids};
  auto before = opened_on(x);
  auto at = x.now();
  auto got = x.suspend(before);
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET SB", "PATCH SB json", "GET POD"}));
  CHECK_JSON(x.api.sent("PATCH").at(0).body,
             json::array({test_op("/metadata/uid", "S1"), add_op(changed_at, at), add_op("/spec/operatingMode", "Suspended")}));
}

// [W 89] with a uid and no annotations map
SCENARIO("a suspend of an object without annotations adds the map whole, on its version") {
  auto x = desk{host::unfenced, server::with_uids};
  auto before = opened_on(x);
  (*x.cluster.sandbox)["metadata"].erase("annotations");
  auto version = version_of(x);
  auto at = x.now();
  auto got = x.suspend(before);
  REQUIRE(got.answer.has_value());
  CHECK_JSON(x.api.sent("PATCH").at(0).body,
             json::array({test_op("/metadata/uid", "S1"), test_op("/metadata/resourceVersion", version),
                          add_op("/metadata/annotations", {{"sandbox.namzu.ai/operating-mode-changed-at", at}}),
                          add_op("/spec/operatingMode", "Suspended")}));
}

// [W 148] stored and held alike
SCENARIO("a fenced suspend tests the stored epoch and writes its own") {
  auto x = desk{host::fenced, server::without_uids};
  x.cluster.stand("Running", "2");
  auto before = session{};
  before.at = state::running;
  before.epoch = 2;
  auto at = x.now();
  REQUIRE(x.suspend(before).answer.has_value());
  CHECK_JSON(x.api.sent("PATCH").at(0).body, json::array({test_op(epoch_at, "2"), add_op(epoch_at, "2"), add_op(changed_at, at),
                                                          add_op("/spec/operatingMode", "Suspended")}));
  CHECK_EQ(x.requests(), (strings{"GET SB", "PATCH SB json", "GET POD"}));
}

// [W 152] every patch is refused and nothing moves
SCENARIO("a refused patch on an object that does not move is not repeated") {
  auto x = desk{host::fenced, server::without_uids};
  x.cluster.stand("Running", "2");
  auto before = opened_on(x);
  x.cluster.intercept = [](const k8s::call& what, std::size_t) {
    return what.method == "PATCH" ? std::optional{pt::not_applied(what)} : std::nullopt;
  };
  auto got = x.suspend(before);
  CHECK(api_failed_with<k8s::patch_not_applied>(got) != nullptr);
  CHECK_EQ(x.requests(), (strings{"GET SB", "PATCH SB json", "GET SB"}));
  CHECK(got.after.at == state::running);
}

// [W 151] the version moves once
// [W 153] the version moves before every patch
SCENARIO("a patch on an object that moves is repeated, three times at most") {
  for (auto moves : {1, 100}) {
    auto x = desk{host::fenced, server::without_uids};
    x.cluster.stand("Running");
    auto before = session{};
    before.at = state::running;
    before.epoch = 3;
    x.cluster.intercept = [&x, left = moves](const k8s::call& what, std::size_t) mutable -> std::optional<desk_cluster::reply> {
      if (what.method == "PATCH" && left-- > 0)
        x.cluster.bump();
      return std::nullopt;
    };
    auto got = x.suspend(before);
    if (moves == 1) {
      CHECK(got.answer.has_value());
      CHECK_EQ(x.requests(), (strings{"GET SB", "PATCH SB json", "GET SB", "PATCH SB json", "GET POD"}));
    } else {
      CHECK(api_failed_with<k8s::patch_not_applied>(got) != nullptr);
      CHECK_EQ(x.sent("PATCH"), 3u);
    }
  }
}

// [W 164] the object was made anew
SCENARIO("a suspend of an object that was made anew is refused as replaced") {
  auto x = desk{host::unfenced, server::with_uids};
  auto before = opened_on(x);
  x.cluster.stand("Running", std::nullopt, "S2");
  auto got = x.suspend(before);
  const auto* why = failed_with<replaced>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->expected, sandbox_uid{"S1"});
  CHECK_EQ(why->actual, sandbox_uid{"S2"});
  CHECK_EQ(x.requests(), strings{"GET SB"});
  CHECK(got.after.at == state::running);
}

// [W 165] it is made anew between the read and the patch
SCENARIO("an object that is made anew before the patch is not written") {
  auto x = desk{host::unfenced, server::with_uids};
  auto before = opened_on(x);
  x.cluster.intercept = [&x](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    if (what.method == "PATCH")
      x.cluster.stand("Running", std::nullopt, "S2");
    return std::nullopt;
  };
  auto got = x.suspend(before);
  const auto* why = failed_with<replaced>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->actual, sandbox_uid{"S2"});
  CHECK_EQ(x.requests(), (strings{"GET SB", "PATCH SB json", "GET SB"}));
  CHECK_EQ(x.cluster.mode(), "Running");
}

// [W 167] a stranger with a higher epoch
SCENARIO("a stranger is reported as replaced whatever epoch it carries") {
  auto x = desk{host::fenced, server::with_uids};
  auto before = session{};
  before.at = state::running;
  before.sandbox = sandbox_uid{"S1"};
  before.epoch = 4;
  x.cluster.stand("Running", "9", "S2");
  for (auto verb : {desk::verb::suspend, desk::verb::resume, desk::verb::remove, desk::verb::open, desk::verb::take_up}) {
    auto got = x.run(verb, before);
    REQUIRE(got.why.has_value());
    CHECK(std::holds_alternative<replaced>(*got.why));
  }
  CHECK_EQ(x.sent("PATCH"), 0u);
  CHECK_EQ(x.sent("DELETE"), 0u);
}

// [W 279] the answer of the patch was lost
SCENARIO("a suspend whose answer was lost is suspending, and the resume after it looks first") {
  for (auto landed : {true, false}) {
    auto x = desk{host::fenced, server::with_uids};
    auto before = opened_on(x);
    auto delivering = false;
    x.cluster.intercept = [&](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
      if (what.method != "PATCH" || delivering)
        return std::nullopt;
      delivering = true;
      if (landed)
        static_cast<void>(x.cluster.answer(what));
      delivering = false;
      return pt::timed_out(what);
    };
    auto got = x.suspend(before);
    const auto* why = failed_with<write_unknown>(got);
    REQUIRE(why != nullptr);
    CHECK_EQ(why->operation, "suspend");
    CHECK(got.after.at == state::suspending);
    CHECK_EQ(got.after.epoch, *before.epoch + 1);
    x.cluster.intercept = {};
    x.forget();
    auto resumed = x.resume(got.after);
    REQUIRE(resumed.answer.has_value());
    CHECK_EQ(x.requests().front(), "GET SB");
    CHECK_EQ(x.cluster.mode(), "Running");
    CHECK_EQ(resumed.after.pod, pod_uid{landed ? "P2" : "P1"});
    CHECK_EQ(x.cluster.annotation("holder-epoch"), std::to_string(*before.epoch + 1));
  }
}

// [W 271] a write that nobody answered arrives late
SCENARIO("a write of unknown outcome that arrives after the next verb changes nothing") {
  auto x = desk{host::fenced, server::with_uids};
  auto before = opened_on(x);
  auto late = std::optional<k8s::call>{};
  x.cluster.intercept = [&](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    if (what.method != "PATCH" || late)
      return std::nullopt;
    late = what;
    return pt::timed_out(what);
  };
  auto got = x.suspend(before);
  REQUIRE(failed_with<write_unknown>(got) != nullptr);
  auto next = x.resume(got.after);
  REQUIRE(next.answer.has_value());
  CHECK_EQ(x.cluster.annotation("holder-epoch"), std::to_string(*before.epoch + 1));
  const auto standing = *x.cluster.sandbox;
  auto reply = x.cluster.answer(*late);
  REQUIRE(!reply);
  CHECK(std::holds_alternative<k8s::patch_not_applied>(reply.error()));
  CHECK_JSON(*x.cluster.sandbox, standing);
}

// [W 134] what an inventory shows of the changes of mode
SCENARIO("an inventory shows when the mode was changed last and nothing before it was") {
  auto x = desk{};
  auto now = x.open().after;
  CHECK_EQ(summarise(*x.cluster.sandbox)->mode_changed_at, std::nullopt);
  auto suspended_at = x.now();
  now = x.suspend(now).after;
  auto shown = summarise(*x.cluster.sandbox)->mode_changed_at;
  CHECK_EQ(shown, suspended_at);
  CHECK_EQ(shown, x.cluster.annotation("operating-mode-changed-at"));
  x.time.advance(std::chrono::seconds{3});
  auto resumed_at = x.now();
  REQUIRE(x.resume(now).answer.has_value());
  CHECK_EQ(summarise(*x.cluster.sandbox)->mode_changed_at, resumed_at);
  CHECK(resumed_at > suspended_at);
}

// [W 280] another host resumed it
SCENARIO("a suspend of a workspace that another host resumed is carried out or refused, never a bare success") {
  auto x = desk{host::unfenced, server::with_uids};
  auto held = x.suspend(opened_on(x));
  x.cluster.set_mode("Running");
  x.forget();
  auto got = x.suspend(held.after);
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET SB", "PATCH SB json", "GET POD"}));
  CHECK_EQ(x.cluster.mode(), "Suspended");

  auto y = desk{host::fenced, server::with_uids};
  held = y.suspend(opened_on(y));
  y.cluster.stand("Running", "7");
  y.forget();
  got = y.suspend(held.after);
  CHECK(failed_with<precondition>(got) != nullptr);
  CHECK_EQ(y.requests(), strings{"GET SB"});

  auto z = desk{};
  held = z.suspend(opened_on(z));
  z.cluster.set_mode("Running");
  z.forget();
  CHECK(z.suspend(held.after).answer.has_value());
  CHECK(z.requests().empty());
}

SCENARIO("a suspended workspace that still reads as Suspended has its pod looked for once more") {
  auto x = desk{host::fenced, server::with_uids};
  auto held = x.suspend(opened_on(x));
  x.forget();
  auto got = x.suspend(held.after);
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET SB", "GET POD"}));
}

// [W 288] the controller has not seen the new generation
SCENARIO("a suspend waits for the controller to have seen it before it believes that the pod is gone") {
  auto x = desk{host::fenced, server::with_generations};
  auto before = opened_on(x);
  x.cluster.controller_acts = false;
  x.cluster.pod.reset();
  auto reads = 0;
  auto pod_reads = 0;
  x.cluster.intercept = [&](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    if (is_get(what, "/sandboxes/") && ++reads == 4) {
      // An earlier pass still started a pod; only now the controller reports the generation of the patch.
      (*x.cluster.sandbox)["status"]["conditions"][1]["observedGeneration"] = (*x.cluster.sandbox)["metadata"]["generation"];
      x.cluster.pod = desk_cluster::draining(x.cluster.make_pod());
    }
    if (is_get(what, "/pods/") && ++pod_reads == 3)
      x.cluster.pod.reset();
    return std::nullopt;
  };
  auto got = x.suspend(before);
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET SB", "PATCH SB json", "GET SB", "GET SB", "GET SB", "GET POD", "GET POD", "GET POD"}));
  CHECK(got.after.at == state::suspended);
}

SCENARIO("a suspend of a workspace at which no controller has looked yet waits for the first look") {
  auto x = desk{host::fenced, server::with_generations};
  x.cluster.controller_acts = false;
  x.cluster.stand("Running", "0");
  auto reads = 0;
  x.cluster.intercept = [&](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    if (is_get(what, "/sandboxes/") && ++reads == 4)
      x.cluster.look();
    return std::nullopt;
  };
  auto got = x.suspend({});
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET SB", "PATCH SB json", "GET SB", "GET SB", "GET SB", "GET POD"}));
  CHECK(got.after.at == state::suspended);
}

SCENARIO("a suspend succeeds once the controller has seen it and the pod is gone") {
  auto x = desk{host::fenced, server::with_generations};
  auto before = opened_on(x);
  auto got = x.suspend(before);
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET SB", "PATCH SB json", "GET SB", "GET POD"}));
  CHECK(got.after.at == state::suspended);
}

SCENARIO("a suspend of a workspace that was never read reads it first") {
  auto x = desk{host::unfenced, server::with_uids};
  x.cluster.stand("Running");
  auto got = x.suspend({});
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.requests(), (strings{"GET SB", "PATCH SB json", "GET POD"}));
  CHECK_EQ(got.after.sandbox, sandbox_uid{"S1"});
  CHECK(x.guest.calls.empty());
  auto y = desk{};
  CHECK(api_failed_with<k8s::already_gone>(y.suspend({})) != nullptr);
}

SCENARIO("an overtaken host changes nothing and keeps its session") {
  auto x = desk{host::fenced, server::with_uids};
  auto before = opened_on(x);
  (*x.cluster.sandbox)["metadata"]["annotations"]["sandbox.namzu.ai/holder-epoch"] = "5";
  auto got = x.suspend(before);
  const auto* why = failed_with<precondition>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->operation, "suspend");
  CHECK_EQ(why->stored_epoch, 5u);
  CHECK(got.after.at == state::running);
  CHECK_EQ(got.after.pod, before.pod);
  CHECK_EQ(x.requests(), strings{"GET SB"});
}

SCENARIO("an object that lost the epoch we had stamped is not written") {
  auto x = desk{host::fenced, server::with_uids};
  auto before = opened_on(x);
  (*x.cluster.sandbox)["metadata"]["annotations"].erase("sandbox.namzu.ai/holder-epoch");
  auto got = x.suspend(before);
  CHECK(failed_with<precondition>(got) != nullptr);
  CHECK_EQ(x.requests(), strings{"GET SB"});
}

SCENARIO("a suspended workspace that an older holder could still wake is written, and then it cannot") {
  auto x = desk{host::fenced, server::with_uids};
  x.on.how.epoch_base = 7;
  x.cluster.stand("Suspended", "3");
  const auto taken = x.take_up();
  REQUIRE(taken.after.at == state::suspended);
  x.forget();
  const auto first = x.suspend(taken.after);
  CHECK(first.after.at == state::suspended);
  CHECK_EQ(x.requests(), (strings{"GET SB", "PATCH SB json", "GET POD"}));
  CHECK_EQ(x.cluster.annotation("holder-epoch"), "7");
  const auto second = x.suspend(first.after);
  CHECK(second.after.at == state::suspended);
  CHECK_EQ(x.requests(), (strings{"GET SB", "GET POD"}));
}

SCENARIO("a suspended workspace is rested only once its controller has seen it") {
  auto x = desk{host::fenced, server::with_generations};
  auto got = x.suspend(opened_on(x));
  REQUIRE(got.after.at == state::suspended);
  x.cluster.controller_acts = false;
  x.cluster.sandbox->at("metadata")["generation"] = 9;
  x.budget = std::chrono::milliseconds{2'000};
  got = x.suspend(got.after);
  CHECK(failed_with<suspend_timeout>(got) != nullptr);
  CHECK(got.after.at == state::suspending);
}
