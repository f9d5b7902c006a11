#include "embedded/resource_discovery.hpp"

#include "base/base64.hpp"
#include "base/hash.hpp"
#include "embedded/openapi_document.hpp"

namespace paddock::embedded {

namespace {

using ordered = nlohmann::ordered_json;

constexpr auto aggregated_type = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

std::vector<const resource_kind*> kinds_of(const store& objects, std::string_view group) {
  std::vector<const resource_kind*> out;
  for (const auto& kind : served_kinds())
    if (kind.group == group && objects.serves(kind))
      out.push_back(&kind);
  return out;
}

/// Those that have a name, in the order of the kinds.
std::vector<std::string_view> groups_of(const store& objects) {
  std::vector<std::string_view> out;
  for (const auto& kind : served_kinds())
    if (!kind.group.empty() && objects.serves(kind) && (out.empty() || out.back() != kind.group))
      out.push_back(kind.group);
  return out;
}

// -- one document each --------------------------------------------------------------------------------------------

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

ordered groups(const store& objects) {
  ordered out;
  out["kind"] = "APIGroupList";
  out["apiVersion"] = "v1";
  out["groups"] = ordered::array();
  for (const auto group : groups_of(objects))
    out["groups"].push_back(group_of(*kinds_of(objects, group).front(), false));
  return out;
}

/// By which clients see that objects are kept in another form.
std::string storage_hash(const resource_kind& kind) {
  const auto text = std::string{kind.group} + "/" + std::string{kind.version} + "/" + std::string{kind.kind};
  const auto hash = sha256(text);
  return to_base64({reinterpret_cast<const char*>(hash.data()), 8});
}

ordered entry(const resource_kind& kind) {
  ordered out;
  out["name"] = kind.plural;
  out["singularName"] = kind.singular;
  out["namespaced"] = kind.namespaced;
  out["kind"] = kind.kind;
  out["verbs"] = verbs_of(kind);
  if (!kind.short_names.empty())
    out["shortNames"] = words_of(kind.short_names);
  if (!kind.categories.empty())
    out["categories"] = words_of(kind.categories);
  if (!kind.asks)
    out["storageVersionHash"] = storage_hash(kind);
  return out;
}

ordered entry_below(const resource_kind& kind, const subresource& x) {
  ordered out;
  out["name"] = std::string{kind.plural} + "/" + std::string{x.name};
  out["singularName"] = "";
  out["namespaced"] = kind.namespaced;
  if (x.group != kind.group) {
    out["group"] = x.group;
    out["version"] = x.version;
  }
  out["kind"] = x.kind;
  out["verbs"] = x.verbs;
  return out;
}

std::optional<ordered> resources(const store& objects, std::string_view group, std::string_view version) {
  ordered out;
  out["kind"] = "APIResourceList";
  if (!group.empty())
    out["apiVersion"] = "v1";
  out["groupVersion"] = group.empty() ? std::string{version} : std::string{group} + "/" + std::string{version};
  out["resources"] = ordered::array();
  for (const auto* kind : kinds_of(objects, group)) {
    if (kind->version != version)
      continue;
    out["resources"].push_back(entry(*kind));
    for (const auto& x : subresources_of(*kind))
      out["resources"].push_back(entry_below(*kind, x));
  }
  return out["resources"].empty() ? std::nullopt : std::optional{std::move(out)};
}

// -- all at once --------------------------------------------------------------------------------------------------

ordered response_kind(std::string_view group, std::string_view version, std::string_view kind) {
  ordered out;
  out["group"] = group;
  out["version"] = version;
  out["kind"] = kind;
  return out;
}

ordered aggregated_kind(const resource_kind& kind) {
  // Clients take the group and version of a built-in kind from where it stands.
  const auto shown = [&](std::string_view name) {
    return kind.custom ? response_kind(kind.group, kind.version, name) : response_kind("", "", name);
  };
  ordered out;
  out["resource"] = kind.plural;
  out["responseKind"] = shown(kind.kind);
  out["scope"] = kind.namespaced ? "Namespaced" : "Cluster";
  out["singularResource"] = kind.singular;
  out["verbs"] = verbs_of(kind);
  if (!kind.short_names.empty())
    out["shortNames"] = words_of(kind.short_names);
  if (!kind.categories.empty())
    out["categories"] = words_of(kind.categories);
  for (const auto& x : subresources_of(kind)) {
    ordered one;
    one["subresource"] = x.name;
    one["responseKind"] = x.group == kind.group ? shown(x.kind) : response_kind(x.group, x.version, x.kind);
    one["verbs"] = x.verbs;
    out["subresources"].push_back(std::move(one));
  }
  return out;
}

ordered aggregated_group(const store& objects, std::string_view group) {
  ordered version;
  const auto kinds = kinds_of(objects, group);
  version["version"] = kinds.front()->version;
  for (const auto* kind : kinds)
    version["resources"].push_back(aggregated_kind(*kind));
  version["freshness"] = "Current";
  ordered out;
  out["metadata"] = ordered::object();
  if (!group.empty())
    out["metadata"]["name"] = group;
  out["versions"] = ordered::array({std::move(version)});
  return out;
}

discovery aggregated_list(const store& objects, const std::vector<std::string_view>& groups) {
  discovery out;
  out.content_type = aggregated_type;
  out.document["kind"] = "APIGroupDiscoveryList";
  out.document["apiVersion"] = "apidiscovery.k8s.io/v2";
  out.document["metadata"] = ordered::object();
  out.document["items"] = ordered::array();
  for (const auto group : groups)
    out.document["items"].push_back(aggregated_group(objects, group));
  return out;
}

// -- paths --------------------------------------------------------------------------------------------------------

ordered versions() {
  ordered out;
  out["kind"] = "APIVersions";
  out["versions"] = ordered::array({"v1"});
  return out;
}

std::optional<ordered> below_apis(std::span<const std::string> segments, const store& objects) {
  if (segments.size() == 1)
    return groups(objects);
  if (segments[1].empty() || segments.size() > 3)
    return std::nullopt;
  if (segments.size() == 3)
    return resources(objects, segments[1], segments[2]);
  const auto kinds = kinds_of(objects, segments[1]);
  return kinds.empty() ? std::nullopt : std::optional{group_of(*kinds.front(), true)};
}

std::optional<ordered> find_document(std::span<const std::string> segments, const store& objects) {
  if (segments[0] == "openapi")
    return openapi_document(segments, objects);
  if (segments[0] == "apis")
    return below_apis(segments, objects);
  if (segments[0] != "api" || segments.size() > 2)
    return std::nullopt;
  return segments.size() == 1 ? versions() : resources(objects, "", segments[1]);
}

} // namespace

std::vector<std::string_view> verbs_of(const resource_kind& kind) {
  if (kind.asks)
    return {"create"};
  if (kind.read_only)
    return {"get", "list", "watch"};
  if (kind.custom)
    return {"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"};
  if (kind.kind == "Namespace")
    return {"create", "delete", "get", "list", "patch", "update", "watch"};
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

std::vector<subresource> subresources_of(const resource_kind& kind) {
  std::vector<subresource> out;
  const auto own = [&](std::string_view name, std::string_view shows, std::vector<std::string_view> verbs) {
    out.push_back({name, kind.group, kind.version, shows, std::move(verbs)});
  };
  if (kind.kind == "Namespace")
    own("finalize", "Namespace", {"update"});
  if (kind.kind == "Pod") {
    own("binding", "Binding", {"create"});
    own("log", "Pod", {"get"});
  }
  if (kind.has_status && kind.read_only)
    own("status", kind.kind, {"get"});
  else if (kind.has_status)
    own("status", kind.kind, {"get", "patch", "update"});
  if (kind.has_scale)
    out.push_back({"scale", "autoscaling", "v1", "Scale", {"get", "patch", "update"}});
  if (kind.kind == "ServiceAccount")
    out.push_back({"token", "authentication.k8s.io", "v1", "TokenRequest", {"create"}});
  return out;
}

std::optional<discovery> discover(std::span<const std::string> segments, const store& objects, bool aggregated) {
  if (segments.empty())
    return std::nullopt;
  if (aggregated && segments.size() == 1 && segments[0] == "api")
    return aggregated_list(objects, {""});
  if (aggregated && segments.size() == 1 && segments[0] == "apis")
    return aggregated_list(objects, groups_of(objects));
  auto found = find_document(segments, objects);
  if (!found)
    return std::nullopt;
  return discovery{std::move(*found)};
}

} // namespace paddock::embedded
