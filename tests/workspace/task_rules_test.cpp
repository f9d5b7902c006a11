#define CAF_SUITE task_rules

#include "tests/support/check_json.hpp"
#include "workspace/acquire.hpp"
#include "workspace/lease.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <type_traits>

using namespace paddock;
using namespace paddock::workspace;
using namespace std::chrono_literals;

namespace {

settings usable() {
  auto how = settings{};
  how.name_space = "ns";
  how.template_name = "tpl";
  return how;
}

} // namespace

// [C 150]
SCENARIO("an interval is stretched or shortened by a tenth at most, and never to nothing") {
  CHECK(jittered(1'000ms, 0) == 900ms);
  CHECK(jittered(1'000ms, 0.5) == 1'000ms);
  CHECK(jittered(1'000ms, 1) == 1'100ms);
  CHECK(jittered(0ms, 0.5) == 1ms);
}

SCENARIO("a lease is renewed at half of its time, within a quarter of that and half a minute") {
  CHECK(renewal_interval(3'600s) == 1'800s);
  CHECK(renewal_interval(1s) == 500ms);
  CHECK(renewal_bound(1s) == 125ms);
  CHECK(renewal_bound(100s) == 12'500ms);
  CHECK(renewal_bound(3'600s) == 30s);
}

SCENARIO("pauses after failures double from a second to half a minute, or to a twentieth of the lease") {
  for (auto [failures, pause] : {std::pair{1, 1s}, {2, 2s}, {3, 4s}, {4, 8s}, {5, 16s}, {6, 30s}, {100, 30s}})
    CHECK(pause_after_failure(3'600s, failures) == pause);
  CHECK(pause_after_failure(10s, 1) == 500ms);
  CHECK(pause_after_failure(10s, 9) == 500ms);
}

// [C 69]
SCENARIO("the reasons with which a claim ends cannot be changed") {
  static_assert(std::is_const_v<std::remove_reference_t<decltype(terminal_claim_reasons)>>);
  CHECK_EQ(std::vector(terminal_claim_reasons.begin(), terminal_claim_reasons.end()),
           (std::vector<std::string_view>{"WarmPoolNotFound", "TemplateNotFound", "InvalidMetadata", "EnvVarsInjectionRejected"}));
}

SCENARIO("pods that run already cannot be given a runtime class") {
  auto how = usable();
  how.runtime_class = "kata";
  CHECK(check_task(how, {}, {"t", "tpl", std::nullopt}));
  const auto refused = check_task(how, {}, {"t", "tpl", "pool"});
  REQUIRE(!refused);
  CHECK_EQ(reason_of(refused.error()), "IllegalArgument");
}

SCENARIO("a request is refused that could not be kept") {
  CHECK(check_task(usable(), {}, {"t", "tpl", std::nullopt}));
  CHECK(!check_task(usable(), {std::nullopt, 0s}, {"t", "tpl", std::nullopt}));
  auto how = usable();
  how.template_name.clear();
  CHECK(!check_task(how, {}, completed(how, {}, {"t"})));
  how = usable();
  how.egress.emplace();
  CHECK(check_task(how, {}, {"t", "tpl", std::nullopt}));
  CHECK(!check_task(how, {}, {"t", "another", std::nullopt})); // nobody verifies what its pods reach
}

SCENARIO("what a request leaves open is what is configured; a template that is named means no pool") {
  const auto tasks = task_settings{"pool"};
  CHECK(completed(usable(), tasks, {"t"}).pool == "pool");
  CHECK_EQ(completed(usable(), tasks, {"t"}).template_name, "tpl");
  CHECK(!completed(usable(), tasks, {"t", "tpl"}).pool);
  CHECK(completed(usable(), tasks, {"t", {}, "another"}).pool == "another");
  CHECK(!completed(usable(), {}, {"t"}).pool);
}

SCENARIO("an API failure of an acquire has one name, whoever was asked") {
  CHECK(acquire_reason_for("Api", std::nullopt) == acquire_reason::api_unreachable);
  CHECK(acquire_reason_for("Api", 429) == acquire_reason::api_unreachable);
  CHECK(acquire_reason_for("Api", 500) == acquire_reason::api_unreachable);
  CHECK(acquire_reason_for("ApiTimeout", std::nullopt) == acquire_reason::api_timeout);
  CHECK(acquire_reason_for("Credential", 403) == acquire_reason::forbidden);
  CHECK(acquire_reason_for("OutOfTime", std::nullopt) == acquire_reason::not_ready);
  for (const auto* other : {"Conflict", "AlreadyGone", "EgressPolicyUnion", "Cancelled"})
    CHECK(!acquire_reason_for(other, std::nullopt));
  CHECK(!acquire_reason_for("Api", 400));
}
