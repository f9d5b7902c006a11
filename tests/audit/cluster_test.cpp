#define CAF_SUITE cluster

#include "audit/flows/cluster.hpp"
#include "egress/core_rules.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/support/scripted_api.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <map>

using namespace paddock;
using namespace paddock::audit;
using nlohmann::json;
using paddock::test::denied;
using paddock::test::found;
using paddock::test::gone;
using paddock::test::run_flow;
using paddock::test::scripted_api;

namespace {

const auto core = std::string{"/apis/networking.k8s.io/v1/namespaces/n/networkpolicies"};
const auto cilium = std::string{"/apis/cilium.io/v2/namespaces/n/ciliumnetworkpolicies"};

struct fixture {
  fixture() {
    api.handle([this](const k8s::call& x) {
      CHECK_EQ(x.method, "GET");
      const auto it = answers.find(x.path.substr(0, x.path.find('?')));
      return it == answers.end() ? gone(x) : it->second;
    });
  }
  egress_report judge(egress::policy_engine engine = egress::policy_engine::core) {
    auto got = run_flow(context, judge_cluster(on, engine, asked, until()));
    if (!got)
      CAF_FAIL(egress::to_string(got.error()));
    return *got;
  }
  void apply(json more = json::array()) {
    answers[core + "/t-egress"] = found(asked.named.manifest);
    more.insert(more.begin(), asked.named.manifest);
    answers[core] = found({{"items", more}});
  }
  deadline until() {
    return deadline{time, std::chrono::seconds{30}};
  }

  boost::asio::io_context context;
  paddock::test::manual_time time;
  scripted_api api;
  egress::cluster on{api, time};
  std::map<std::string, scripted_api::reply> answers;
  egress::label_map labels{{std::string{egress::template_label_key}, "t"}};
  egress_question asked{egress::compose(egress::deny_all{}, "n", "t-egress", labels), {"n", labels}};
};

json wide() {
  return {{"metadata", {{"name", "wide"}}}, {"spec", {{"podSelector", json::object()}, {"egress", json::array({json::object()})}}}};
}

} // namespace

SCENARIO("a cluster is asked for the named object and its policies, and nothing is written") {
  auto f = fixture{};
  f.apply();
  const auto got = f.judge();
  CHECK(got.within());
  REQUIRE_EQ(f.api.calls.size(), 2u);
  CHECK_EQ(f.api.calls[0].path, core + "/t-egress");
  CHECK_EQ(f.api.calls[1].path.substr(0, core.size()), core);
  CHECK(!refusal_of(got, f.asked));
}

SCENARIO("a wide policy of a cluster is a finding with its path") {
  auto f = fixture{};
  f.apply({wide()});
  const auto got = f.judge();
  CHECK(!got.within());
  const auto said = to_json(got);
  CHECK_EQ(said["named"], "applied");
  CHECK_EQ(said["union"], "policy-widens-egress");
  REQUIRE_EQ(said["findings"].size(), 1u);
  CHECK_EQ(said["findings"][0]["path"], "spec.egress[0]");
  CHECK_EQ(said["findings"][0]["reason"], "everywhere");
  CHECK(!said["findings"][0].contains("file"));
  CHECK_EQ(egress::reason_of(refusal_of(got, f.asked).value()), "EgressPolicyUnion");
}

SCENARIO("an object that is not there or has drifted is told apart from the union") {
  auto f = fixture{};
  f.answers[core] = found({{"items", json::array()}});
  const auto none = f.judge();
  CHECK_EQ(to_json(none)["named"], "not-applied");
  CHECK_EQ(to_json(none)["union"], "no-enforcing-policy");
  CHECK_EQ(egress::reason_of(refusal_of(none, f.asked).value()), "EgressPolicyNotApplied");
  auto other = f.asked.named.manifest;
  other["spec"]["egress"] = json::array();
  f.answers[core + "/t-egress"] = found(other);
  f.answers[core] = found({{"items", {other}}});
  const auto drifted = f.judge();
  CHECK_EQ(to_json(drifted)["named"], "drifted");
  CHECK_EQ(to_json(drifted)["union"], "passes");
  CHECK(!drifted.within());
  CHECK_EQ(egress::reason_of(refusal_of(drifted, f.asked).value()), "EgressPolicyMismatch");
}

SCENARIO("a collection that cannot be listed is no pass, and a list that begins anew counts once") {
  auto f = fixture{};
  f.apply();
  const auto unread = f.judge(egress::policy_engine::cilium);
  CHECK(!unread.within());
  REQUIRE_EQ(unread.unread.size(), 1u);
  CHECK_EQ(unread.unread[0].resource, "ciliumnetworkpolicies");
  CHECK_EQ(to_json(unread)["union"], "not-evaluable");
  CHECK_EQ(unread.judged.examined.size(), 1u);
  f.api.then(f.answers[core + "/t-egress"])
    .then(found({{"items", {wide()}}, {"metadata", {{"continue", "more"}}}}))
    .then([](const k8s::call& x) { return gone(x, 410); });
  const auto anew = f.judge();
  CHECK(anew.within());
  CHECK_EQ(anew.judged.examined.size(), 1u);
}

SCENARIO("a request that fails says nothing about the answer") {
  auto f = fixture{};
  f.api.then([](const k8s::call& x) { return denied(x); });
  auto got = run_flow(f.context, judge_cluster(f.on, egress::policy_engine::core, f.asked, f.until()));
  REQUIRE(!got);
  CHECK(std::holds_alternative<k8s::failure>(got.error()));
  f.api.then([](const k8s::call& x) { return paddock::test::unreachable(x, false); });
  const auto fence = egress::fence_question{egress::per_sandbox_egress{"f"}, "n"};
  CHECK(!run_flow(f.context, check_fence_of(f.on, fence, f.until())));
  f.api.then([](const k8s::call& x) { return paddock::test::unreachable(x, false); });
  CHECK(!run_flow(f.context, check_ingress_of(f.on, egress::policy_engine::core, {"the pod", f.labels, "n"}, f.until())));
}

SCENARIO("a fence and an ingress that cannot be read are mended by rights") {
  auto f = fixture{};
  f.api.handle([](const k8s::call& x) { return denied(x); });
  const auto fence = egress::fence_question{egress::per_sandbox_egress{"namzu-per-sandbox-egress"}, "namzu-sandboxes"};
  const auto unproved = run_flow(f.context, check_fence_of(f.on, fence, f.until()));
  REQUIRE(unproved);
  CHECK_EQ(to_json(*unproved, fence)["reason"], "AdmissionFenceUnreadable");
  CHECK_EQ(remedy_of(*unproved, fence), std::vector<std::string>{"kubectl apply -f deploy/egress/rbac-per-sandbox-egress.yaml"});
  const auto pod = egress::ingress_question{"the pod", f.labels, "namzu-sandboxes"};
  const auto open = run_flow(f.context, check_ingress_of(f.on, egress::policy_engine::core, pod, f.until()));
  REQUIRE(open);
  CHECK_EQ(remedy_of(*open, pod), std::vector<std::string>{"kubectl apply -f deploy/egress/rbac.yaml"});
  f.api.handle([](const k8s::call& x) { return gone(x); });
  const auto absent = run_flow(f.context, check_ingress_of(f.on, egress::policy_engine::core, pod, f.until()));
  REQUIRE(absent);
  CHECK_EQ(remedy_of(*absent, pod).size(), 1u);
}
