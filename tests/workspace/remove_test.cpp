#define CAF_SUITE remove

#include "tests/workspace/desk.hpp"
#include "workspace/admission.hpp"

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

json preconditions(const std::string& version, const char* uid) {
  auto conditions = json{{"resourceVersion", version}};
  if (uid != nullptr)
    conditions["uid"] = uid;
  return {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", conditions}};
}

} // namespace

// [W 119] the default way of destroying
SCENARIO("giving a workspace up without its disk is a suspend") {
  auto x = desk{};
  auto before = opened_on(x);
  auto at = x.now();
  auto got = x.suspend(before);
  CHECK_JSON(x.api.sent("PATCH").at(0).body, desk::merge("Suspended", at));
  CHECK_EQ(x.sent("DELETE"), 0u);
  CHECK(got.after.at == state::suspended);
}

// [W 120] a delete with the disk
// [W 121] once more
SCENARIO("a delete is one request, and a deleted workspace needs none") {
  auto x = desk{};
  auto got = x.remove(opened_on(x));
  REQUIRE(got.answer.has_value());
  CHECK_EQ(x.requests(), strings{"DELETE SB"});
  auto sent = x.api.sent("DELETE");
  CHECK(sent.at(0).type == k8s::call::content::none);
  CHECK(got.after.at == state::deleted);
  CHECK(!got.after.guest.has_value());
  auto refusal = admit(x.which, got.after, "exec");
  REQUIRE(!refusal);
  CHECK(std::holds_alternative<destroyed>(refusal.error()));
  CHECK(x.remove(got.after).answer.has_value());
  CHECK_EQ(x.sent("DELETE"), 1u);
  CHECK_EQ(x.sent("PATCH"), 0u);
}

// [W 122] the DELETE fails
SCENARIO("a delete that fails leaves a suspending workspace that can be resumed or deleted") {
  for (auto says : {server::without_uids, server::with_uids}) {
    auto x = desk{host::unfenced, says};
    auto before = opened_on(x);
    x.cluster.intercept = [](const k8s::call& what, std::size_t) {
      return what.method == "DELETE" ? std::optional{pt::status(what, 500)} : std::nullopt;
    };
    auto got = x.remove(before);
    REQUIRE(failed_with<write_unknown>(got) != nullptr);
    CHECK_EQ(status_of(got.answer.error()), 500u);
    CHECK(got.after.at == state::suspending);
    auto refusal = admit(x.which, got.after, "exec");
    REQUIRE(!refusal);
    CHECK(std::holds_alternative<suspended>(refusal.error()));
    x.cluster.intercept = {};
    auto resumed = x.resume(got.after);
    REQUIRE(resumed.answer.has_value());
    CHECK_EQ(resumed.after.pod, pod_uid{"P1"});
    CHECK_EQ(x.sent("PATCH"), 0u);
    auto again = x.remove(got.after);
    CHECK(again.answer.has_value());
    CHECK_EQ(x.sent("DELETE"), 2u);
    CHECK(!x.cluster.sandbox.has_value());
  }
}

// [W 123] it is gone already
SCENARIO("a delete of what is gone succeeds") {
  auto x = desk{};
  auto before = opened_on(x);
  x.cluster.sandbox.reset();
  auto got = x.remove(before);
  REQUIRE(got.answer.has_value());
  CHECK(got.after.at == state::deleted);
  CHECK_EQ(x.sent("DELETE"), 1u);
}

// [W 160] fenced, and gone already
SCENARIO("a fenced delete of what is gone sends no DELETE") {
  auto x = desk{host::fenced, server::without_uids};
  auto before = opened_on(x);
  x.cluster.sandbox.reset();
  auto got = x.remove(before);
  REQUIRE(got.answer.has_value());
  CHECK(got.after.at == state::deleted);
  CHECK_EQ(x.requests(), strings{"GET SB"});
}

SCENARIO("a delete is conditioned on the uid and the version that was read") {
  for (auto how : {host::unfenced, host::fenced}) {
    auto x = desk{how, server::with_uids};
    auto before = opened_on(x);
    auto version = version_of(x);
    auto got = x.remove(before);
    REQUIRE(got.answer.has_value());
    CHECK_EQ(x.requests(), (strings{"GET SB", "DELETE SB"}));
    CHECK_JSON(x.api.sent("DELETE").at(0).body, preconditions(version, "S1"));
  }
  auto x = desk{host::fenced, server::without_uids};
  auto before = opened_on(x);
  auto version = version_of(x);
  REQUIRE(x.remove(before).answer.has_value());
  CHECK_JSON(x.api.sent("DELETE").at(0).body, preconditions(version, nullptr));
}

SCENARIO("a workspace that was never read is read before it is deleted") {
  auto x = desk{host::unfenced, server::with_uids};
  x.cluster.stand("Suspended");
  auto version = version_of(x);
  REQUIRE(x.remove({}).answer.has_value());
  CHECK_JSON(x.api.sent("DELETE").at(0).body, preconditions(version, "S1"));
  CHECK(x.guest.calls.empty());
  auto y = desk{host::unfenced, server::with_uids};
  auto got = y.remove({});
  CHECK(got.answer.has_value());
  CHECK(got.after.at == state::deleted);
  CHECK_EQ(y.requests(), strings{"GET SB"});
}

// [W 159] only the version moved
SCENARIO("a delete on an object of which only the version moved is sent again, three times at most") {
  for (auto moves : {1, 100}) {
    auto x = desk{host::fenced, server::with_uids};
    auto before = opened_on(x);
    x.cluster.intercept = [&x, left = moves](const k8s::call& what, std::size_t) mutable -> std::optional<desk_cluster::reply> {
      if (what.method == "DELETE" && left-- > 0)
        x.cluster.bump();
      return std::nullopt;
    };
    auto got = x.remove(before);
    if (moves == 1) {
      CHECK(got.answer.has_value());
      CHECK_EQ(x.requests(), (strings{"GET SB", "DELETE SB", "GET SB", "DELETE SB"}));
    } else {
      CHECK(api_failed_with<k8s::conflict>(got) != nullptr);
      CHECK_EQ(x.sent("DELETE"), 3u);
      CHECK(got.after.at == state::suspending);
      CHECK(x.cluster.sandbox.has_value());
    }
  }
}

// [W 278] by id: read as one object, met as another
SCENARIO("a delete that meets another object stops") {
  auto x = desk{host::fenced, server::with_uids};
  x.cluster.stand("Suspended", "0");
  x.cluster.intercept = [&x](const k8s::call& what, std::size_t) -> std::optional<desk_cluster::reply> {
    if (what.method == "DELETE")
      x.cluster.stand("Running", "0", "S2");
    return std::nullopt;
  };
  auto got = x.remove({});
  const auto* why = failed_with<replaced>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->expected, sandbox_uid{"S1"});
  CHECK_EQ(why->actual, sandbox_uid{"S2"});
  CHECK_EQ(x.sent("DELETE"), 1u);
  CHECK(x.cluster.sandbox.has_value());
}

// [W 289] mode or epoch have changed; another uid is case 278
SCENARIO("a delete on an object that changed in mode or epoch stops with the conflict") {
  for (auto what : {0, 1}) {
    auto x = desk{host::fenced, server::with_uids};
    auto before = opened_on(x);
    x.cluster.intercept = [&](const k8s::call& call, std::size_t) -> std::optional<desk_cluster::reply> {
      if (call.method != "DELETE")
        return std::nullopt;
      if (what == 0)
        x.cluster.set_mode("Suspended");
      else {
        (*x.cluster.sandbox)["metadata"]["annotations"]["sandbox.namzu.ai/holder-epoch"] = "9";
        x.cluster.bump();
      }
      return std::nullopt;
    };
    auto got = x.remove(before);
    CHECK(api_failed_with<k8s::conflict>(got) != nullptr);
    CHECK_EQ(x.sent("DELETE"), 1u);
    CHECK(x.cluster.sandbox.has_value());
  }
}

// [W 272] the DELETE arrives after a resume
SCENARIO("a DELETE that arrives late meets an object that has moved on") {
  auto x = desk{host::fenced, server::with_uids};
  auto before = opened_on(x);
  auto late = std::optional<k8s::call>{};
  x.cluster.intercept = [&](const k8s::call& call, std::size_t) -> std::optional<desk_cluster::reply> {
    if (call.method != "DELETE" || late)
      return std::nullopt;
    late = call;
    return pt::timed_out(call);
  };
  auto got = x.remove(before);
  REQUIRE(failed_with<write_unknown>(got) != nullptr);
  CHECK_EQ(got.after.epoch, *before.epoch + 1);
  auto resumed = x.resume(got.after);
  REQUIRE(resumed.answer.has_value());
  auto reply = x.cluster.answer(*late);
  REQUIRE(!reply);
  CHECK(std::holds_alternative<k8s::conflict>(reply.error()));
  CHECK(x.cluster.sandbox.has_value());
  CHECK_EQ(x.cluster.mode(), "Running");
  CHECK_EQ(resumed.after.at, state::running);
  CHECK_EQ(k8s::text_at(*x.cluster.pod, "/metadata/uid"), resumed.after.pod->text());
  // What the session does next is not hindered by it.
  CHECK(x.suspend(resumed.after).answer.has_value());
}

SCENARIO("an overtaken host deletes nothing and keeps its session") {
  auto x = desk{host::fenced, server::with_uids};
  auto before = opened_on(x);
  (*x.cluster.sandbox)["metadata"]["annotations"]["sandbox.namzu.ai/holder-epoch"] = "5";
  auto got = x.remove(before);
  const auto* why = failed_with<precondition>(got);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->operation, "destroy");
  CHECK(got.after.at == state::running);
  CHECK(got.after.guest.has_value());
  CHECK_EQ(x.sent("DELETE"), 0u);
}
