#define CAF_SUITE enumeration

#include "egress/enumeration.hpp"
#include "egress/flows/enumeration.hpp"
#include "tests/egress/policies.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/support/scripted_api.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::egress;
using namespace paddock::egress::test;

namespace {

constexpr auto core_path = "/apis/networking.k8s.io/v1/namespaces/namzu-sandboxes/networkpolicies";
constexpr auto cilium_path = "/apis/cilium.io/v2/namespaces/namzu-sandboxes/ciliumnetworkpolicies";

std::string page(const char* path, const std::string& more = {}) {
  return "GET " + std::string{path} + "?limit=500" + (more.empty() ? "" : "&continue=" + more);
}

json list_of(std::vector<json> items, const std::string& more = {}) {
  auto got = json{{"items", std::move(items)}, {"metadata", {{"resourceVersion", "7"}}}};
  if (!more.empty())
    got["metadata"]["continue"] = more;
  return got;
}

using reply = paddock::test::scripted_api::reply;
using trace = std::vector<std::string>;
using paddock::test::found;

const json wide = cilium_policy("wide", R"([{"toEntities":["world"]}])"_json_text);

struct fixture {
  boost::asio::io_context lane;
  paddock::test::manual_time time;
  paddock::test::scripted_api api;
  deadline until{time, std::chrono::seconds{30}};

  result<void> verify(const allowance& allowed, policy_engine engine = policy_engine::core, label_map labels = pod_labels()) {
    return paddock::test::run_flow(
      lane, verify_union(api, engine, allowed, judged_pod{"namzu-sandboxes", std::move(labels)}, "the sandbox s1", until));
  }
  result<void> verify_named(const policy_object& wanted) {
    return paddock::test::run_flow(lane, verify_named_object(api, wanted, until));
  }
  /// Answers the next call by a failure that names it.
  template <class... Args>
  void then_fails(reply (*how)(const k8s::call&, Args...), Args... args) {
    api.then([=](const k8s::call& x) { return how(x, args...); });
  }
};

const union_refused* refused(const result<void>& x) {
  return x ? nullptr : std::get_if<union_refused>(&x.error());
}

} // namespace

BEGIN_FIXTURE_SCOPE(fixture)

// [E 59] [E 77]
SCENARIO("an object that is not applied is one GET, and nothing is created") {
  for (const auto status : {404u, 410u}) {
    api.calls.clear();
    then_fails<unsigned>(paddock::test::gone, status);
    const auto got = verify_named(deny_all_object());
    REQUIRE(!got);
    const auto* why = std::get_if<policy_not_applied>(&got.error());
    REQUIRE(why != nullptr);
    CHECK(why->kind == resource_kind::network_policy);
    CHECK_EQ(why->path, std::string{core_path} + "/namzu-task-egress");
    CHECK_EQ(api.trace(), trace{"GET " + std::string{core_path} + "/namzu-task-egress"});
    CHECK(api.calls.at(0) == k8s::get(std::string{core_path} + "/namzu-task-egress"));
  }
  THEN("a Cilium object is asked for where those are") {
    api.calls.clear();
    api.then(found(static_object({"a.example"}).manifest));
    CHECK(verify_named(static_object({"a.example"})));
    CHECK_EQ(api.trace(), trace{"GET " + std::string{cilium_path} + "/namzu-task-egress"});
  }
}

// [E 66]
SCENARIO("another failure of the API passes through as it came") {
  then_fails<unsigned>(paddock::test::status, 500u);
  const auto failed = verify_named(deny_all_object());
  REQUIRE(!failed);
  const auto* why = std::get_if<k8s::failure>(&failed.error());
  REQUIRE(why != nullptr);
  CHECK_EQ(std::get<k8s::api_failure>(*why).status.value_or(0), 500u);
  then_fails<unsigned>(paddock::test::denied, 403u);
  const auto denied = verify_named(deny_all_object());
  REQUIRE(!denied);
  CHECK(std::holds_alternative<k8s::credential_failure>(std::get<k8s::failure>(denied.error())));
  CHECK_EQ(api.calls.size(), 2u);
}

SCENARIO("each collection is one list, core first, and Cilium's under that engine only") {
  api.handle([](const k8s::call&) { return found(list_of({})); });
  CHECK(verify(allowance_of(allow_all_object())));
  CHECK_EQ(api.trace(), trace{page(core_path)});
  api.calls.clear();
  CHECK(verify(allowance_of(allow_all_object()), policy_engine::cilium));
  CHECK_EQ(api.trace(), (trace{page(core_path), page(cilium_path)}));
  CHECK(api.calls.at(0) == k8s::get(std::string{core_path} + "?limit=500"));
  for (const auto& x : api.deadlines)
    CHECK(x == until);
}

// [E 100]
SCENARIO("an answer without items is no policies") {
  for (const auto& body :
       {json::object(), R"({"items":null})"_json_text, R"({"items":{}})"_json_text, R"([])"_json_text, R"("x")"_json_text}) {
    api.then(found(body));
    const auto got = verify(allowance_of(deny_all_object()));
    REQUIRE(refused(got) != nullptr);
    CHECK(refused(got)->refusal == union_refused::cause::no_enforcing_policy);
    CHECK(refused(got)->examined.empty());
    api.then(found(body));
    CHECK(verify(allowance_of(allow_all_object())));
  }
  api.then(paddock::test::no_value());
  CHECK(verify(allowance_of(allow_all_object())));
}

SCENARIO("the pages of a list are one list") {
  const auto configured = deny_all_object();
  api.then(found(list_of({core_policy("a", json::array())}, "p/2")))
    .then(found(list_of({}, "p3")))
    .then(found(list_of({configured.manifest})));
  CHECK(verify(allowance_of(configured)));
  CHECK_EQ(api.trace(), (trace{page(core_path), page(core_path, "p%2F2"), page(core_path, "p3")}));
  THEN("a policy on a later page counts") {
    api.then(found(list_of({configured.manifest}, "p2"))).then(found(list_of({core_policy("wide", R"([{}])"_json_text)})));
    const auto got = verify(allowance_of(configured));
    REQUIRE(refused(got) != nullptr);
    CHECK_EQ(refused(got)->examined.size(), 2u);
  }
}

SCENARIO("a list whose token ran out begins again, and then fails") {
  const auto configured = deny_all_object();
  api.then(found(list_of({configured.manifest}, "p2")));
  then_fails<unsigned>(paddock::test::gone, 410u);
  api.then(found(list_of({configured.manifest, core_policy("wide", R"([{}])"_json_text)})));
  const auto got = verify(allowance_of(configured));
  REQUIRE(refused(got) != nullptr);
  CHECK_EQ(refused(got)->examined.size(), 2u); // what the first listing told is forgotten
  CHECK_EQ(api.trace(), (trace{page(core_path), page(core_path, "p2"), page(core_path)}));
  WHEN("it runs out each time") {
    api.calls.clear();
    api.handle([&](const k8s::call& x) {
      return x.path.find("continue") == std::string::npos ? found(list_of({configured.manifest}, "p2")) : paddock::test::gone(x, 410);
    });
    const auto again = verify(allowance_of(configured));
    REQUIRE(!again);
    CHECK(std::holds_alternative<k8s::failure>(again.error()));
    CHECK_EQ(api.calls.size(), 6u);
  }
}

SCENARIO("a list that does not end is a failure, not a pass") {
  api.handle([](const k8s::call&) { return found(list_of({deny_all_object().manifest}, "again")); });
  const auto got = verify(allowance_of(deny_all_object()));
  REQUIRE(!got);
  CHECK(std::holds_alternative<k8s::failure>(got.error()));
  CHECK_EQ(api.calls.size(), 2u);
  WHEN("each page names another one") {
    api.calls.clear();
    auto n = 0;
    api.handle([&](const k8s::call&) { return found(list_of({}, std::to_string(++n))); });
    const auto endless = verify(allowance_of(allow_all_object()));
    REQUIRE(!endless);
    CHECK_EQ(api.calls.size(), most_pages);
  }
}

// [E 137]
SCENARIO("a collection that may not be listed is not evaluable, and nothing is said about what it holds") {
  then_fails<unsigned>(paddock::test::denied, 403u);
  const auto got = verify(allowance_of(deny_all_object()), policy_engine::cilium);
  REQUIRE(refused(got) != nullptr);
  CHECK(refused(got)->refusal == union_refused::cause::not_evaluable);
  CHECK(refused(got)->examined.empty());
  REQUIRE_EQ(refused(got)->unread.size(), 1u);
  CHECK(refused(got)->unread[0].why == unread_collection::cause::forbidden);
  CHECK_EQ(refused(got)->unread[0].resource, "networkpolicies");
  CHECK_EQ(refused(got)->unread[0].path, core_path);
  const auto text = to_string(got.error());
  CHECK(text.find("grant list on networkpolicies") != std::string::npos);
  CHECK(text.find("egress.verify: 'named-object-only'") != std::string::npos);
  CHECK_EQ(api.trace(), trace{page(core_path)});
}

// [E 145]
SCENARIO("a Cilium collection that is not served is not evaluable, and the core verdicts are kept") {
  for (const auto status : {404u, 410u}) {
    api.calls.clear();
    api.then(found(list_of({deny_all_object().manifest})));
    then_fails<unsigned>(paddock::test::gone, status);
    const auto got = verify(allowance_of(deny_all_object()), policy_engine::cilium);
    REQUIRE(refused(got) != nullptr);
    CHECK(refused(got)->refusal == union_refused::cause::not_evaluable);
    REQUIRE_EQ(refused(got)->examined.size(), 1u);
    CHECK_EQ(refused(got)->examined[0].policy.name, "namzu-task-egress");
    CHECK(refused(got)->examined[0].verdict == egress_verdict::within);
    REQUIRE_EQ(refused(got)->unread.size(), 1u);
    CHECK(refused(got)->unread[0].why == unread_collection::cause::absent);
    CHECK_EQ(refused(got)->unread[0].resource, "ciliumnetworkpolicies");
    CHECK_EQ(api.trace(), (trace{page(core_path), page(cilium_path)}));
  }
}

// [E 136] [E 144]
SCENARIO("an object that can be read and is not listed restricts nobody") {
  for (const auto& configured : {deny_all_object(), static_object({"a.example"})}) {
    api.calls.clear();
    const auto cilium = configured.kind == resource_kind::cilium_network_policy;
    api.then(found(configured.manifest));
    CHECK(verify_named(configured));
    api.handle([](const k8s::call&) { return found(list_of({})); });
    const auto got = verify(allowance_of(configured), cilium ? policy_engine::cilium : policy_engine::core);
    REQUIRE(refused(got) != nullptr);
    CHECK(refused(got)->refusal == union_refused::cause::no_enforcing_policy);
    CHECK_EQ(api.calls.size(), cilium ? 3u : 2u);
  }
}

SCENARIO("another failure of a list passes through as it came") {
  then_fails<unsigned>(paddock::test::status, 500u);
  const auto got = verify(allowance_of(deny_all_object()));
  REQUIRE(!got);
  REQUIRE(std::holds_alternative<k8s::failure>(got.error()));
  CHECK(std::holds_alternative<k8s::api_failure>(std::get<k8s::failure>(got.error())));
}

// [E 236]
SCENARIO("a policy that is applied between two checks after a write is found by the second one") {
  const auto configured = deny_all_object();
  const auto grant = grant_object({"a.example"});
  const auto allowed = union_of(allowance_of(configured), allowance_of(grant));
  auto labels = pod_labels();
  labels["sandbox.namzu.ai/per-sandbox-egress"] = "s1";
  auto cilium = std::vector<json>{grant.manifest};
  api.handle([&](const k8s::call& x) { return found(list_of(x.path.starts_with(core_path) ? std::vector{configured.manifest} : cilium)); });
  CHECK(verify(allowed, policy_engine::cilium, labels));
  CHECK_EQ(api.trace(), (trace{page(core_path), page(cilium_path)}));
  cilium.push_back(wide);
  const auto got = verify(allowed, policy_engine::cilium, labels);
  REQUIRE(refused(got) != nullptr);
  CHECK(refused(got)->refusal == union_refused::cause::policy_widens_egress);
  CHECK_EQ(api.calls.size(), 4u);
}

// [E 240]
SCENARIO("a written policy that is read back with a list specs is refused, and the list is judged") {
  const auto grant = grant_object({"a.example"});
  auto live = grant.manifest;
  live["specs"] = R"([{"endpointSelector":{},"egress":[{"toEntities":["world"]}]}])"_json_text;
  api.then(found(live));
  const auto read_back = verify_named(grant);
  REQUIRE(!read_back);
  CHECK(std::get<policy_mismatch>(read_back.error()).reason.starts_with("specs is "));
  const auto configured = deny_all_object();
  api.then(found(list_of({configured.manifest}))).then(found(list_of({live})));
  const auto got = verify(union_of(allowance_of(configured), allowance_of(grant)), policy_engine::cilium);
  REQUIRE(refused(got) != nullptr);
  CHECK(refused(got)->refusal == union_refused::cause::policy_widens_egress);
  CHECK_EQ(refused(got)->examined.back().policy.name, "namzu-sbx-uid-1");
}

SCENARIO("a check that is withdrawn ends") {
  api.hold();
  auto flow = paddock::test::start_flow(lane, verify_union(api, policy_engine::core, allowance_of(deny_all_object()),
                                                           judged_pod{"namzu-sandboxes", pod_labels()}, "s1", until));
  paddock::test::run_ready(lane);
  REQUIRE_EQ(api.waiting().size(), 1u);
  flow.cancel();
  paddock::test::run_until(lane, [&] { return flow.done(); });
}

END_FIXTURE_SCOPE()
