#define CAF_SUITE workspace_without_uid

// Grants on an API server that reports no uids, from the WORKSPACE to the requests.

#include "egress/flows/ports.hpp"
#include "egress/translate.hpp"
#include "k8s/paths.hpp"
#include "tests/actors/whole_fixture.hpp"
#include "tests/egress/shipped.hpp"

using namespace paddock;
using namespace paddock::test;
using nlohmann::json;
using texts = std::vector<std::string>;

namespace {

/// The flows of egress beside those of the workspace, in a base of their own so that they outlive the actors.
struct grant_flows : whole_flows {
  grant_flows() : whole_flows(workspace::test::desk::host::unfenced, workspace::test::desk::api_server::without_uids) {
    host.on.how.egress = of.how;
    on.egress = &of;
    on.fences = fences.get();
    on.policies = policies.get();
    host.cluster.objects[of.baseline.path()] = of.baseline.manifest;
    for (const auto& x : shipped("fence.yaml")) {
      auto text = x.dump();
      for (auto at = text.find("namzu-sandboxes"); at != std::string::npos; at = text.find("namzu-sandboxes", at))
        text.replace(at, 15, "ns");
      const auto name = x["metadata"]["name"].get<std::string>();
      const auto policy = x["kind"] == "ValidatingAdmissionPolicy";
      host.cluster.objects[policy ? k8s::admission_policy_path(name) : k8s::admission_binding_path(name)] = json::parse(text);
    }
  }
  static egress::backend granting() {
    auto how = egress::egress_config{};
    how.policy = egress::deny_all{};
    how.per_sandbox = egress::per_sandbox_egress{"namzu-per-sandbox-egress"};
    return {how, egress::translate(how, {"ns", "tpl"}).value()};
  }
  egress::backend of = granting();
  egress::cluster policies_of{host.api, host.time};
  std::unique_ptr<egress::fence_port> fences = egress::make_fence_port(policies_of, of, group);
  std::unique_ptr<egress::policy_port> policies = egress::make_policy_port(policies_of, of, group);
};

struct fixture : grant_flows, actor_fixture {
  ~fixture() {
    group.close([] {});
    settle();
  }
  void settle() {
    test::settle(sched, host.context);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(workspace_without_uid_tests, fixture)

// [E 252]
SCENARIO("a create whose answer carries no uid verifies no grants, and is granted nothing later where no read has one either") {
  const auto me = keep(sys.spawn<workspace_impl>(std::ref(on), *workspace::id::parse("desk")));
  const auto opened = ask<opened_view>(me, atom::open_v, open_spec{}, caf::timespan{1min});
  settle();
  REQUIRE(opened->value);
  CHECK_EQ(host.requests(),
           (texts{"GET NP tpl-egress", "GET VAP", "GET VAPB", "GET TPL", "GET NPC", "POST SBC", "GET SB", "GET POD", "GET PVC"}));
  const auto granted = ask<policy_view>(me, atom::policy_v, policy_request{policy_spec{{"a.example"}}}, caf::timespan{1min});
  settle();
  REQUIRE(granted->why);
  CHECK_EQ(granted->why->reason, "OwnerUidMissing");
  CHECK_EQ(host.requests(), (texts{"GET SB"}));
}

CAF_TEST_FIXTURE_SCOPE_END()
