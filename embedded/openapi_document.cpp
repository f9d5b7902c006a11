#include "embedded/openapi_document.hpp"

#include "embedded/embedded_data.hpp"

#include <map>

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

// -- schemas ------------------------------------------------------------------------------------------------------

constexpr std::string_view reference_prefix = "#/components/schemas/";

std::string schema_name(const resource_kind& kind) {
  if (kind.view)
    return "events.v1.Event";
  return kind.custom ? std::string{kind.group} + "." + std::string{kind.version} + "." + std::string{kind.kind} : std::string{kind.kind};
}

/// Other types are named as the documents name them. What stands beside a name counts only where the name is one of several parts.
void refer(json& schema) {
  if (schema.is_object()) {
    if (const auto name = text_at(schema, {"$ref"}); !name.empty() && !name.starts_with(reference_prefix)) {
      schema.erase("$ref");
      schema["allOf"] = json::array({{{"$ref", std::string{reference_prefix} + name}}});
    }
    if (const auto* either = member(schema, "x-kubernetes-int-or-string"); either != nullptr && *either == true)
      schema["oneOf"] = json::array({{{"type", "integer"}}, {{"type", "string"}}});
  }
  if (schema.is_structured())
    for (auto& x : schema)
      refer(x);
}

/// The names of the types that `schema` refers to.
void references(const json& schema, std::vector<std::string>& out) {
  if (const auto name = text_at(schema, {"$ref"}); !name.empty())
    out.push_back(name.substr(reference_prefix.size()));
  if (schema.is_structured())
    for (const auto& x : schema)
      references(x, out);
}

/// Every type that is known, by name, as documents have it.
const std::map<std::string, json, std::less<>>& all_schemas() {
  static const auto all = [] {
    std::map<std::string, json, std::less<>> out;
    const auto types = json::parse(builtin_types_text());
    for (const auto& [name, schema] : types.items())
      refer(out[name] = schema);
    const auto definitions = json::parse(custom_kinds_text());
    for (const auto& kind : served_kinds()) {
      auto& schema = out[schema_name(kind)];
      if (kind.custom) {
        const auto* known = member(definitions, kind.plural);
        schema = known == nullptr ? json{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}
                                  : known->at("spec").at("versions").at(0).at("schema").at("openAPIV3Schema");
        schema["properties"]["metadata"] = {{"allOf", {{{"$ref", std::string{reference_prefix} + "ObjectMeta"}}}}};
      }
      if (schema.is_null())
        schema = {{"type", "object"}};
      schema["x-kubernetes-group-version-kind"] = {{{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}}};
    }
    return out;
  }();
  return all;
}

/// The named types and all that they refer to.
ordered with_referred(std::vector<std::string> names) {
  std::map<std::string, const json*> found;
  while (!names.empty()) {
    const auto name = std::move(names.back());
    names.pop_back();
    const auto known = all_schemas().find(name);
    if (known != all_schemas().end() && found.emplace(name, &known->second).second)
      references(known->second, names);
  }
  ordered out;
  for (const auto& [name, schema] : found)
    out[name] = *schema;
  return out;
}

// -- operations ---------------------------------------------------------------------------------------------------

ordered content_of(const resource_kind& kind, const std::vector<std::string_view>& types) {
  ordered out;
  for (const auto type : types)
    out[std::string{type}]["schema"]["$ref"] = std::string{reference_prefix} + schema_name(kind);
  return out;
}

ordered operation(const resource_kind& kind, std::string_view action) {
  ordered out;
  out["x-kubernetes-action"] = action;
  out["x-kubernetes-group-version-kind"] = {{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}};
  out["responses"]["200"]["description"] = "OK";
  return out;
}

/// One that changes an object, by a body of one of these types.
ordered writing(const resource_kind& kind, std::string_view action, const std::vector<std::string_view>& types) {
  auto out = operation(kind, action);
  out["parameters"] = ordered::array();
  for (const auto* name : {"dryRun", "fieldManager", "fieldValidation"})
    out["parameters"].push_back({{"name", name}, {"in", "query"}, {"schema", {{"type", "string"}, {"uniqueItems", true}}}});
  out["requestBody"]["content"] = content_of(kind, types);
  return out;
}

std::vector<std::string_view> patch_types(const resource_kind& kind) {
  std::vector<std::string_view> out{"application/json-patch+json", "application/merge-patch+json"};
  if (!kind.custom)
    out.emplace_back("application/strategic-merge-patch+json");
  out.emplace_back(apply_patch_type);
  return out;
}

void describe(const resource_kind& kind, const std::string& base, ordered& paths) {
  const auto all = base + (kind.namespaced ? "/namespaces/{namespace}/" : "/") + std::string{kind.plural};
  const std::vector<std::string_view> bodies{"application/json", "application/yaml"};
  paths[all]["post"] = writing(kind, "post", bodies);
  if (kind.asks)
    return;
  paths[all]["get"] = operation(kind, "list");
  const auto one = all + "/{name}";
  paths[one]["get"] = operation(kind, "get");
  paths[one]["delete"] = operation(kind, "delete");
  paths[one]["put"] = writing(kind, "put", bodies);
  paths[one]["patch"] = writing(kind, "patch", patch_types(kind));
}

std::optional<ordered> document(const store& objects, const std::string& of) {
  ordered out;
  out["openapi"] = "3.0.0";
  out["info"] = {{"title", title}, {"version", server_version}};
  out["paths"] = ordered::object();
  std::vector<std::string> names;
  for (const auto& kind : served_kinds()) {
    if (group_path(kind) != of || !objects.serves(kind))
      continue;
    describe(kind, "/" + of, out["paths"]);
    names.push_back(schema_name(kind));
  }
  if (names.empty())
    return std::nullopt;
  out["components"]["schemas"] = with_referred(std::move(names));
  return out;
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
