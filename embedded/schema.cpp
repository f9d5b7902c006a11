#include "embedded/schema.hpp"

#include "embedded/selector.hpp"
#include "embedded/type_schema.hpp"

#include <array>

namespace paddock::embedded {

namespace {

constexpr std::string_view subdomain_text =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
  "alphanumeric character (e.g. 'example.com', regex used for validation is "
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::size_t max_annotation_bytes = 256 * 1024;

/// Whether the member is absent or a map from text to text.
bool is_text_map(const json* value) {
  if (value == nullptr || value->is_null())
    return true;
  return value->is_object() && std::all_of(value->begin(), value->end(), [](const json& x) { return x.is_string(); });
}

std::optional<std::string> misshapen_metadata(const json& object) {
  const auto* metadata = member(object, "metadata");
  if (metadata == nullptr)
    return std::nullopt;
  const auto wrong = [](std::string_view what) {
    return "json: cannot unmarshal into Go struct field ObjectMeta.metadata." + std::string{what};
  };
  if (!metadata->is_object())
    return std::string{"json: cannot unmarshal into Go struct field .metadata of type v1.ObjectMeta"};
  for (const auto* key : {"name", "generateName", "namespace", "uid", "resourceVersion"})
    if (const auto* x = member(*metadata, key); x != nullptr && !x->is_string() && !x->is_null())
      return wrong(std::string{key} + " of type string");
  for (const auto* key : {"labels", "annotations"})
    if (!is_text_map(member(*metadata, key)))
      return wrong(std::string{key} + " of type string");
  if (const auto* x = member(*metadata, "finalizers"); x != nullptr && !x->is_null()) {
    if (!x->is_array() || !std::all_of(x->begin(), x->end(), [](const json& y) { return y.is_string(); }))
      return wrong("finalizers of type string");
  }
  if (const auto* x = member(*metadata, "ownerReferences"); x != nullptr && !x->is_null()) {
    if (!x->is_array() || !std::all_of(x->begin(), x->end(), [](const json& y) { return y.is_object(); }))
      return wrong("ownerReferences of type v1.OwnerReference");
    for (const auto& owner : *x)
      for (const auto& [key, value] : owner.items())
        if (key == "controller" || key == "blockOwnerDeletion" ? !value.is_boolean() && !value.is_null() : !value.is_string())
          return wrong("ownerReferences." + key);
  }
  return std::nullopt;
}

void prune_metadata(json& object) {
  static constexpr std::array known{"name",
                                    "generateName",
                                    "namespace",
                                    "uid",
                                    "resourceVersion",
                                    "generation",
                                    "creationTimestamp",
                                    "deletionTimestamp",
                                    "deletionGracePeriodSeconds",
                                    "labels",
                                    "annotations",
                                    "ownerReferences",
                                    "finalizers"};
  auto& metadata = object_at(object, "metadata");
  for (auto it = metadata.begin(); it != metadata.end();) {
    const bool keep = std::find(known.begin(), known.end(), it.key()) != known.end() && !it->is_null();
    // Empty lists and maps are written as absent.
    it = keep && !(it->is_structured() && it->empty()) ? std::next(it) : metadata.erase(it);
  }
  if (auto found = metadata.find("ownerReferences"); found != metadata.end())
    drop_nulls(*found);
}

std::string owners_text(const json& owners) {
  auto out = nlohmann::ordered_json::array();
  for (const auto& owner : owners) {
    auto one = nlohmann::ordered_json::object();
    for (const auto* key : {"apiVersion", "kind", "name", "uid"})
      one[key] = text_at(owner, {key});
    for (const auto* key : {"controller", "blockOwnerDeletion"})
      if (const auto* x = member(owner, key))
        one[key] = x->get<bool>();
    out.push_back(std::move(one));
  }
  return out.dump();
}

void check_owners(const json& owners, std::vector<status_cause>& out) {
  std::string controller;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const auto& owner = owners[i];
    const auto at = "metadata.ownerReferences[" + std::to_string(i) + "]";
    for (const auto* key : {"apiVersion", "kind", "name", "uid"})
      if (text_at(owner, {key}).empty())
        out.push_back(field_invalid(at + "." + key, "\"\"", std::string{key} + " must not be empty"));
    if (const auto* x = member(owner, "controller"); x == nullptr || !x->get<bool>())
      continue;
    const auto who = text_at(owner, {"kind"}) + "/" + text_at(owner, {"name"});
    if (!controller.empty())
      out.push_back(field_invalid("metadata.ownerReferences", owners_text(owners),
                                  "Only one reference can have Controller set to true. Found \"true\" in references for " + controller
                                    + " and " + who));
    controller = who;
  }
}

/// Some faults keep the server from looking at the rules of a custom kind, and it says so.
void note_unchecked_rules(const resource_kind& kind, std::vector<status_cause>& out) {
  const auto blocks = [](const status_cause& x) {
    return x.reason == "FieldValueRequired" || x.reason == "FieldValueTypeInvalid" || x.reason == "FieldValueNotSupported";
  };
  if (kind.custom && std::any_of(out.begin(), out.end(), blocks))
    out.push_back(field_invalid("<nil>", "null",
                                "some validation rules were not checked because the object was invalid; correct the existing errors to "
                                "complete validation"));
}

} // namespace

std::optional<api_status> misshapen(const resource_kind& kind, const json& object) {
  if (!object.is_object())
    return bad_request("the object provided is unrecognized (must be of type " + std::string{kind.kind} + ")");
  auto why = misshapen_metadata(object);
  if (!why && !kind.custom)
    if (const auto* form = schema_of(kind))
      why = misfit(*form, object, std::string{kind.kind});
  if (!why && !kind.custom)
    why = schema::misshapen_core(kind, object);
  if (!why)
    return std::nullopt;
  return bad_request(std::string{kind.kind} + " in version \"" + std::string{kind.version} + "\" cannot be handled as a "
                     + std::string{kind.kind} + ": " + *why);
}

std::vector<std::string> prune(const resource_kind& kind, json& object) {
  std::vector<std::string> unknown;
  prune_unknown(*builtin_type("ObjectMeta"), object_at(object, "metadata"), "metadata", unknown);
  prune_metadata(object);
  for (auto& [key, value] : object.items())
    if (key != "metadata" && key != "status")
      drop_nulls(value);
  if (const auto* form = schema_of(kind))
    prune_unknown(*form, object, "", unknown);
  return unknown;
}

void set_defaults(const resource_kind& kind, json& object) {
  if (kind.custom)
    schema::default_custom(kind, object);
  else
    schema::default_core(kind, object);
}

std::vector<status_cause> check_new(const resource_kind& kind, const json& object) {
  auto out = schema::check_metadata(kind, nullptr, object);
  auto more = kind.custom ? schema::check_custom(kind, nullptr, object, false) : schema::check_core(kind, nullptr, object);
  out.insert(out.end(), more.begin(), more.end());
  note_unchecked_rules(kind, out);
  return out;
}

std::vector<status_cause> check_change(const resource_kind& kind, const json& before, const json& after, bool status_only) {
  auto out = status_only ? std::vector<status_cause>{} : schema::check_metadata(kind, &before, after);
  auto more = kind.custom   ? schema::check_custom(kind, &before, after, status_only)
              : status_only ? std::vector<status_cause>{}
                            : schema::check_core(kind, &before, after);
  out.insert(out.end(), more.begin(), more.end());
  note_unchecked_rules(kind, out);
  return out;
}

namespace schema {

std::vector<status_cause> check_metadata(const resource_kind& kind, const json* before, const json& after) {
  std::vector<status_cause> out;
  if (before == nullptr) {
    const auto name = text_at(after, {"metadata", "name"});
    if (name.empty())
      out.push_back(field_required("metadata.name", "name or generateName is required"));
    else if (const std::size_t most = kind.label_name ? 63 : 253; name.size() > most)
      out.push_back(field_invalid("metadata.name", in_quotes(name), "must be no more than " + std::to_string(most) + " characters"));
    else if (kind.path_name) {
      for (const auto* part : {"/", "%"})
        if (name.find(part) != std::string::npos)
          out.push_back(field_invalid("metadata.name", in_quotes(name), "may not contain '" + std::string{part} + "'"));
      if (name == "." || name == "..")
        out.push_back(field_invalid("metadata.name", in_quotes(name), "may not be '" + name + "'"));
    } else if (kind.label_name ? !is_dns_label(name) : !is_dns_subdomain(name))
      out.push_back(field_invalid("metadata.name", in_quotes(name), kind.label_name ? schema::label_text : subdomain_text));
  }
  if (const auto* labels = find(after, {"metadata", "labels"})) {
    for (const auto& [key, value] : labels->items()) {
      const auto& text = value.get_ref<const std::string&>();
      if (!is_label_key(key))
        out.push_back(field_invalid(
          "metadata.labels", in_quotes(key),
          "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
          "'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"));
      if (!is_label_value(text))
        out.push_back(field_invalid("metadata.labels", in_quotes(text),
                                    text.size() > 63
                                      ? "must be no more than 63 bytes"
                                      : "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and "
                                        "must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
                                        "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"));
    }
  }
  if (const auto* annotations = find(after, {"metadata", "annotations"})) {
    std::size_t total = 0;
    for (const auto& [key, value] : annotations->items())
      total += key.size() + value.get_ref<const std::string&>().size();
    if (total > max_annotation_bytes)
      out.push_back({"FieldValueTooLong", "Too long: may not be more than 262144 bytes", "metadata.annotations"});
  }
  if (const auto* owners = find(after, {"metadata", "ownerReferences"}))
    check_owners(*owners, out);
  // Nothing new may hold an object that is on its way out.
  if (before != nullptr && find(*before, {"metadata", "deletionTimestamp"}) != nullptr) {
    const auto* had = find(*before, {"metadata", "finalizers"});
    std::string fresh;
    if (const auto* has = find(after, {"metadata", "finalizers"}))
      for (const auto& x : *has)
        if (had == nullptr || std::find(had->begin(), had->end(), x) == had->end())
          fresh += (fresh.empty() ? "" : ", ") + in_quotes(x.get_ref<const std::string&>());
    if (!fresh.empty()) {
      auto cause =
        field_forbidden("metadata.finalizers",
                        "no new finalizers can be added if the object is being deleted, found new finalizers []string{" + fresh + "}");
      // A custom resource's metadata is looked at twice.
      if (kind.custom)
        out.push_back(cause);
      out.push_back(std::move(cause));
    }
  }
  return out;
}

} // namespace schema

} // namespace paddock::embedded
