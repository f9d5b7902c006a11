#define CAF_SUITE template_controller

#include "embedded/template_controller.hpp"
#include "tests/embedded/recorded_extensions.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::embedded;
using namespace paddock::embedded::test;
using nlohmann::json;

namespace {

const json& part(const char* name) {
  return recorded().at("template").at(name);
}

} // namespace

SCENARIO("a new template gets its label and its NetworkPolicy as recorded") {
  auto writes = plan_template(part("created"), std::nullopt);
  REQUIRE_EQ(writes.size(), 2u);
  auto labelled = part("created");
  labelled.merge_patch(writes[0].body);
  CHECK_EQ(labelled["metadata"]["labels"].dump(), part("labelled")["metadata"]["labels"].dump());
  CHECK_EQ(writes[1].method, "POST");
  CHECK_EQ(writes[1].path, "/apis/networking.k8s.io/v1/namespaces/rec/networkpolicies");
  CHECK_EQ(writes[1].body["spec"].dump(), part("policy")["spec"].dump());
  CHECK_EQ(name_of(writes[1].body), name_of(part("policy")));
  CHECK_EQ(writes[1].body["metadata"]["ownerReferences"].dump(), part("policy")["metadata"]["ownerReferences"].dump());
}

SCENARIO("a template that the real controller left alone is left alone") {
  CHECK(plan_template(part("labelled"), part("policy")).empty());
  CHECK(plan_template(part("unmanaged"), std::nullopt).empty());
}

SCENARIO("drift of the policy is repaired") {
  auto changed = part("policy");
  changed["spec"]["egress"] = json::array();
  auto writes = plan_template(part("labelled"), changed);
  REQUIRE_EQ(writes.size(), 1u);
  changed.merge_patch(writes[0].body);
  CHECK_EQ(changed["spec"].dump(), part("policy")["spec"].dump());
}

SCENARIO("the template's own rules take the place of the default ones, with the defaults of the API server") {
  auto mine = part("labelled");
  mine["spec"]["networkPolicy"]["egress"] = json::parse(R"([{"to": [{"ipBlock": {"cidr": "192.0.2.0/24"}}], "ports": [{"port": 443}]}])");
  auto writes = plan_template(mine, part("policy"));
  REQUIRE_EQ(writes.size(), 1u);
  auto policy = part("policy");
  policy.merge_patch(writes[0].body);
  CHECK(!policy["spec"].contains("ingress"));
  policy["spec"]["egress"][0]["ports"][0]["protocol"] = "TCP";
  CHECK(plan_template(mine, policy).empty());
}

SCENARIO("the policy of a template that is not managed any more is deleted, a stranger's is not") {
  auto off = part("labelled");
  off["spec"]["networkPolicyManagement"] = "Unmanaged";
  auto writes = plan_template(off, part("policy"));
  REQUIRE_EQ(writes.size(), 1u);
  CHECK_EQ(writes[0].method, "DELETE");
  CHECK_EQ(text_in(writes[0].body, "/preconditions/uid"), uid_of(part("policy")));
  auto foreign = part("policy");
  foreign["metadata"].erase("ownerReferences");
  CHECK(plan_template(off, foreign).empty());
  foreign["spec"]["egress"] = json::array();
  CHECK(plan_template(part("labelled"), foreign).empty());
}

SCENARIO("a terminating template is left alone") {
  auto ending = part("created");
  ending["metadata"]["deletionTimestamp"] = "2026-11-29T18:04:10Z";
  CHECK(plan_template(ending, std::nullopt).empty());
}
