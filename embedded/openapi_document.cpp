#include "embedded/openapi_document.hpp"

namespace paddock::embedded {

namespace {

using ordered = nlohmann::ordered_json;

/// `api/v1`, `apis/agents.x-k8s.io/v1beta1`.
std::string group_path(const resource_kind& kind) {
  return (kind.group.empty() ? "api/" : "apis/") + kind.api_version();
}

ordered index(const store& objects) {
  ordered out;
  out["paths"] = ordered::object();
  for (const auto& kind : served_kinds())
    if (objects.serves(kind))
      out["paths"][group_path(kind)]["serverRelativeURL"] = "/openapi/v3/" + group_path(kind);
  return out;
}

ordered patch_of(const resource_kind& kind) {
  ordered out;
  out["parameters"] = ordered::array();
  for (const auto* name : {"dryRun", "fieldValidation"})
    out["parameters"].push_back({{"name", name}, {"in", "query"}, {"schema", {{"type", "string"}, {"uniqueItems", true}}}});
  out["x-kubernetes-group-version-kind"] = {{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}};
  return out;
}

std::optional<ordered> document(const store& objects, const std::string& of) {
  ordered out;
  out["openapi"] = "3.0.0";
  out["info"] = {{"title", "Kubernetes"}, {"version", "v1.36.2+paddock"}};
  out["paths"] = ordered::object();
  for (const auto& kind : served_kinds()) {
    if (group_path(kind) != of || !objects.serves(kind))
      continue;
    const auto below = (kind.namespaced ? "/namespaces/{namespace}/" : "/") + std::string{kind.plural} + "/{name}";
    out["paths"]["/" + of + below]["patch"] = patch_of(kind);
  }
  return out["paths"].empty() ? std::nullopt : std::optional{std::move(out)};
}

} // namespace

std::optional<ordered> openapi_document(std::span<const std::string> segments, const store& objects) {
  if (segments.size() < 2 || segments[1] != "v3")
    return std::nullopt;
  if (segments.size() == 2)
    return index(objects);
  std::string of;
  for (const auto& x : segments.subspan(2))
    of += (of.empty() ? "" : "/") + x;
  return document(objects, of);
}

} // namespace paddock::embedded
