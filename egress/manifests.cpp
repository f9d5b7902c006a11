#include "egress/manifests.hpp"

#include "egress/members.hpp"
#include "egress/named_object.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace paddock::egress {

using nlohmann::json;

namespace {

/// A policy among the manifests.
struct policy {
  manifest_place place;
  resource_kind kind{};
  const json* object = nullptr;
};

struct served_kind {
  resource_kind kind;
  std::string_view group;
  std::string_view version;
};
constexpr auto policy_kinds = std::array{
  served_kind{resource_kind::network_policy, "networking.k8s.io", "v1"},
  served_kind{resource_kind::cilium_network_policy, "cilium.io", "v2"},
  served_kind{resource_kind::cilium_clusterwide_network_policy, "cilium.io", "v2"},
};

std::string metadata_text(const json& object, std::string_view name) {
  const auto* metadata = member(object, "metadata");
  return std::string{(metadata == nullptr ? std::nullopt : text_of(member(*metadata, name))).value_or("")};
}

tl::unexpected<manifests_refused> refused(const manifest_place& where, std::string problem) {
  return tl::unexpected{manifests_refused{where, std::move(problem)}};
}

/// The manifests on their way into policies and the rest.
class sorter {
public:
  sorter(const std::vector<manifest>& all, std::string_view name_space) : all_(all), name_space_(name_space) {
  }
  tl::expected<void, manifests_refused> sort() {
    for (const auto& x : all_) {
      if (x.object.is_null())
        continue; // nothing between two separators
      const auto* items = member(x.object, "items");
      if (const auto kind = text_of(member(x.object, "kind")); kind && kind->ends_with("List") && items != nullptr) {
        if (auto ok = take_list(x.place, *items, kind->substr(0, kind->size() - 4)); !ok)
          return ok;
      } else if (auto ok = take(x.place, x.object, {}); !ok) {
        return ok;
      }
    }
    std::stable_sort(policies.begin(), policies.end(), [](const policy& a, const policy& b) { return a.kind < b.kind; });
    return {};
  }

  std::vector<policy> policies; // by kind
  std::vector<ignored_manifest> ignored;

private:
  tl::expected<void, manifests_refused> take_list(const manifest_place& where, const json& items, std::string_view kind) {
    if (!items.is_array())
      return refused(where, "items is not a list");
    for (auto i = std::size_t{0}; i < items.size(); ++i) {
      const auto place = manifest_place{where.file, where.line, "items[" + std::to_string(i) + "]"};
      if (auto ok = take(place, items[i], kind); !ok)
        return ok;
    }
    return {};
  }

  /// `list_kind`: what an item that does not say its kind is.
  tl::expected<void, manifests_refused> take(const manifest_place& where, const json& object, std::string_view list_kind) {
    if (!object.is_object())
      return refused(where, "is not an object");
    const auto kind = text_of(member(object, "kind")).value_or(list_kind);
    const auto api_version = text_of(member(object, "apiVersion"));
    if (kind.empty() || (!api_version && list_kind.empty()))
      return refused(where, "says no apiVersion and kind");
    if (kind == "List")
      return refused(where, "is a List in a List");
    const auto found = std::find_if(policy_kinds.begin(), policy_kinds.end(), [&](const served_kind& x) {
      return kind == to_string(x.kind) && (!api_version || api_version->substr(0, api_version->find('/')) == x.group);
    });
    if (found == policy_kinds.end())
      return ignore(where, object, kind, "not a policy");
    if (api_version && *api_version != std::string{found->group} + "/" + std::string{found->version})
      return refused(where, "apiVersion " + std::string{*api_version} + " is not understood");
    const auto clusterwide = found->kind == resource_kind::cilium_clusterwide_network_policy;
    auto name_space = clusterwide ? std::string{} : metadata_text(object, "namespace");
    if (!clusterwide && name_space.empty())
      name_space = name_space_;
    const auto name = metadata_text(object, "name");
    const auto [first, is_new] = seen_.try_emplace({found->kind, name_space, name}, where);
    if (!is_new && !name.empty())
      return refused(where, std::string{kind} + " " + name + " is also in " + to_string(first->second));
    if (!clusterwide && name_space != name_space_)
      return ignore(where, object, kind, "of the namespace " + name_space);
    policies.push_back({where, found->kind, &object});
    return {};
  }

  tl::expected<void, manifests_refused> ignore(const manifest_place& where, const json& object, std::string_view kind, std::string why) {
    ignored.push_back({where, std::string{kind}, metadata_text(object, "name"), std::move(why)});
    return {};
  }

  const std::vector<manifest>& all_;
  std::string_view name_space_;
  std::map<std::tuple<resource_kind, std::string, std::string>, manifest_place> seen_;
};

named_manifest find_named(const std::vector<policy>& policies, const policy_object& wanted) {
  const auto found = std::find_if(policies.begin(), policies.end(), [&](const policy& x) {
    return x.kind == wanted.kind && metadata_text(*x.object, "name") == wanted.name;
  });
  if (found == policies.end())
    return {};
  auto difference = difference_of(wanted, *found->object);
  return {difference ? named_manifest::state::drifted : named_manifest::state::applied, std::move(difference)};
}

} // namespace

std::string to_string(const manifest_place& x) {
  auto got = x.file + ":" + std::to_string(x.line);
  return x.item.empty() ? got : got + " " + x.item;
}

std::string_view to_string(named_manifest::state x) {
  switch (x) {
    case named_manifest::state::applied: return "applied";
    case named_manifest::state::not_applied: return "not-applied";
    case named_manifest::state::drifted: return "drifted";
  }
  return "";
}

tl::expected<manifests_verdict, manifests_refused> judge_manifests(const std::vector<manifest>& all, allowance allowed, judged_pod pod) {
  auto sorted = sorter{all, pod.name_space};
  if (auto ok = sorted.sort(); !ok)
    return tl::unexpected{std::move(ok.error())};
  auto got = manifests_verdict{};
  got.named = find_named(sorted.policies, *allowed.named);
  got.ignored = std::move(sorted.ignored);
  auto check = union_check{std::move(allowed), std::move(pod)};
  for (const auto& x : sorted.policies)
    check.take(x.kind, *x.object);
  got.refusal = check.refusal();
  got.examined = check.examined();
  for (const auto& x : check.findings())
    got.findings.push_back({sorted.policies[x.item].place, x});
  return got;
}

} // namespace paddock::egress
