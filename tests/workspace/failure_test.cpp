#define CAF_SUITE failure

#include "tests/support/check_json.hpp"
#include "workspace/failure.hpp"

#include <caf/test/bdd_dsl.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

using namespace paddock;
using namespace paddock::workspace;

namespace {

/// One of each, with a text in every field that must not reach anybody.
std::vector<failure> one_of_each() {
  auto api = k8s::api_failure{k8s::api_failure::transport::status, "GET", "/x", 500, std::nullopt, true, "boom"};
  auto got = std::vector<failure>{
    illegal_argument{"no"},
    illegal_id{"A"},
    disk_refused{"Sandbox namzu-ws-desk", "no disk"},
    template_unusable{"tpl", "no spec"},
    mismatch{"namzu-ws-desk", "sandboxTemplateName", "tpl", std::nullopt},
    suspended{"exec", "desk", "namzu-ws-desk", "admission"},
    suspend_timeout{"desk", "namzu-ws-desk", std::chrono::milliseconds{60'000}},
    precondition{"suspend", "desk", "namzu-ws-desk", 4, 5, "5"},
    replaced{"desk", "namzu-ws-desk", sandbox_uid{"S1"}, sandbox_uid{"S2"}},
    identity_mismatch{"desk", "namzu-ws-desk", "sandbox-uid", "S1", "S2"},
    destroyed{"suspend", "namzu-ws-desk"},
    readiness_timeout{"namzu-ws-desk", std::chrono::milliseconds{60'000}},
    no_pod{"namzu-ws-desk", "could not read a pod uid", pod_uid{"POD-SECRET"}, "no live pod"},
    ambiguous_pod{"namzu-ws-desk"},
    privilege_refused{"privileged", "it is not confined"},
    write_unknown{"suspend", k8s::failure{api}},
    k8s::failure{k8s::credential_failure{"GET", "/x", 403}},
    k8s::failure{k8s::already_gone{"GET", "/x", 404}},
    k8s::failure{k8s::conflict{"POST", "/x"}},
    k8s::failure{k8s::patch_not_applied{"PATCH", "/x", 422}},
    k8s::failure{api},
    k8s::failure{k8s::api_timeout{"GET", "/x", std::chrono::milliseconds{30'000}, true}},
    k8s::failure{k8s::cancelled{"GET", "/x", false}},
    guest::failure{guest::dial_failed{"h", 1024, "refused"}},
    guest::failure{guest::unauthorized{}},
    sandbox_gone{"exec", "namzu-task-1"},
    acquire_failed{acquire_reason::capacity, tell(readiness_timeout{"namzu-task-1", std::chrono::milliseconds{60'000}})},
    pin_incomplete{{"guestBootId"}},
    pin_refused{"desk", "guest-replaced", std::nullopt, guest_boot_id{"b2"}},
    guest::failure{guest::retiring{}},
    guest::failure{guest::guest_mismatch{}},
    guest::failure{guest::unsupported{"execution-attach"}},
    guest::failure{guest::unsupported{"read-file-stream"}},
    guest::failure{guest::unsupported{"sessions"}},
    guest::failure{guest::unsupported{"quiesce"}},
    guest::failure{guest::unsupported{"flush"}},
    guest::failure{guest::unsupported{"pinned-guest"}},
    guest::failure{guest::invalid_argument{"a port is 1 to 65535"}},
    guest::failure{guest::file_too_large{}},
    guest::failure{guest::address_unresolvable{}},
    guest::failure{guest::not_attachable{}},
    guest::failure{guest::execution_detached{}},
    guest::failure{guest::session_refused{}},
    guest::failure{guest::session_detached{}},
    guest::failure{guest::quiesce_unconfirmed{}},
    guest::failure{guest::flush_unconfirmed{}},
    guest::failure{guest::frame_too_large{2, 1}},
    guest::failure{guest::refused{"ENOENT", "no such file"}},
    guest::failure{guest::command_failed{"no such program"}},
    guest::failure{guest::protocol_failure{"?"}},
    guest::failure{guest::lost{"while reading"}},
    guest::failure{guest::result_incomplete{"completed", true, "short"}},
    guest::failure{guest::cancellation_unknown{"no answer", pod_uid{"POD-SECRET"}, guest_boot_id{"b1"}}},
    guest::failure{guest::withdrawn{}},
    guest_gone{"exec", "desk", "namzu-ws-desk", evidence::pod_replaced,
               identity{sandbox_uid{"S1"}, {}, pod_uid{"POD-SECRET"}, guest_boot_id{"b1"}}, identity{},
               guest::cancellation_unknown{"no answer", pod_uid{"POD-SECRET"}, guest_boot_id{"b1"}}},
  };
  for (auto& x : std::vector<egress::egress_error>{egress::unenforceable_policy{},
                                                   egress::illegal_config{"verify", "is unknown"},
                                                   egress::narrowing_unsupported{},
                                                   egress::illegal_profile{"profile", "A", "is no label"},
                                                   egress::illegal_per_sandbox{"engine", "core", "must be cilium"},
                                                   egress::illegal_host{"*", "is a glob"},
                                                   egress::policy_not_applied{{}, "/p"},
                                                   egress::policy_mismatch{{}, "/p", "spec differs"},
                                                   egress::union_refused{},
                                                   egress::ingress_refused{},
                                                   egress::label_not_observed{},
                                                   egress::labels_rejected{},
                                                   egress::fence_missing{},
                                                   egress::fence_unreadable{},
                                                   egress::fence_not_enforcing{},
                                                   egress::permitted_hosts_unavailable{},
                                                   egress::permitted_host_refused{},
                                                   egress::owner_uid_missing{},
                                                   egress::policy_write_unknown{},
                                                   egress::owner_replaced{}})
    got.push_back(of_egress(std::move(x)));
  got.emplace_back(std::make_shared<const start_failed>(start_failed{"failed", got[14]}));
  return got;
}

} // namespace

SCENARIO("the list of reasons is exactly what the failures give") {
  auto given = std::set<std::string>{};
  for (const auto& x : one_of_each())
    given.insert(reason_of(x));
  auto listed = all_reasons();
  CHECK(std::ranges::is_sorted(listed));
  CHECK_EQ(std::set<std::string>(listed.begin(), listed.end()), given);
  CHECK_EQ(listed.size(), given.size());
  auto alternatives = std::set<std::size_t>{};
  for (const auto& x : one_of_each())
    alternatives.insert(x.index());
  CHECK_EQ(alternatives.size(), std::variant_size_v<failure>);
}

SCENARIO("the page of errors has the exit code of every failure") {
  auto codes = std::map<std::string, std::string>{};
  auto in = std::ifstream{PADDOCK_ERRORS_PAGE};
  for (auto line = std::string{}; std::getline(in, line);) {
    const auto bar = line.find(" | ");
    if (line.starts_with("| ") && bar != std::string::npos)
      codes[line.substr(2, bar - 2)] = ", " + line.substr(bar + 3, line.find(" | ", bar + 3) - bar - 3) + ",";
  }
  for (const auto& x : one_of_each()) {
    const auto code = std::to_string(static_cast<int>(kind_of(x)) + 1);
    if (codes[reason_of(x)].find(", " + code + ",") == std::string::npos)
      FAIL(reason_of(x) << " ends with " << code << ", which docs/errors.md does not say");
  }
}

SCENARIO("no text and no field of a failure carries a pod uid") {
  for (const auto& x : one_of_each()) {
    CHECK(!to_string(x).empty());
    CHECK(to_string(x).find("POD-SECRET") == std::string::npos);
    CHECK(details_of(x).is_object());
    CHECK(details_of(x).dump().find("POD-SECRET") == std::string::npos);
  }
}

SCENARIO("a write of unknown outcome is said to be unknown and never failed") {
  auto why = k8s::failure{k8s::api_timeout{"PATCH", "/x", std::chrono::milliseconds{30'000}, true}};
  auto x = failure{write_unknown{"suspend", why}};
  CHECK(kind_of(x) == kind::unknown);
  CHECK_EQ(reason_of(x), "OutcomeUnknown");
  CHECK_JSON(details_of(x), (nlohmann::json{{"operation", "suspend"}, {"cause", "ApiTimeout"}}));
}

SCENARIO("a start that failed after its write keeps the reason of the cause and never says that nothing happened") {
  auto refusal = failure{guest::failure{guest::unauthorized{}}};
  CHECK(kind_of(refusal) == kind::refused);
  auto x = failure{std::make_shared<const start_failed>(start_failed{"failed", refusal})};
  CHECK(kind_of(x) == kind::failed);
  CHECK_EQ(reason_of(x), "AgentUnauthorized");
  CHECK_JSON(details_of(x), (nlohmann::json{{"cleanUp", "failed"}, {"mayBeRunning", true}}));
  CHECK(to_string(x).find("may be running") != std::string::npos);
  auto put_back = failure{std::make_shared<const start_failed>(start_failed{"done", refusal})};
  CHECK_JSON(details_of(put_back).at("mayBeRunning"), false);
}

SCENARIO("failures are answered by kind") {
  CHECK(kind_of(illegal_argument{"x"}) == kind::usage);
  CHECK(kind_of(suspended{"exec", "desk", "n", "admission"}) == kind::refused);
  CHECK(kind_of(suspended{"exec", "desk", "n", "transport"}) == kind::failed);
  CHECK(kind_of(precondition{}) == kind::overtaken);
  CHECK(kind_of(replaced{}) == kind::overtaken);
  CHECK(kind_of(identity_mismatch{"desk", "n", "sandbox-absent", {}, {}}) == kind::not_found);
  CHECK(kind_of(k8s::failure{k8s::already_gone{}}) == kind::not_found);
  CHECK(kind_of(k8s::failure{k8s::credential_failure{}}) == kind::refused);
  CHECK(kind_of(k8s::failure{k8s::api_timeout{}}) == kind::unreachable);
  CHECK(kind_of(guest::failure{guest::dial_failed{}}) == kind::unreachable);
  CHECK(kind_of(guest::failure{guest::cancellation_unknown{}}) == kind::unknown);
}
