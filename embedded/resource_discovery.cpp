#include "embedded/resource_discovery.hpp"

#include <algorithm>
#include <vector>

namespace paddock::embedded {

namespace {

using ordered = nlohmann::ordered_json;

ordered version_of(const resource_kind& kind) {
  ordered out;
  out["groupVersion"] = kind.api_version();
  out["version"] = kind.version;
  return out;
}

ordered group_of(const resource_kind& kind, bool alone) {
  ordered out;
  if (alone) {
    out["kind"] = "APIGroup";
    out["apiVersion"] = "v1";
  }
  out["name"] = kind.group;
  out["versions"] = ordered::array({version_of(kind)});
  out["preferredVersion"] = version_of(kind);
  return out;
}

ordered groups() {
  ordered out;
  out["kind"] = "APIGroupList";
  out["apiVersion"] = "v1";
  out["groups"] = ordered::array();
  std::vector<std::string_view> seen{""};
  for (const auto& kind : served_kinds()) {
    if (std::find(seen.begin(), seen.end(), kind.group) != seen.end())
      continue;
    seen.push_back(kind.group);
    out["groups"].push_back(group_of(kind, false));
  }
  return out;
}

ordered entry(const resource_kind& kind, const std::string& below, std::vector<std::string> verbs) {
  ordered out;
  out["name"] = std::string{kind.plural} + below;
  out["singularName"] = below.empty() ? kind.singular : std::string_view{};
  out["namespaced"] = kind.namespaced;
  out["kind"] = kind.kind;
  out["verbs"] = std::move(verbs);
  if (below.empty() && !kind.short_name.empty())
    out["shortNames"] = ordered::array({kind.short_name});
  return out;
}

std::optional<ordered> resources(std::string_view group, std::string_view version) {
  ordered out;
  out["kind"] = "APIResourceList";
  if (!group.empty())
    out["apiVersion"] = "v1";
  out["groupVersion"] = group.empty() ? std::string{version} : std::string{group} + "/" + std::string{version};
  out["resources"] = ordered::array();
  for (const auto& kind : served_kinds()) {
    if (kind.group != group || kind.version != version)
      continue;
    std::vector<std::string> verbs{"create", "get", "list", "patch", "update", "watch"};
    if (kind.kind != "Namespace")
      verbs.insert(verbs.begin() + 1, "delete");
    if (kind.asks)
      verbs = {"create"};
    out["resources"].push_back(entry(kind, "", std::move(verbs)));
    if (kind.has_status)
      out["resources"].push_back(entry(kind, "/status", {"get", "patch", "update"}));
    if (kind.kind == "Pod") {
      auto binding = entry(kind, "/binding", {"create"});
      binding["kind"] = "Binding";
      out["resources"].push_back(std::move(binding));
    }
  }
  return out["resources"].empty() ? std::nullopt : std::optional{std::move(out)};
}

/// `api/v1`, `apis/agents.x-k8s.io/v1beta1`.
std::string group_path(const resource_kind& kind) {
  return (kind.group.empty() ? "api/" : "apis/") + kind.api_version();
}

/// The index of the documents, one for each group and version.
ordered documents() {
  ordered out;
  out["paths"] = ordered::object();
  for (const auto& kind : served_kinds())
    out["paths"][group_path(kind)]["serverRelativeURL"] = "/openapi/v3/" + group_path(kind);
  return out;
}

std::optional<ordered> document(const std::string& of) {
  ordered out;
  out["openapi"] = "3.0.0";
  out["info"] = {{"title", "Kubernetes"}, {"version", "v1.36.2+paddock"}};
  out["paths"] = ordered::object();
  for (const auto& kind : served_kinds()) {
    if (group_path(kind) != of)
      continue;
    ordered patch;
    patch["parameters"] = ordered::array();
    for (const auto* name : {"dryRun", "fieldValidation"})
      patch["parameters"].push_back({{"name", name}, {"in", "query"}, {"schema", {{"type", "string"}, {"uniqueItems", true}}}});
    patch["x-kubernetes-group-version-kind"] = {{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}};
    const auto below = (kind.namespaced ? "/namespaces/{namespace}/" : "/") + std::string{kind.plural} + "/{name}";
    out["paths"]["/" + of + below]["patch"] = std::move(patch);
  }
  return out["paths"].empty() ? std::nullopt : std::optional{std::move(out)};
}

} // namespace

std::optional<ordered> discover(std::span<const std::string> segments) {
  if (segments.empty())
    return std::nullopt;
  if (segments[0] == "openapi" && segments.size() >= 2 && segments[1] == "v3") {
    if (segments.size() == 2)
      return documents();
    std::string of;
    for (const auto& x : segments.subspan(2))
      of += (of.empty() ? "" : "/") + x;
    return document(of);
  }
  if (segments[0] == "api") {
    if (segments.size() == 2)
      return resources("", segments[1]);
    if (segments.size() > 2)
      return std::nullopt;
    ordered out;
    out["kind"] = "APIVersions";
    out["versions"] = ordered::array({"v1"});
    return out;
  }
  if (segments[0] != "apis" || segments.size() > 3)
    return std::nullopt;
  if (segments.size() == 1)
    return groups();
  if (segments.size() == 3)
    return segments[1].empty() ? std::nullopt : resources(segments[1], segments[2]);
  for (const auto& kind : served_kinds())
    if (kind.group == segments[1] && !kind.group.empty())
      return group_of(kind, true);
  return std::nullopt;
}

} // namespace paddock::embedded
