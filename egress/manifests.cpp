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
      const auto said = type_of(x.object);
      if (auto ok = is_list(said, x.object) ? take_list(x, said) : take(x.place, x.object, said); !ok)
        return ok;
    }
    std::stable_sort(policies.begin(), policies.end(), [](const policy& a, const policy& b) { return a.kind < b.kind; });
    return {};
  }

  std::vector<policy> policies; // by kind
  std::vector<ignored_manifest> ignored;

private:
  /// What an object says that it is; empty where it does not.
  struct type {
    std::string_view api_version;
    std::string_view kind;
  };
  static type type_of(const json& x) {
    return {text_of(member(x, "apiVersion")).value_or(""), text_of(member(x, "kind")).value_or("")};
  }
  static bool is_list(const type& said, const json& x) {
    return said.kind == "List" || (said.kind.ends_with("List") && member(x, "items") != nullptr);
  }

  tl::expected<void, manifests_refused> take_list(const manifest& list, const type& said) {
    const auto* items = member(list.object, "items");
    if (items == nullptr)
      return {};
    if (!items->is_array())
      return refused(list.place, "items is not a list");
    for (auto i = std::size_t{0}; i < items->size(); ++i) {
      const auto place = manifest_place{list.place.file, list.place.line, "items[" + std::to_string(i) + "]"};
      auto item = type_of((*items)[i]);
      // Those of a list of one kind, as a server answers it, need not say it again.
      if (said.kind != "List" && item.kind.empty() && item.api_version.empty())
        item = {said.api_version, said.kind.substr(0, said.kind.size() - 4)};
      if (is_list(item, (*items)[i]))
        return refused(place, "is a list in a list");
      if (auto ok = take(place, (*items)[i], item); !ok)
        return ok;
    }
    return {};
  }

  tl::expected<void, manifests_refused> take(const manifest_place& where, const json& object, const type& said) {
    if (!object.is_object())
      return refused(where, "is not an object");
    const auto [api_version, kind] = said;
    if (kind.empty() || api_version.empty())
      return refused(where, "says no apiVersion and kind");
    const auto found = std::find_if(policy_kinds.begin(), policy_kinds.end(), [&](const served_kind& x) {
      return said.kind == to_string(x.kind) && said.api_version.substr(0, said.api_version.find('/')) == x.group;
    });
    if (found == policy_kinds.end())
      return ignore(where, object, kind, "not a policy");
    if (api_version != std::string{found->group} + "/" + std::string{found->version})
      return refused(where, "apiVersion " + std::string{api_version} + " is not understood");
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
