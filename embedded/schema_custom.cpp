#include "embedded/schema.hpp"

#include <array>
#include <regex>

namespace paddock::embedded::schema {

namespace {

using names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 4> root_members{"apiVersion", "kind", "metadata", "spec"};
constexpr std::array<std::string_view, 6> sandbox_spec{"operatingMode",  "podTemplate",  "service",
                                                       "shutdownPolicy", "shutdownTime", "volumeClaimTemplates"};
constexpr std::array<std::string_view, 7> template_spec{
  "envVarsInjectionPolicy",    "networkPolicy", "networkPolicyManagement", "podTemplate", "service", "volumeClaimTemplates",
  "volumeClaimTemplatesPolicy"};
constexpr std::array<std::string_view, 6> sandbox_status{"conditions", "nodeName", "podIPs", "selector", "service", "serviceFQDN"};
constexpr std::array<std::string_view, 6> condition_members{
  "lastTransitionTime", "message", "observedGeneration", "reason", "status", "type"};
constexpr std::array<std::string_view, 2> pod_template_members{"metadata", "spec"};
constexpr std::array<std::string_view, 2> pod_template_metadata{"annotations", "labels"};
constexpr std::array<std::string_view, 2> claim_template_members{"metadata", "spec"};
constexpr std::array<std::string_view, 3> claim_template_metadata{"annotations", "labels", "name"};

void keep_only(json& value, names known, const std::string& at, std::vector<std::string>& unknown) {
  if (!value.is_object())
    return;
  for (auto it = value.begin(); it != value.end();) {
    if (std::find(known.begin(), known.end(), it.key()) != known.end()) {
      ++it;
    } else {
      unknown.push_back(at.empty() ? it.key() : at + "." + it.key());
      it = value.erase(it);
    }
  }
}

json* inside(json& value, const char* key) {
  if (!value.is_object())
    return nullptr;
  auto found = value.find(key);
  return found == value.end() ? nullptr : &*found;
}

bool is_sandbox(const resource_kind& kind) {
  return kind.kind == "Sandbox";
}

// -- checks -------------------------------------------------------------------------------------------------------

/// Collects what is wrong under one root.
class form {
public:
  /// The member at `path` below `parent` when it is there and of `type`; says so when it is not of it.
  const json* want(const json& parent, const std::string& parent_path, const char* key, json::value_t type, bool required) {
    const auto* x = member(parent, key);
    const auto path = parent_path + "." + key;
    if (x == nullptr) {
      if (required)
        out.push_back(field_required(path));
      return nullptr;
    }
    const bool fits = type == json::value_t::number_integer ? x->is_number_integer() : x->type() == type;
    if (fits)
      return x;
    wrong_type(path, path, *x, type);
    return nullptr;
  }

  /// A member that must be one of a few words.
  void want_word(const json& parent, const std::string& parent_path, const char* key, const std::vector<std::string>& words,
                 bool required = false) {
    const auto* x = want(parent, parent_path, key, json::value_t::string, required);
    if (x != nullptr && std::find(words.begin(), words.end(), x->get<std::string>()) == words.end())
      out.push_back(field_unsupported(parent_path + "." + key, in_quotes(x->get<std::string>()), words));
  }

  /// A member that must be an RFC 3339 instant.
  void want_instant(const json& parent, const std::string& parent_path, const char* key, bool required = false) {
    static const std::regex instant{
      R"(\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])[Tt ]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d))"};
    const auto* x = want(parent, parent_path, key, json::value_t::string, required);
    if (x == nullptr)
      return;
    const auto text = x->get<std::string>();
    const auto path = parent_path + "." + key;
    if (text.size() > 64 || !std::regex_match(text, instant))
      out.push_back(field_type_invalid(path, in_quotes(text), path + " in body must be of type date-time: " + in_quotes(text)));
  }

  void wrong_type(const std::string& path, const std::string& shown, const json& value, json::value_t type) {
    static const std::map<json::value_t, std::string> words{{json::value_t::object, "object"},
                                                            {json::value_t::array, "array"},
                                                            {json::value_t::string, "string"},
                                                            {json::value_t::boolean, "boolean"},
                                                            {json::value_t::number_integer, "integer"}};
    // The type that was found stands where the value would.
    const auto found = in_quotes(value.is_number_integer() ? "integer" : value.type_name());
    out.push_back(field_type_invalid(path, found, shown + " in body must be of type " + words.at(type) + ": " + found));
  }

  std::vector<status_cause> out;
};

void check_pod_template(form& f, const json& spec) {
  const auto* pod = f.want(spec, "spec", "podTemplate", json::value_t::object, true);
  if (pod == nullptr)
    return;
  if (const auto* metadata = f.want(*pod, "spec.podTemplate", "metadata", json::value_t::object, false)) {
    for (const auto* key : {"labels", "annotations"}) {
      const auto at = std::string{"spec.podTemplate.metadata"};
      if (const auto* map = f.want(*metadata, at, key, json::value_t::object, false))
        for (const auto& [name, value] : map->items())
          if (!value.is_string())
            f.wrong_type(at + "." + key + "." + name, at + "." + key + "." + name, value, json::value_t::string);
    }
  }
  const auto* pod_spec = f.want(*pod, "spec.podTemplate", "spec", json::value_t::object, true);
  if (pod_spec == nullptr)
    return;
  for (const auto* list : {"containers", "initContainers"}) {
    const auto at = std::string{"spec.podTemplate.spec"};
    const auto* all = f.want(*pod_spec, at, list, json::value_t::array, list == std::string_view{"containers"});
    if (all == nullptr)
      continue;
    for (std::size_t i = 0; i < all->size(); ++i) {
      const auto path = at + "." + list + "[" + std::to_string(i) + "]";
      const auto& one = (*all)[i];
      if (!one.is_object()) {
        f.wrong_type(path, path, one, json::value_t::object);
        continue;
      }
      f.want(one, path, "name", json::value_t::string, true);
      f.want(one, path, "image", json::value_t::string, false);
      f.want(one, path, "env", json::value_t::array, false);
      if (const auto* ports = f.want(one, path, "ports", json::value_t::array, false)) {
        for (std::size_t k = 0; k < ports->size(); ++k) {
          const auto port_path = path + ".ports[" + std::to_string(k) + "]";
          if ((*ports)[k].is_object())
            f.want((*ports)[k], port_path, "containerPort", json::value_t::number_integer, true);
          else
            f.wrong_type(port_path, port_path, (*ports)[k], json::value_t::object);
        }
      }
    }
  }
}

void check_claim_templates(form& f, const json& spec) {
  const auto* all = f.want(spec, "spec", "volumeClaimTemplates", json::value_t::array, false);
  if (all == nullptr)
    return;
  for (std::size_t i = 0; i < all->size(); ++i) {
    const auto path = "spec.volumeClaimTemplates[" + std::to_string(i) + "]";
    const auto& one = (*all)[i];
    if (!one.is_object()) {
      f.wrong_type(path, path, one, json::value_t::object);
      continue;
    }
    f.want(one, path, "spec", json::value_t::object, true);
    if (const auto* metadata = f.want(one, path, "metadata", json::value_t::object, false))
      f.want(*metadata, path + ".metadata", "name", json::value_t::string, false);
  }
}

/// A condition's faults are told with a path that begins at the status.
void check_conditions(form& f, const json& status) {
  const auto* all = f.want(status, "status", "conditions", json::value_t::array, false);
  if (all == nullptr)
    return;
  static const std::string reason_pattern = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";
  static const std::regex reason_form{reason_pattern};
  for (std::size_t i = 0; i < all->size(); ++i) {
    const auto path = "status.conditions[" + std::to_string(i) + "]";
    const auto& one = (*all)[i];
    if (!one.is_object()) {
      f.wrong_type(path, path, one, json::value_t::object);
      continue;
    }
    f.want_instant(one, path, "lastTransitionTime", true);
    f.want(one, path, "message", json::value_t::string, true);
    if (const auto* reason = f.want(one, path, "reason", json::value_t::string, true)) {
      const auto text = reason->get<std::string>();
      const auto shown = "conditions[" + std::to_string(i) + "].reason in body ";
      if (text.empty())
        f.out.push_back(field_invalid(path + ".reason", "\"\"", shown + "should be at least 1 chars long"));
      else if (text.size() > 1024 || !std::regex_match(text, reason_form))
        f.out.push_back(field_invalid(path + ".reason", in_quotes(text), shown + "should match '" + reason_pattern + "'"));
    }
    f.want_word(one, path, "status", {"True", "False", "Unknown"}, true);
    f.want(one, path, "type", json::value_t::string, true);
  }
}

} // namespace

std::vector<std::string> prune_custom(const resource_kind& kind, json& object) {
  std::vector<std::string> unknown;
  if (auto* status = inside(object, "status"); status != nullptr && kind.has_status) {
    keep_only(*status, sandbox_status, "status", unknown);
    if (auto* all = inside(*status, "conditions"); all != nullptr && all->is_array())
      for (std::size_t i = 0; i < all->size(); ++i)
        keep_only((*all)[i], condition_members, "status.conditions[" + std::to_string(i) + "]", unknown);
    auto kept = std::move(*status);
    object.erase("status");
    keep_only(object, root_members, "", unknown);
    object["status"] = std::move(kept);
  } else {
    keep_only(object, root_members, "", unknown);
  }
  auto* spec = inside(object, "spec");
  if (spec == nullptr)
    return unknown;
  keep_only(*spec, is_sandbox(kind) ? names{sandbox_spec} : names{template_spec}, "spec", unknown);
  if (auto* pod = inside(*spec, "podTemplate")) {
    keep_only(*pod, pod_template_members, "spec.podTemplate", unknown);
    if (auto* metadata = inside(*pod, "metadata"))
      keep_only(*metadata, pod_template_metadata, "spec.podTemplate.metadata", unknown);
  }
  if (auto* all = inside(*spec, "volumeClaimTemplates"); all != nullptr && all->is_array()) {
    for (std::size_t i = 0; i < all->size(); ++i) {
      const auto at = "spec.volumeClaimTemplates[" + std::to_string(i) + "]";
      keep_only((*all)[i], claim_template_members, at, unknown);
      if (auto* metadata = inside((*all)[i], "metadata"))
        keep_only(*metadata, claim_template_metadata, at + ".metadata", unknown);
    }
  }
  return unknown;
}

void default_custom(const resource_kind& kind, json& object) {
  auto* spec = inside(object, "spec");
  if (spec == nullptr || !spec->is_object())
    return;
  const auto fill = [&](const char* key, const char* value) {
    if (!spec->contains(key))
      (*spec)[key] = value;
  };
  if (is_sandbox(kind)) {
    fill("operatingMode", "Running");
    fill("shutdownPolicy", "Retain");
  } else {
    fill("networkPolicyManagement", "Managed");
    fill("envVarsInjectionPolicy", "Disallowed");
    fill("volumeClaimTemplatesPolicy", "Disallowed");
  }
  auto* pod = inside(*spec, "podTemplate");
  auto* pod_spec = pod == nullptr ? nullptr : inside(*pod, "spec");
  for (const auto* list : {"containers", "initContainers"}) {
    auto* all = pod_spec == nullptr ? nullptr : inside(*pod_spec, list);
    if (all == nullptr || !all->is_array())
      continue;
    for (auto& container : *all)
      if (auto* ports = inside(container, "ports"); ports != nullptr && ports->is_array())
        for (auto& port : *ports)
          if (port.is_object() && !port.contains("protocol"))
            port["protocol"] = "TCP";
  }
}

std::vector<status_cause> check_custom(const resource_kind& kind, const json* before, const json& after, bool status_only) {
  form f;
  if (status_only) {
    if (const auto* status = member(after, "status")) {
      if (!status->is_object())
        f.wrong_type("status", "status", *status, json::value_t::object);
      else
        check_conditions(f, *status);
    }
    return std::move(f.out);
  }
  const auto* spec = member(after, "spec");
  if (spec == nullptr) {
    f.out.push_back(field_required("spec"));
    return std::move(f.out);
  }
  if (!spec->is_object()) {
    f.wrong_type("spec", "spec", *spec, json::value_t::object);
    return std::move(f.out);
  }
  check_pod_template(f, *spec);
  f.want(*spec, "spec", "service", json::value_t::boolean, false);
  if (is_sandbox(kind)) {
    f.want_word(*spec, "spec", "operatingMode", {"Running", "Suspended"});
    f.want_word(*spec, "spec", "shutdownPolicy", {"Delete", "Retain"});
    f.want_instant(*spec, "spec", "shutdownTime");
  } else {
    f.want(*spec, "spec", "networkPolicy", json::value_t::object, false);
    f.want_word(*spec, "spec", "networkPolicyManagement", {"Managed", "Unmanaged"});
    f.want_word(*spec, "spec", "envVarsInjectionPolicy", {"Allowed", "Overrides", "Disallowed"});
    f.want_word(*spec, "spec", "volumeClaimTemplatesPolicy", {"Disallowed", "Allowed", "Overrides"});
  }
  check_claim_templates(f, *spec);
  // The disks of a Sandbox are decided once: neither content nor presence changes.
  if (f.out.empty() && before != nullptr && is_sandbox(kind)) {
    const auto* had = find(*before, {"spec", "volumeClaimTemplates"});
    const auto* has = find(after, {"spec", "volumeClaimTemplates"});
    if ((had == nullptr) != (has == nullptr) || (had != nullptr && *had != *has))
      f.out.push_back(field_invalid("spec", "", "volumeClaimTemplates is immutable"));
  }
  return std::move(f.out);
}

} // namespace paddock::embedded::schema
