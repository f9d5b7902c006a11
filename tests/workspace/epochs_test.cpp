#define CAF_SUITE epochs

// Two holders of one workspace ([W] 4), holders without an epoch, and what mends an epoch ([W] P11, P12).

#include "tests/workspace/desk.hpp"

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

void store(desk& x, const std::string& epoch) {
  (*x.cluster.sandbox)["metadata"]["annotations"]["sandbox.namzu.ai/holder-epoch"] = epoch;
  x.cluster.bump();
}

/// Two holders over one cluster: the first opened at 4, the second at 5.
struct two_holders {
  desk on;
  session first = on.open(at_epoch(4)).after;
  session second;
  std::vector<json> written_by_second;
  two_holders() {
    on.forget();
    second = on.open(at_epoch(5)).after;
    written_by_second = on.bodies();
    on.forget();
  }
};

const precondition* refused(const transition<done>& x) {
  return failed_with<precondition>(x);
}

} // namespace

// -- holders without an epoch --------------------------------------------------

// [W 142] from create to delete
SCENARIO("a host without epochs writes merge patches and a DELETE without a body, and no epoch anywhere") {
  auto x = desk{};
  auto made = x.open();
  REQUIRE(made.answer.has_value());
  auto at = x.now();
  auto asleep = x.suspend(made.after);
  REQUIRE(asleep.answer.has_value());
  auto woken = x.resume(asleep.after);
  REQUIRE(woken.answer.has_value());
  REQUIRE(x.remove(woken.after).answer.has_value());
  CHECK_JSON(x.bodies(), (std::vector<json>{desk::merge("Suspended", at), desk::merge("Running", at), json{}}));
  CHECK(x.api.sent("DELETE").at(0).type == k8s::call::content::none);
  for (const auto& call : x.api.calls)
    CHECK(call.body.dump().find("holder-epoch") == std::string::npos);
}

// [W 143] an object that carries one
SCENARIO("a suspend without an epoch applies whatever epoch is stored, and leaves it") {
  auto x = desk{};
  x.cluster.stand("Running", "7");
  auto held = x.open();
  REQUIRE(held.answer.has_value());
  REQUIRE(x.suspend(held.after).answer.has_value());
  CHECK_EQ(x.cluster.mode(), "Suspended");
  CHECK_EQ(x.cluster.annotation("holder-epoch"), "7");
}

// [W 170] the API reports no uid
SCENARIO("where the API reports no uid every write of a host without epochs is a merge patch") {
  auto x = desk{};
  x.cluster.stand("Suspended");
  auto held = x.open();
  REQUIRE(held.answer.has_value());
  CHECK_EQ(held.after.sandbox, std::nullopt);
  auto asleep = x.suspend(held.after);
  REQUIRE(asleep.answer.has_value());
  REQUIRE(x.resume(asleep.after).answer.has_value());
  auto merges = 0;
  for (const auto& call : x.api.sent("PATCH")) {
    CHECK(call.type == k8s::call::content::merge_patch);
    ++merges;
  }
  CHECK_EQ(merges, 3);
}

// -- two holders ---------------------------------------------------------------

// [W 144] the later one takes over
SCENARIO("a later holder stamps what runs, and the earlier one writes nothing any more") {
  auto x = two_holders{};
  CHECK_JSON(x.written_by_second, (std::vector<json>{json::array({test_op(epoch_at, "4"), add_op(epoch_at, "5")})}));
  CHECK(x.second.from == origin::adopted_running);
  auto got = x.on.suspend(x.first);
  const auto* why = refused(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->operation, "suspend");
  CHECK_EQ(why->epoch, 4u);
  CHECK_EQ(why->stored_epoch, 5u);
  CHECK_EQ(x.on.requests(), strings{"GET SB"});
  CHECK(got.after.at == state::running);
  CHECK_EQ(x.on.cluster.mode(), "Running");
  CHECK(x.on.exec(x.second).has_value());
  REQUIRE(x.on.suspend(x.second).answer.has_value());
  CHECK_EQ(x.on.cluster.mode(), "Suspended");
  CHECK_EQ(x.on.cluster.annotation("holder-epoch"), "5");
}

// [W 146] the earlier one deletes
SCENARIO("an overtaken holder deletes nothing, and what it holds is as it was") {
  auto x = two_holders{};
  auto got = x.on.remove(x.first);
  const auto* why = refused(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->operation, "destroy");
  CHECK_EQ(why->epoch, 4u);
  CHECK_EQ(why->stored_epoch, 5u);
  CHECK_EQ(x.on.sent("DELETE"), 0u);
  CHECK(got.after.at == state::running);
  CHECK(got.after.guest.has_value());
}

// [W 161] the earlier one's cancellation is not confirmed
SCENARIO("a cancellation that an overtaken holder cannot confirm writes nothing") {
  auto x = two_holders{};
  auto original = guest::failure{guest::cancellation_unknown{"no answer", x.first.pod, std::nullopt}};
  auto got = x.on.explain(x.first, "exec", original);
  REQUIRE(!got.answer);
  for (const auto& line : x.on.requests())
    CHECK(line.starts_with("GET "));
  CHECK(got.after.at == state::running);
  CHECK_EQ(x.on.cluster.annotation("holder-epoch"), "5");
}

// [W 162] asleep, and overtaken
SCENARIO("a suspend at a stale epoch of what is suspended already asks nothing where no uid is known") {
  auto x = desk{};
  auto asleep = x.suspend(x.open(at_epoch(4)).after);
  REQUIRE(asleep.answer.has_value());
  store(x, "5");
  x.forget();
  CHECK(x.suspend(asleep.after).answer.has_value());
  CHECK(x.requests().empty());
}

// -- where the annotation goes ---------------------------------------------------

// [W 149] no annotations at all
SCENARIO("the first epoch of an object without annotations is bound to its version and adds the map whole") {
  auto x = desk{};
  auto held = x.open().after;
  held.epoch = 3;
  (*x.cluster.sandbox)["metadata"].erase("annotations");
  const auto version = version_of(x);
  x.forget();
  auto at = x.now();
  REQUIRE(x.suspend(held).answer.has_value());
  auto map = json{{"sandbox.namzu.ai/holder-epoch", "3"}, {"sandbox.namzu.ai/operating-mode-changed-at", at}};
  CHECK_JSON(x.bodies(),
             (std::vector<json>{json::array({test_op("/metadata/resourceVersion", version), add_op("/metadata/annotations", map),
                                             add_op("/spec/operatingMode", "Suspended")})}));
}

// [W 150] other annotations
SCENARIO("the first epoch of an object with other annotations goes beside them") {
  auto x = desk{};
  auto held = x.open().after;
  held.epoch = 3;
  (*x.cluster.sandbox)["metadata"]["annotations"] = {{"other", "1"}};
  const auto version = version_of(x);
  x.forget();
  auto at = x.now();
  REQUIRE(x.suspend(held).answer.has_value());
  CHECK_JSON(x.bodies(), (std::vector<json>{json::array({test_op("/metadata/resourceVersion", version), add_op(epoch_at, "3"),
                                                         add_op(changed_at, at), add_op("/spec/operatingMode", "Suspended")})}));
  CHECK_EQ((*x.cluster.sandbox)["metadata"]["annotations"]["other"], "1");
}

// -- an epoch that nobody can read -----------------------------------------------

// [W 290] the exact text and uid, and any other
SCENARIO("an unreadable epoch is replaced when it is named to the letter, and else nothing is written") {
  auto x = desk{host::fenced, server::with_uids};
  x.cluster.stand("Suspended", "latest");
  for (const auto* other : {"later", "latest ", "Latest", ""}) {
    auto got = x.reset_epoch({}, {other, sandbox_uid{"S1"}});
    const auto* why = refused(got);
    REQUIRE(why != nullptr);
    CHECK_EQ(why->operation, "reset-epoch");
    CHECK_EQ(why->stored_annotation, "latest");
  }
  auto stranger = x.reset_epoch({}, {"latest", sandbox_uid{"S2"}});
  REQUIRE(failed_with<replaced>(stranger) != nullptr);
  CHECK_EQ(x.sent("PATCH"), 0u);
  x.forget();
  const auto version = version_of(x);
  REQUIRE(x.reset_epoch({}, {"latest", sandbox_uid{"S1"}}).answer.has_value());
  CHECK_JSON(x.bodies(), (std::vector<json>{json::array({test_op("/metadata/uid", "S1"), test_op("/metadata/resourceVersion", version),
                                                         test_op(epoch_at, "latest"), add_op(epoch_at, "0")})}));
  CHECK_EQ(x.requests(), (strings{"GET SB", "PATCH SB json"}));
  CHECK_EQ(x.cluster.mode(), "Suspended");
  // From here on the workspace is one like any other.
  auto opened = x.open();
  REQUIRE(opened.answer.has_value());
  CHECK_EQ(x.cluster.annotation("holder-epoch"), "1");
}

SCENARIO("an epoch that can be read is not replaced, and nothing is asked") {
  auto x = desk{host::fenced, server::with_uids};
  x.cluster.stand("Suspended", "9");
  CHECK(failed_with<illegal_argument>(x.reset_epoch({}, {"9", sandbox_uid{"S1"}})) != nullptr);
  CHECK(failed_with<illegal_argument>(x.reset_epoch({}, {"latest", sandbox_uid{}})) != nullptr);
  CHECK(x.api.calls.empty());
}

SCENARIO("a reset goes above what this host has written before") {
  auto x = desk{host::fenced, server::with_uids};
  auto held = x.open().after;
  store(x, "latest");
  CHECK(refused(x.suspend(held)) != nullptr);
  auto got = x.reset_epoch(held, {"latest", sandbox_uid{"S1"}});
  REQUIRE(got.answer.has_value());
  CHECK_EQ(got.after.epoch, *held.epoch + 1);
  CHECK_EQ(x.cluster.annotation("holder-epoch"), std::to_string(*held.epoch + 1));
  CHECK(got.after.at == state::running);
  CHECK(x.suspend(got.after).answer.has_value());
}

SCENARIO("a reset on an object that moves is tried again on what stands then, three times at most") {
  for (auto moves : {1, 100}) {
    auto x = desk{host::fenced, server::with_uids};
    x.cluster.stand("Suspended", "latest");
    x.cluster.intercept = [&x, moves](const k8s::call& what, std::size_t) mutable -> std::optional<desk_cluster::reply> {
      if (what.method == "PATCH" && moves-- > 0)
        x.cluster.bump();
      return std::nullopt;
    };
    auto got = x.reset_epoch({}, {"latest", sandbox_uid{"S1"}});
    CHECK_EQ(got.answer.has_value(), moves == 0 || x.sent("PATCH") == 2);
    CHECK_EQ(x.sent("PATCH"), x.cluster.annotation("holder-epoch") == "0" ? 2u : 3u);
  }
  // Somebody wrote another text in between: that one was not named.
  auto x = desk{host::fenced, server::with_uids};
  x.cluster.stand("Suspended", "latest");
  x.cluster.intercept = [&x](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    if (what.method == "PATCH")
      store(x, "8");
    return std::nullopt;
  };
  auto got = x.reset_epoch({}, {"latest", sandbox_uid{"S1"}});
  const auto* why = refused(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->stored_epoch, 8u);
  CHECK_EQ(x.sent("PATCH"), 1u);
}

SCENARIO("a reset whose answer was lost is unknown, and the next write goes above it") {
  for (auto known : {false, true}) {
    auto x = desk{host::fenced, server::with_uids};
    x.cluster.stand("Suspended", "latest");
    x.cluster.intercept = [](const k8s::call& what, std::size_t) {
      return what.method == "PATCH" ? std::optional{pt::unreachable(what, true)} : std::nullopt;
    };
    const auto got = x.reset_epoch(known ? at_epoch(3) : session{}, {"latest", sandbox_uid{"S1"}});
    CHECK(failed_with<write_unknown>(got) != nullptr);
    const auto sent = x.api.sent("PATCH").at(0).body.at(3).at("value").get<std::string>();
    CHECK_EQ(sent, known ? "4" : "0");
    CHECK_EQ(got.after.epoch, known ? 5u : 1u);
  }
}

SCENARIO("a reset that was refused leaves the epoch as it was") {
  auto x = desk{host::fenced, server::with_uids};
  x.cluster.stand("Suspended", "latest");
  x.cluster.intercept = [](const k8s::call& what, std::size_t) {
    return what.method == "PATCH" ? std::optional{pt::denied(what)} : std::nullopt;
  };
  const auto got = x.reset_epoch(at_epoch(3), {"latest", sandbox_uid{"S1"}});
  CHECK(api_failed_with<k8s::credential_failure>(got) != nullptr);
  CHECK_EQ(got.after.epoch, 3u);
}

// -- stamping --------------------------------------------------------------------

SCENARIO("a stamp writes the epoch on what carries none or an earlier one, and nothing else") {
  for (auto mode : {"Running", "Suspended"})
    for (const auto& stored : {std::optional<std::string>{}, std::optional<std::string>{"7"}}) {
      auto x = desk{host::fenced, server::with_uids};
      x.on.how.term = 1;
      x.cluster.stand(mode, stored);
      const auto version = version_of(x);
      auto got = x.stamp({});
      REQUIRE(got.answer.has_value());
      CHECK(got.answer->written);
      CHECK_EQ(got.answer->found, stored);
      CHECK_JSON(x.bodies(),
                 (std::vector<json>{json::array({stored ? test_op(epoch_at, "7") : test_op("/metadata/resourceVersion", version),
                                                 test_op("/metadata/uid", "S1"), add_op(epoch_at, "1048576")})}));
      CHECK_EQ(x.requests(), (strings{"GET SB", "PATCH SB json"}));
      CHECK_EQ(x.cluster.mode(), mode);
      CHECK(x.guest.calls.empty());
    }
}

SCENARIO("what carries an epoch of this host or of a later one is not stamped, and what is no workspace neither") {
  auto x = desk{host::fenced, server::with_uids};
  x.on.how.term = 1;
  for (const auto* stored : {"1048576", "1048580", "2097152", "latest"}) {
    x.cluster.stand("Suspended", stored);
    auto got = x.stamp({});
    REQUIRE(got.answer.has_value());
    CHECK(!got.answer->written);
  }
  x.cluster.stand("Suspended");
  (*x.cluster.sandbox)["spec"]["podTemplate"]["metadata"]["labels"].erase("sandbox.namzu.ai/template");
  CHECK(!x.stamp({}).answer->written);
  x.cluster.stand("Suspended");
  x.on.how.fenced = false;
  CHECK(!x.stamp({}).answer->written);
  x.on.how.fenced = true;
  x.on.how.term = 0; // it stands alone, and has taken nobody's place
  CHECK(!x.stamp({}).answer->written);
  CHECK_EQ(x.sent("PATCH"), 0u);
  x.cluster.sandbox.reset();
  CHECK(api_failed_with<k8s::already_gone>(x.stamp({})) != nullptr);
}

SCENARIO("an epoch that was lost is put back by its holder, but not on another object") {
  auto x = desk{host::fenced, server::with_uids};
  auto held = x.open().after;
  (*x.cluster.sandbox)["metadata"].erase("annotations");
  x.cluster.bump();
  CHECK(refused(x.suspend(held)) != nullptr);
  auto got = x.stamp(held);
  REQUIRE(got.answer.has_value());
  CHECK(got.answer->written);
  CHECK_EQ(x.cluster.annotation("holder-epoch"), std::to_string(*held.epoch));
  CHECK(x.suspend(got.after).answer.has_value());
  x.cluster.stand("Running", std::nullopt, "S2");
  x.forget();
  CHECK(failed_with<replaced>(x.stamp(held)) != nullptr);
  CHECK_EQ(x.requests(), strings{"GET SB"});
}

SCENARIO("an object that stands where this host deleted another one is stamped") {
  auto x = desk{host::fenced, server::with_uids};
  x.on.how.term = 1;
  const auto gone = x.remove(x.open().after).after;
  REQUIRE(gone.at == state::deleted);
  x.cluster.stand("Suspended", "7", "S2");
  x.forget();
  const auto got = x.stamp(gone);
  REQUIRE(got.answer.has_value());
  CHECK(got.answer->written);
  CHECK_EQ(x.cluster.annotation("holder-epoch"), std::to_string(*gone.epoch));
  CHECK(got.after.at != state::deleted);
}
