#define CAF_SUITE meant_policy

#include "egress/meant_policy.hpp"
#include "tests/egress/refusals.hpp"
#include "tests/support/check_json.hpp"

using namespace paddock::egress;
using nlohmann::json;
using verdict = standing_policy::verdict;

namespace {

const auto whose = grant_target{{"fence"}, "ns", {policy_owner::type::sandbox, "namzu-ws-desk", "S1"}, "namzu-ws-desk", true};

meant_policy meant(const std::vector<std::string>& hosts) {
  return meaning_of(whose, hosts).value();
}

} // namespace

SCENARIO("a call means an object of its hosts in lower case, or that there is to be none") {
  auto some = meant({"API.example.com", ".Example.org"});
  CHECK_EQ(some.allowed_hosts, (std::vector<std::string>{"api.example.com", ".example.org"}));
  REQUIRE(some.object.has_value());
  CHECK_EQ(some.object->name, "namzu-sbx-S1");
  auto none = meant({});
  CHECK(none.allowed_hosts.empty());
  CHECK(!none.object);
  auto bad = meaning_of(whose, {"a.example", "*.example"});
  REQUIRE(!bad);
  CHECK_EQ(reason_of(bad.error()), "NetworkPolicyHost");
}

SCENARIO("what stands is compared with what was meant last") {
  const auto some = meant({"a.example"});
  const auto other = meant({"b.example"});
  const auto& object = some.object->manifest;
  CHECK(judge_standing(some, object).is == verdict::as_meant);
  CHECK(judge_standing(meant({}), std::nullopt).is == verdict::as_meant);
  for (const auto& x : {judge_standing(other, object), judge_standing(meant({}), object), judge_standing(some, std::nullopt),
                        judge_standing(some, json::object())}) {
    CHECK(x.is == verdict::differs);
    CHECK(!x.text.empty());
  }
  CHECK(judge_standing(other, object).text.find("spec.egress") != std::string::npos);
  auto orphan = object;
  orphan["metadata"].erase("ownerReferences");
  CHECK(judge_standing(some, orphan).text.find("ownerReferences") != std::string::npos);
  auto wider = object;
  wider["specs"] = json::array({object["spec"]});
  CHECK(judge_standing(some, wider).is == verdict::differs);
}

SCENARIO("while nothing was meant, nobody knows whose an object is") {
  const auto object = meant({"a.example"}).object->manifest;
  CHECK(judge_standing(std::nullopt, object).is == verdict::never_meant);
  CHECK(judge_standing(std::nullopt, std::nullopt).is == verdict::as_meant);
}

SCENARIO("the hosts of a policy are the entries that would make it, once each") {
  const auto entries = std::vector<std::string>{"a.example", ".b.example", "c.example"};
  CHECK_EQ(hosts_of(meant(entries).object->manifest), entries);
  auto object = meant(entries).object->manifest;
  object["spec"]["egress"].push_back({{"toFQDNs", {{{"matchName", "c.example"}}, {{"matchPattern", "d*.example"}}, 7}}});
  object["spec"]["egress"].push_back({{"toEntities", {"world"}}});
  CHECK_EQ(hosts_of(object), (std::vector<std::string>{"a.example", ".b.example", "c.example", "d*.example"}));
  for (const auto& odd : {json{}, json{{"spec", 1}}, json{{"spec", {{"egress", "x"}}}}, json{{"spec", {{"egress", {{{"toFQDNs", 1}}}}}}}})
    CHECK(hosts_of(odd).empty());
}
