#include "embedded/custom_definitions.hpp"

#include "base/hash.hpp"
#include "embedded/embedded_data.hpp"

namespace paddock::embedded {

namespace {

json condition(const char* type, const char* reason, const char* message, store::instant now) {
  return {{"type", type}, {"status", "True"}, {"lastTransitionTime", rfc3339_seconds(now)}, {"reason", reason}, {"message", message}};
}

json status_of(const json& definition, store::instant now) {
  return {{"conditions",
           {condition("NamesAccepted", "NoConflicts", "no conflicts found", now),
            condition("Established", "InitialNamesAccepted", "the initial names have been accepted", now)}},
          {"acceptedNames", definition.at("spec").at("names")},
          {"storedVersions", json::array({definition.at("spec").at("versions").at(0).at("name")})}};
}

/// The same for a kind of which only names are known.
json plain_definition(const resource_kind& kind) {
  json names{{"plural", kind.plural}, {"singular", kind.singular}, {"kind", kind.kind}, {"listKind", std::string{kind.kind} + "List"}};
  names["shortNames"] = words_of(kind.short_names);
  names["categories"] = words_of(kind.categories);
  const json schema{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  json version{{"name", kind.version}, {"served", true}, {"storage", true}, {"subresources", {{"status", json::object()}}}};
  version["schema"]["openAPIV3Schema"] = schema;
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", kind.qualified_plural()}}},
          {"spec",
           {{"group", kind.group},
            {"names", std::move(names)},
            {"scope", kind.namespaced ? "Namespaced" : "Cluster"},
            {"versions", json::array({std::move(version)})}}}};
}

/// The same at each start: a UUID made of the name.
std::string uid_of(const std::string& name) {
  auto hash = sha256(name);
  hash[6] = static_cast<std::uint8_t>((hash[6] & 0x0f) | 0x50);
  hash[8] = static_cast<std::uint8_t>((hash[8] & 0x3f) | 0x80);
  auto out = to_hex(std::span{hash}.first(16));
  for (const auto at : {20u, 16u, 12u, 8u})
    out.insert(at, "-");
  return out;
}

json established(json definition, store::instant now) {
  auto& metadata = definition["metadata"];
  metadata["uid"] = uid_of(text_at(definition, {"metadata", "name"}));
  metadata["resourceVersion"] = "1";
  metadata["generation"] = 1;
  metadata["creationTimestamp"] = rfc3339_seconds(now);
  definition["status"] = status_of(definition, now);
  return definition;
}

} // namespace

void hold_definitions(store& objects, store::instant now) {
  const auto& definitions = *find_kind("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  const auto known = json::parse(custom_kinds_text());
  for (const auto& kind : served_kinds()) {
    if (!kind.custom || !objects.serves(kind))
      continue;
    const auto found = known.find(std::string{kind.plural});
    objects.hold(definitions, established(found == known.end() ? plain_definition(kind) : *found, now));
  }
}

} // namespace paddock::embedded
