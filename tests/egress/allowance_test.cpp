#define CAF_SUITE allowance

#include "egress/allowance.hpp"
#include "tests/egress/policies.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <set>

using namespace paddock::egress;
using namespace paddock::egress::test;

namespace {

std::set<std::string> dns_of(const allowance& x) {
  if (!x.dns_narrowed_to)
    return {"*"};
  return {x.dns_narrowed_to->begin(), x.dns_narrowed_to->end()};
}

const std::set<std::string> all_names = {"*"};
const std::set<std::string> names_of_a = {"a.example", "a.example.namzu-sandboxes.svc.cluster.local", "a.example.svc.cluster.local",
                                          "a.example.cluster.local"};
const auto by_name = narrowed{nullptr, true};

} // namespace

SCENARIO("an allowance says what each kind of configuration permits") {
  const auto deny = allowance_of(deny_all_object());
  CHECK(!deny.permits_everything);
  CHECK(!deny.permits_nothing);
  CHECK_EQ(deny.destinations.size(), 1u);
  CHECK_EQ(dns_of(deny), all_names);
  CHECK(allowance_of(allow_all_object()).permits_everything);
  CHECK(allowance_of(no_network_object()).permits_nothing);
  CHECK_EQ(allowance_of(public_internet_object()).destinations.size(), 3u);
  const auto hosts = allowance_of(static_object({"a.example", ".b.example"}));
  CHECK_EQ(hosts.destinations.size(), 1u);
  CHECK_EQ(hosts.hosts.size(), 2u);
  CHECK(hosts.hosts.contains("b.example"));
  CHECK_EQ(dns_of(hosts), all_names);
  CHECK_EQ(dns_of(allowance_of(static_object({"a.example"}, by_name))), names_of_a);
  THEN("every destination on some ports is not everything") {
    const auto some = allowance_of(core_object(policy_kind::allow_all, R"([{"ports":[{"port":443}]}])"_json_text));
    CHECK(!some.permits_everything);
    CHECK_EQ(some.destinations.size(), 1u);
  }
}

// [E 242]
SCENARIO("a grant beside no-network permits what it says, and is known by its name") {
  const auto both = union_of(allowance_of(no_network_object()), allowance_of(grant_object({"a.example"})));
  CHECK_EQ(dns_of(both), all_names);
  CHECK(!both.permits_nothing);
  CHECK_EQ(both.named->name, "namzu-task-egress");
  CHECK(both.named->kind == resource_kind::network_policy);
  REQUIRE_EQ(both.also_named.size(), 1u);
  CHECK_EQ(both.also_named[0]->name, "namzu-sbx-uid-1");
  CHECK(both.also_named[0]->kind == resource_kind::cilium_network_policy);
  CHECK(both.policy_kind == policy_kind::no_network);
}

SCENARIO("the names of a union are those of both sides, or all") {
  const auto grant = allowance_of(grant_object({"a.example"}, by_name));
  CHECK_EQ(dns_of(union_of(allowance_of(no_network_object()), grant)), names_of_a);
  CHECK_EQ(dns_of(union_of(allowance_of(deny_all_object()), grant)), all_names);
  const auto two = union_of(allowance_of(static_object({"a.example"}, by_name)), allowance_of(grant_object({"b.example"}, by_name)));
  CHECK_EQ(dns_of(two).size(), 8u);
  CHECK(two.dns_narrowed_to->contains("b.example"));
  CHECK_EQ(two.hosts.size(), 2u);
}

SCENARIO("what is not understood of an object permits nothing") {
  const auto odd =
    allowance_of(core_object(policy_kind::deny_all, R"([{"to":[{"odd":1},{"ipBlock":{"cidr":"x"}}]},7,{"ports":7},{"to":7}])"_json_text));
  CHECK(odd.destinations.empty());
  CHECK(!odd.permits_everything);
  auto no_rules = static_object({"a.example"});
  no_rules.manifest["spec"]["egress"] = json::array();
  CHECK(dns_of(allowance_of(no_rules)).empty());
  CHECK(allowance_of(no_rules).hosts.empty());
}
