#include "embedded/openapi_document.hpp"

namespace paddock::embedded {

namespace {

using ordered = nlohmann::ordered_json;

constexpr auto title = "Kubernetes";

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
  out["info"] = {{"title", title}, {"version", server_version}};
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

std::string openapi_v2_document(bool protobuf) {
  if (!protobuf)
    return encode_json(
      ordered{{"swagger", "2.0"}, {"info", {{"title", title}, {"version", server_version}}}, {"paths", ordered::object()}});
  // Short texts, by the numbers of their members: 1 swagger, 2 info with 1 title and 2 version, 8 paths.
  const auto field = [](char number, const std::string& text) {
    return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(text.size())} + text;
  };
  return field(1, "2.0") + field(2, field(1, title) + field(2, server_version)) + field(8, "");
}

} // namespace paddock::embedded
