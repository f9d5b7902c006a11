#define CAF_SUITE grantee

#include "egress/grantee.hpp"

#include <caf/test/bdd_dsl.hpp>
#include <nlohmann/json.hpp>

using namespace paddock::egress;
using nlohmann::json;

namespace {

result<grantee> grantee_in(const json& sandbox) {
  return grantee_of(per_sandbox_egress{"fence"}, "ns", "namzu-ws-desk", sandbox);
}

} // namespace

SCENARIO("a Sandbox is granted to under its name and uid, and its pods have the labels of its pod template") {
  const auto got = grantee_in({{"metadata", {{"uid", "S1"}, {"labels", {{"not", "these"}}}}},
                               {"spec", {{"podTemplate", {{"metadata", {{"labels", {{"app", "a"}, {"number", 1}}}}}}}}}});
  REQUIRE(got);
  CHECK(got->whose.owner.kind == policy_owner::type::sandbox);
  CHECK_EQ(got->whose.owner.name, "namzu-ws-desk");
  CHECK_EQ(got->whose.owner.uid, "S1");
  CHECK_EQ(got->whose.selector_value, "namzu-ws-desk");
  CHECK_EQ(got->whose.name_space, "ns");
  CHECK(got->whose.name_may_pass_on);
  CHECK_EQ(got->pod_labels, (label_map{{"app", "a"}}));
}

SCENARIO("a Sandbox without a uid is granted nothing, and odd shapes have no labels") {
  for (const auto& without : {json::object(), json{{"metadata", {{"uid", ""}}}}, json{{"metadata", {{"uid", 7}}}}, json{{"metadata", 1}}}) {
    const auto got = grantee_in(without);
    REQUIRE(!got);
    const auto* why = std::get_if<owner_uid_missing>(&got.error());
    REQUIRE(why != nullptr);
    CHECK_EQ(why->object_name, "namzu-ws-desk");
    CHECK_EQ(why->name_space, "ns");
  }
  for (const auto& spec : {json(1), json{{"podTemplate", nullptr}}, json{{"podTemplate", {{"metadata", {{"labels", {"x"}}}}}}}}) {
    const auto got = grantee_in({{"metadata", {{"uid", "S1"}}}, {"spec", spec}});
    REQUIRE(got);
    CHECK(got->pod_labels.empty());
  }
}
