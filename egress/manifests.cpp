#include "egress/manifests.hpp"

#include "egress/named_object.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace paddock::egress {

namespace {

constexpr auto policy_kinds = std::to_array<object_kind>({
  {"networking.k8s.io", "v1", "NetworkPolicy"},
  {"cilium.io", "v2", "CiliumNetworkPolicy"},
  {"cilium.io", "v2", "CiliumClusterwideNetworkPolicy", false},
});

struct policy {
  resource_kind kind{};
  found_object what;
};

resource_kind kind_of(std::string_view text) {
  for (const auto x : {resource_kind::network_policy, resource_kind::cilium_network_policy})
    if (text == to_string(x))
      return x;
  return resource_kind::cilium_clusterwide_network_policy;
}

named_manifest find_named(const std::vector<policy>& policies, const policy_object& wanted) {
  const auto found =
    std::find_if(policies.begin(), policies.end(), [&](const policy& x) { return x.kind == wanted.kind && x.what.name == wanted.name; });
  if (found == policies.end())
    return {};
  auto difference = difference_of(wanted, *found->what.object);
  return {difference ? named_manifest::state::drifted : named_manifest::state::applied, std::move(difference)};
}

} // namespace

std::string_view to_string(named_manifest::state x) {
  switch (x) {
    case named_manifest::state::applied: return "applied";
    case named_manifest::state::not_applied: return "not-applied";
    case named_manifest::state::drifted: return "drifted";
  }
  return "";
}

tl::expected<manifests_verdict, manifests_refused> judge_manifests(const std::vector<manifest>& all, allowance allowed, judged_pod pod) {
  auto found = find_objects(all, policy_kinds, pod.name_space, "not a policy");
  if (!found)
    return tl::unexpected{std::move(found.error())};
  auto got = manifests_verdict{};
  got.ignored = std::move(found->ignored);
  auto policies = std::vector<policy>{};
  for (auto& x : found->all)
    if (!x.name_space.empty() && x.name_space != pod.name_space)
      got.ignored.push_back({x.place, std::string{x.kind}, x.name, "of the namespace " + x.name_space});
    else
      policies.push_back({kind_of(x.kind), std::move(x)});
  std::stable_sort(policies.begin(), policies.end(), [](const policy& a, const policy& b) { return a.kind < b.kind; });
  got.named = find_named(policies, *allowed.named);
  auto check = union_check{std::move(allowed), std::move(pod)};
  for (const auto& x : policies)
    check.take(x.kind, *x.what.object);
  got.refusal = check.refusal();
  got.examined = check.examined();
  for (const auto& x : check.findings())
    got.findings.push_back({policies[x.item].what.place, x});
  return got;
}

} // namespace paddock::egress
