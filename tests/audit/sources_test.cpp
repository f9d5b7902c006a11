#define CAF_SUITE sources

#include "audit/sources.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <array>

using namespace paddock;
using namespace paddock::audit;

namespace {

constexpr auto judged = std::array<std::string_view, 1>{"NetworkPolicy"};

std::string refusal(const std::vector<source>& all) {
  const auto got = read_manifests(all, judged);
  return got ? "read" : to_string(got.error());
}

} // namespace

SCENARIO("the documents of all files are told in their order, with their places") {
  const auto got = read_manifests({{"a.yaml", "x: 1\n---\ny: 2\n"}, {"b.json", R"({"z": 3})"}}, judged);
  REQUIRE(got);
  REQUIRE_EQ(got->size(), 3u);
  CHECK_EQ(to_string(got->at(1).place), "a.yaml:3");
  CHECK_EQ(to_string(got->at(2).place), "b.json:1");
}

// [E 328]
SCENARIO("a key that stands twice is refused by file and line") {
  const auto fine = source{"a.yaml", "x: 1\n"};
  CHECK_EQ(refusal({fine, {"b.yaml", "x: 1\nx: 2\n"}}), "b.yaml:2: has the key \"x\" twice");
  CHECK_EQ(refusal({fine, {"b.yaml", "---\nx:\n- y:\n    z: 1\n    z: 1\n"}}), "b.yaml:5: has the key \"z\" twice");
  CHECK_EQ(refusal({fine, {"b.json", "{\"x\": 1,\n\"x\": 2}"}}), "b.json:2: has the key \"x\" twice");
}

SCENARIO("a scalar in doubt refuses where it is of a kind that is judged, and nowhere else") {
  CHECK_EQ(refusal({{"a", "kind: Deployment\nspec: {enabled: yes}\n"}}), "read");
  CHECK_EQ(refusal({{"a", "kind: NetworkPolicyish\nx: yes\n"}}), "read");
  CHECK_EQ(refusal({{"a", "kind: NetworkPolicy\nspec:\n  ports: [0065]\n"}}).find("a:3: spec.ports[0]: 0065 "), 0u);
  CHECK_EQ(refusal({{"a", "kind: NetworkPolicy\non: x\n"}}).find("a:2: on: on "), 0u);
  THEN("in a List it is that of the item that counts") {
    CHECK_EQ(refusal({{"a", "kind: List\nitems:\n- {kind: Deployment, x: yes}\n- {kind: NetworkPolicy}\n"}}), "read");
    CHECK_EQ(refusal({{"a", "kind: List\nitems:\n- {kind: Deployment}\n- {kind: NetworkPolicy, x: yes}\n"}}).find("a:4: items[1].x: yes "),
             0u);
    CHECK_EQ(refusal({{"a", "kind: NetworkPolicyList\nitems:\n- {x: yes}\n"}}).find("a:3: items[0].x: yes "), 0u);
    CHECK_EQ(refusal({{"a", "kind: List\nitems: yes\n"}}), "read");
    CHECK_EQ(refusal({{"a", "kind: List\nitems: []\n\"items[9]\": yes\n"}}), "read");
    CHECK_EQ(refusal({{"a", "kind: List\n\"items[x\": yes\n"}}), "read");
    CHECK_EQ(refusal({{"a", "kind: List\nitems:\n  yes: {kind: NetworkPolicy}\n"}}), "read");
  }
}

SCENARIO("a finding is moved to the line of what its path says") {
  const auto files =
    std::vector<source>{{"a", "---\nspec:\n  egress:\n  - {}\n  - to: 1\n"}, {"b", "{\n\"items\": [\n{\"spec\": 1},\n{\"spec\":\n[2]}]}"}};
  auto all = std::vector<egress::manifest_finding>{};
  all.push_back({{"a", 2}, {}});
  all.back().what.path = "spec.egress[1].to";
  all.push_back({{"b", 1, "items[1]"}, {}});
  all.back().what.path = "spec[0].egress";
  all.push_back({{"b", 1, "items[0]"}, {}});
  point_at_lines(all, files);
  CHECK_EQ(all[0].place.line, 5u);
  CHECK_EQ(all[1].place.line, 5u);
  CHECK_EQ(all[2].place.line, 3u);
}
