#define CAF_SUITE start

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

const auto leave = [] {
  auto x = open_options{};
  x.leave_on_failure = true;
  return x;
}();

/// What the failed start of an adopt that woke nothing may not have done to a workspace that somebody holds.
void check_untouched(const desk& x, const json& sandbox, const json& pod) {
  CHECK_EQ(x.sent("PATCH"), 0u);
  CHECK_EQ(x.sent("DELETE"), 0u);
  CHECK_JSON(*x.cluster.sandbox, sandbox);
  CHECK_JSON(*x.cluster.pod, pod);
}

} // namespace

SCENARIO("the probe reads the status of a process within its own budget") {
  auto x = desk{};
  x.on.how.ready_timeout = std::chrono::milliseconds{20'000};
  REQUIRE(x.open().answer.has_value());
  REQUIRE_EQ(x.guest.calls.size(), 1u);
  const auto& call = x.guest.calls[0];
  CHECK(scripted_guest::is_privilege_probe(call));
  CHECK(call.until == deadline{x.time.now() + std::chrono::milliseconds{15'000}});
  auto y = desk{};
  y.on.how.ready_timeout = std::chrono::milliseconds{2'000};
  REQUIRE(y.open().answer.has_value());
  CHECK(y.guest.calls.at(0).until == deadline{y.time.now() + std::chrono::milliseconds{2'000}});
}

// [G 259] a bounding set that is not empty
SCENARIO("a guest that does not prove that it is unprivileged is not handed out") {
  struct row {
    const char* what;
    std::function<scripted_execution(desk&)> answer;
    std::string reason;
  };
  const auto said = [](desk& x, std::string text, int code = 0) {
    auto y = scripted_execution{};
    y.output.emplace_back(guest::stream::out, std::move(text));
    y.answer = x.guest.ended(code);
    return y;
  };
  const auto good = scripted_guest::unprivileged_status();
  const auto rows = std::vector<row>{
    {"no guest",
     [](desk&) {
       auto y = scripted_execution{};
       y.answer = tl::unexpected{guest::failure{guest::dial_failed{"h", 1024, "refused"}}};
       return y;
     },
     "probe-failed"},
    {"another exit code", [&](desk& x) { return said(x, good, 1); }, "probe-failed"},
    {"a signal",
     [](desk& x) {
       auto y = scripted_execution{};
       y.answer = x.guest.ended_by_signal("SIGKILL");
       return y;
     },
     "probe-failed"},
    {"nothing", [&](desk& x) { return said(x, ""); }, "unreadable-output"},
    {"too much", [&](desk& x) { return said(x, good + std::string(70'000, 'x')); }, "unreadable-output"},
    {"the other stream",
     [&](desk& x) {
       auto y = said(x, "");
       y.output.emplace_back(guest::stream::err, good);
       return y;
     },
     "unreadable-output"},
    {"a capability",
     [&](desk& x) {
       auto text = good;
       text.replace(text.find("CapBnd:\t0000000000000000"), 24, "CapBnd:\t0000000000000001");
       return said(x, text);
     },
     "privileged"},
  };
  for (const auto& row : rows) {
    MESSAGE(row.what);
    auto x = desk{};
    x.guest.on_execute = [&](const guest_call&) { return row.answer(x); };
    auto got = x.open({}, leave);
    const auto* start = start_failure_of(got);
    REQUIRE(start != nullptr);
    const auto* why = std::get_if<privilege_refused>(&start->why);
    REQUIRE(why != nullptr);
    CHECK_EQ(why->reason, row.reason);
    CHECK(got.after.at == state::suspending);
    CHECK(!got.after.guest.has_value());
    auto asked = x.requests();
    CHECK_EQ(std::ranges::count(asked, "GET PVC"), 0);
  }
}

SCENARIO("a guest that does not answer in the probe's own time is told as such") {
  auto x = desk{};
  x.on.how.ready_timeout = std::chrono::milliseconds{20'000};
  x.guest.on_execute = [&](const guest_call& call) {
    x.time.advance_to(call.until.at());
    auto y = scripted_execution{};
    y.answer = tl::unexpected{guest::failure{guest::dial_failed{"h", 1024, "no answer"}}};
    return y;
  };
  auto got = x.open({}, leave);
  const auto* start = start_failure_of(got);
  REQUIRE(start != nullptr);
  const auto* why = std::get_if<privilege_refused>(&start->why);
  REQUIRE(why != nullptr);
  CHECK_EQ(why->reason, "probe-failed");
  CHECK(why->text.find("sandbox namzu-ws-desk: the guest accepted the connection and did not answer within 15000 ms") != std::string::npos);
}

// [W 63] a second host adopts and its probe is refused
// [W 64] a second host adopts and withdraws while it waits
// [W 65] a second host adopts and one of its reads fails
SCENARIO("a start that woke nothing leaves the workspace of its holder alone") {
  for (auto what : {63, 64, 65}) {
    auto x = desk{};
    auto holder = x.open();
    REQUIRE(holder.answer.has_value());
    const auto sandbox = *x.cluster.sandbox;
    const auto pod = *x.cluster.pod;
    const auto working = x.guest.on_execute;
    if (what == 63) {
      refuse_probe(x.guest);
      CHECK(failed_with<privilege_refused>(x.open()) != nullptr);
    } else if (what == 64) {
      x.cluster.intercept = [](const k8s::call& call, std::size_t) -> std::optional<desk_cluster::reply> {
        return is_get(call, "/pods/") ? std::optional{pt::gone(call)} : std::nullopt;
      };
      x.cluster.hold = [n = 0](const k8s::call& call) mutable { return is_get(call, "/sandboxes/") && ++n == 2; };
      auto got = x.run_and_withdraw(desk::verb::open, {}, [&] { return !x.api.waiting().empty(); });
      REQUIRE(got.why.has_value());
      CHECK_EQ(reason_of(*got.why), "Cancelled");
      CHECK(got.after.at == state::suspending);
    } else {
      x.cluster.intercept = [n = 0](const k8s::call& call, std::size_t) mutable -> std::optional<desk_cluster::reply> {
        return is_get(call, "/sandboxes/") && ++n == 2 ? std::optional{pt::status(call, 503)} : std::nullopt;
      };
      auto got = x.open();
      REQUIRE(!got.answer);
      CHECK_EQ(status_of(got.answer.error()), 503u);
    }
    check_untouched(x, sandbox, pod);
    x.guest.on_execute = working;
    CHECK(x.exec(holder.after).has_value());
    CHECK_EQ(x.guest.calls.back().where.token, secret{k8s::text_at(pod, "/metadata/uid").value()});
  }
}

// [W 66] somebody else resumed it, and the wait for it fails
SCENARIO("a resume that found it running and then failed cleans nothing up") {
  auto x = desk{};
  auto held = x.suspend(x.open().after);
  REQUIRE(held.answer.has_value());
  x.cluster.set_mode("Running");
  const auto sandbox = *x.cluster.sandbox;
  x.forget();
  x.cluster.intercept = [n = 0](const k8s::call& call, std::size_t) mutable -> std::optional<desk_cluster::reply> {
    return is_get(call, "/sandboxes/") && ++n == 2 ? std::optional{pt::status(call, 503)} : std::nullopt;
  };
  auto got = x.resume(held.after);
  REQUIRE(!got.answer);
  CHECK_EQ(status_of(got.answer.error()), 503u);
  CHECK_EQ(x.requests(), (strings{"GET SB", "GET SB"}));
  CHECK_JSON(*x.cluster.sandbox, sandbox);
  CHECK(got.after.at == state::suspending);
}

// [W 67] an adopt that woke it
SCENARIO("a start that woke the workspace and failed suspends it again") {
  auto x = desk{};
  refuse_probe(x.guest);
  x.cluster.stand("Suspended");
  x.forget();
  auto at = x.now();
  auto got = x.open();
  const auto* start = start_failure_of(got);
  REQUIRE(start != nullptr);
  CHECK_EQ(start->clean_up, "done");
  CHECK(std::holds_alternative<privilege_refused>(start->why));
  CHECK_JSON(x.bodies(), (std::vector<json>{desk::merge("Running", at), desk::merge("Suspended", at)}));
  CHECK_EQ(x.sent("DELETE"), 0u);
  CHECK(got.after.at == state::suspending);
  CHECK_EQ(got.after.retired_pod, pod_uid{"P1"});
}

// [W 68] a create
// [W 296] what a failed start says: here that it was put back
SCENARIO("a create whose start fails suspends what it made and deletes nothing") {
  auto x = desk{};
  refuse_probe(x.guest);
  auto at = x.now();
  auto got = x.open();
  const auto* start = start_failure_of(got);
  REQUIRE(start != nullptr);
  CHECK_EQ(start->clean_up, "done");
  CHECK_JSON(details_of(got.answer.error()).at("mayBeRunning"), false);
  CHECK_JSON(x.bodies(), (std::vector<json>{desk::merge("Suspended", at)}));
  CHECK_EQ(x.sent("DELETE"), 0u);
}

// [W 69] an adopt that leaves
// [W 70] a create that leaves
// [W 296] nothing was tried
SCENARIO("a start that is to leave things as they are says that the workspace may be running") {
  auto x = desk{};
  refuse_probe(x.guest);
  x.cluster.stand("Suspended");
  x.forget();
  auto at = x.now();
  auto got = x.open({}, leave);
  REQUIRE(start_failure_of(got) != nullptr);
  CHECK_EQ(start_failure_of(got)->clean_up, "none");
  CHECK_JSON(details_of(got.answer.error()).at("mayBeRunning"), true);
  CHECK_JSON(x.bodies(), (std::vector<json>{desk::merge("Running", at)}));
  auto y = desk{};
  refuse_probe(y.guest);
  CHECK_EQ(start_failure_of(y.open({}, leave))->clean_up, "none");
  CHECK_EQ(y.sent("PATCH"), 0u);
}

// [W 72] the clean-up fails
// [W 296] the clean-up failed, or nobody knows
SCENARIO("a clean-up that fails never hides why the start did") {
  for (auto code : {403u, 500u}) {
    auto x = desk{};
    refuse_probe(x.guest);
    x.cluster.intercept = [code](const k8s::call& call, std::size_t) -> std::optional<desk_cluster::reply> {
      if (call.method != "PATCH")
        return std::nullopt;
      return code == 403 ? pt::denied(call) : pt::status(call, code);
    };
    auto got = x.open();
    const auto* start = start_failure_of(got);
    REQUIRE(start != nullptr);
    CHECK(std::holds_alternative<privilege_refused>(start->why));
    CHECK_EQ(start->clean_up, code == 403 ? "failed" : "unknown");
    CHECK_JSON(details_of(got.answer.error()).at("mayBeRunning"), true);
    CHECK_EQ(reason_of(got.answer.error()), "PrivilegeProbe");
  }
}

// [W 71] the option of a resume outranks that of the open
// [W 73] and the next resume waits for another pod
SCENARIO("a resume whose start fails suspends again, and the next one waits for another pod") {
  auto x = desk{};
  auto held = x.suspend(x.open({}, leave).after);
  REQUIRE(held.answer.has_value());
  auto working = x.guest.on_execute;
  refuse_probe(x.guest);
  x.forget();
  auto at = x.now();
  auto failed = x.resume(held.after);
  REQUIRE(start_failure_of(failed) != nullptr);
  CHECK_JSON(x.bodies(), (std::vector<json>{desk::merge("Running", at), desk::merge("Suspended", at)}));
  CHECK_EQ(failed.after.retired_pod, pod_uid{"P2"});
  x.guest.on_execute = working;
  auto stale = 0;
  x.cluster.intercept = [&](const k8s::call& call, std::size_t) -> std::optional<desk_cluster::reply> {
    if (!is_get(call, "/pods/") || ++stale > 2)
      return std::nullopt;
    auto old = x.cluster.pod.value_or(json::object());
    old["metadata"]["uid"] = "P2";
    return pt::found(old);
  };
  auto got = x.resume(failed.after);
  REQUIRE(got.answer.has_value());
  CHECK_EQ(got.after.pod, pod_uid{"P3"});
  CHECK_EQ(got.after.retired_pod, std::nullopt);
}

// [W 74] the clean-up of a start that bound a uid
SCENARIO("the clean-up carries the uid that was bound") {
  auto x = desk{host::unfenced, server::with_uids};
  refuse_probe(x.guest);
  auto at = x.now();
  auto got = x.open();
  REQUIRE(start_failure_of(got) != nullptr);
  CHECK_EQ(x.requests(), (strings{"GET TPL", "POST SBC", "GET SB", "GET POD", "GET SB", "PATCH SB json"}));
  CHECK_JSON(x.api.sent("PATCH").at(0).body,
             json::array({test_op("/metadata/uid", "S1"), add_op(changed_at, at), add_op("/spec/operatingMode", "Suspended")}));
}

// [W 163] somebody else has taken it over before the clean-up
SCENARIO("a clean-up that was overtaken leaves the pod of the newer holder") {
  auto x = desk{host::fenced, server::with_uids};
  x.cluster.stand("Suspended", "3");
  auto before = session{};
  before.epoch = 4;
  x.guest.on_execute = [&x](const guest_call&) {
    (*x.cluster.sandbox)["metadata"]["annotations"]["sandbox.namzu.ai/holder-epoch"] = "5";
    auto y = scripted_execution{};
    y.answer = x.guest.ended(1);
    return y;
  };
  auto got = x.open(before);
  const auto* start = start_failure_of(got);
  REQUIRE(start != nullptr);
  CHECK(std::holds_alternative<privilege_refused>(start->why));
  CHECK_EQ(start->clean_up, "failed");
  CHECK_EQ(x.sent("PATCH"), 1u);
  CHECK_EQ(x.cluster.mode(), "Running");
  CHECK(x.cluster.pod.has_value());
}

SCENARIO("a withdrawal after the wake-up still cleans up, within a second") {
  auto x = desk{host::fenced, server::with_uids};
  x.cluster.stand("Suspended", "0");
  x.guest.on_execute = [](const guest_call&) { return scripted_execution{}; };
  auto got = x.run_and_withdraw(desk::verb::open, {}, [&] { return !x.guest.calls.empty(); });
  REQUIRE(got.why.has_value());
  const auto* start = std::get_if<std::shared_ptr<const start_failed>>(&*got.why);
  REQUIRE(start != nullptr);
  CHECK_EQ((*start)->clean_up, "done");
  CHECK_EQ(reason_of(*got.why), "Cancelled");
  CHECK_EQ(x.cluster.mode(), "Suspended");
  CHECK(x.guest.calls.at(0).cancelled);
  const auto last = x.api.deadlines.back();
  CHECK(last == deadline{x.time.now() + std::chrono::milliseconds{1'000}});
}
