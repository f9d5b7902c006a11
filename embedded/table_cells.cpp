#include "embedded/table_cells.hpp"

#include "embedded/human_age.hpp"

#include <algorithm>

namespace paddock::embedded {

namespace {

using instant = time_source::wall_clock::time_point;

constexpr auto none = "<none>";
constexpr auto unset = "<unset>";
constexpr auto unknown = "<unknown>";

std::string age(const json& object, instant now) {
  return human_age(text_at(object, {"metadata", "creationTimestamp"}), now);
}

std::size_t size_at(const json& object, std::initializer_list<std::string_view> path) {
  const auto* x = find(object, path);
  return x != nullptr && x->is_structured() ? x->size() : 0;
}

std::string joined(const std::vector<std::string>& all, std::string_view between) {
  std::string out;
  for (const auto& x : all)
    out += (out.empty() ? std::string{} : std::string{between}) + x;
  return out;
}

/// `a=b,c=d`, or `<none>`.
std::string labels_text(const json* labels) {
  if (labels == nullptr || !labels->is_object() || labels->empty())
    return none;
  std::vector<std::string> all;
  for (const auto& [key, value] : labels->items())
    all.push_back(key + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
  return joined(all, ",");
}

std::string selector_text(const json& selector) {
  std::vector<std::string> all;
  if (const auto* labels = member(selector, "matchLabels"); labels != nullptr && !labels->empty())
    all.push_back(labels_text(labels));
  if (const auto* more = member(selector, "matchExpressions"); more != nullptr && more->is_array()) {
    for (const auto& x : *more) {
      const auto what = text_at(x, {"operator"});
      const auto key = text_at(x, {"key"});
      if (what == "Exists" || what == "DoesNotExist")
        all.push_back((what == "Exists" ? "" : "!") + key);
      else
        all.push_back(key + (what == "In" ? " in (" : " notin (") + joined(texts_of(x, "values"), ",") + ")");
    }
  }
  return all.empty() ? none : joined(all, ",");
}

// -- kinds --------------------------------------------------------------------------------------------------------

std::string ports_text(const json& service) {
  std::vector<std::string> all;
  if (const auto* ports = find(service, {"spec", "ports"}); ports != nullptr && ports->is_array())
    for (const auto& x : *ports) {
      auto text = x.value("port", json(0)).dump();
      if (const auto* node = member(x, "nodePort"); node != nullptr && *node != 0)
        text += ":" + node->dump();
      all.push_back(text + "/" + text_or(x, {"protocol"}, "TCP"));
    }
  return all.empty() ? none : joined(all, ",");
}

json service_cells(const json& x, instant now) {
  return json::array({text_at(x, {"spec", "type"}), text_or(x, {"spec", "clusterIP"}, none), none, ports_text(x), age(x, now),
                      labels_text(find(x, {"spec", "selector"}))});
}

std::string modes_text(const json& claim) {
  std::vector<std::string> all;
  for (const auto& x : texts_of(claim.value("status", json::object()), "accessModes"))
    all.push_back(x == "ReadWriteOnce"      ? "RWO"
                  : x == "ReadOnlyMany"     ? "ROX"
                  : x == "ReadWriteMany"    ? "RWX"
                  : x == "ReadWriteOncePod" ? "RWOP"
                                            : x);
  return joined(all, ",");
}

json claim_cells(const json& x, instant now) {
  const auto volume = text_at(x, {"spec", "volumeName"});
  const bool ends = find(x, {"metadata", "deletionTimestamp"}) != nullptr;
  const auto* capacity = find(x, {"status", "capacity", "storage"});
  const bool bound = !volume.empty() && capacity != nullptr;
  return json::array({ends ? "Terminating" : text_at(x, {"status", "phase"}), volume,
                      bound ? text_at(x, {"status", "capacity", "storage"}) : "", bound ? modes_text(x) : "",
                      text_at(x, {"spec", "storageClassName"}), text_or(x, {"spec", "volumeAttributesClassName"}, unset), age(x, now),
                      text_or(x, {"spec", "volumeMode"}, unset)});
}

std::string target_of(const json& event) {
  auto kind = text_at(event, {"involvedObject", "kind"});
  for (auto& c : kind)
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  const auto name = text_at(event, {"involvedObject", "name"});
  return name.empty() ? kind : kind + "/" + name;
}

std::string source_of(const json& event) {
  const auto component = text_or(event, {"source", "component"}, text_at(event, {"reportingComponent"}));
  const auto host = text_or(event, {"source", "host"}, text_at(event, {"reportingInstance"}));
  return host.empty() ? component : component + ", " + host;
}

json event_cells(const json& x, instant now) {
  const auto when = text_at(x, {"eventTime"});
  const auto first = human_age(text_or(x, {"firstTimestamp"}, when), now);
  auto last = human_age(text_or(x, {"lastTimestamp"}, text_or(x, {"firstTimestamp"}, when)), now);
  auto count = x.value("count", json(1));
  if (const auto* series = member(x, "series"); series != nullptr && series->is_object()) {
    last = human_age(text_at(*series, {"lastObservedTime"}), now);
    count = series->value("count", json(1));
  }
  auto message = text_at(x, {"message"});
  message.erase(message.find_last_not_of(" \t\r\n") + 1);
  return json::array({last, text_at(x, {"type"}), text_at(x, {"reason"}), target_of(x), text_at(x, {"involvedObject", "fieldPath"}),
                      source_of(x), message, first, count == 0 ? json(1) : count, text_at(x, {"metadata", "name"})});
}

std::string address_of(const json& node, std::string_view type) {
  if (const auto* all = find(node, {"status", "addresses"}); all != nullptr && all->is_array())
    for (const auto& x : *all)
      if (text_at(x, {"type"}) == type)
        return text_at(x, {"address"});
  return none;
}

std::string roles_of(const json& node) {
  constexpr std::string_view prefix = "node-role.kubernetes.io/";
  std::vector<std::string> all;
  if (const auto* labels = find(node, {"metadata", "labels"}); labels != nullptr && labels->is_object()) {
    for (const auto& [key, value] : labels->items()) {
      if (key.starts_with(prefix) && key.size() > prefix.size())
        all.push_back(key.substr(prefix.size()));
      else if (key == "kubernetes.io/role" && value.is_string())
        all.push_back(value.get<std::string>());
    }
  }
  std::sort(all.begin(), all.end());
  return all.empty() ? none : joined(all, ",");
}

std::string node_state(const json& node) {
  std::string out;
  if (const auto* all = find(node, {"status", "conditions"}); all != nullptr && all->is_array())
    for (const auto& x : *all)
      if (text_at(x, {"type"}) == "Ready")
        out = text_at(x, {"status"}) == "True" ? "Ready" : "NotReady";
  if (out.empty())
    out = "Unknown";
  const auto* closed = find(node, {"spec", "unschedulable"});
  return closed != nullptr && *closed == true ? out + ",SchedulingDisabled" : out;
}

json node_cells(const json& x, instant now) {
  const auto info = [&](const char* key) { return text_at(x, {"status", "nodeInfo", key}); };
  const auto kernel = info("kernelVersion");
  return json::array({node_state(x), roles_of(x), age(x, now), info("kubeletVersion"), address_of(x, "InternalIP"),
                      address_of(x, "ExternalIP"), text_or(x, {"status", "nodeInfo", "osImage"}, unknown),
                      kernel.empty() ? unknown : kernel + " (" + info("architecture") + ")",
                      text_or(x, {"status", "nodeInfo", "containerRuntimeVersion"}, unknown)});
}

std::string subjects_text(const json& binding, std::string_view kind) {
  std::vector<std::string> all;
  if (const auto* subjects = member(binding, "subjects"); subjects != nullptr && subjects->is_array())
    for (const auto& x : *subjects)
      if (text_at(x, {"kind"}) == kind)
        all.push_back(kind == "ServiceAccount" ? text_at(x, {"namespace"}) + "/" + text_at(x, {"name"}) : text_at(x, {"name"}));
  return joined(all, ", ");
}

json binding_cells(const json& x, instant now) {
  return json::array({text_at(x, {"roleRef", "kind"}) + "/" + text_at(x, {"roleRef", "name"}), age(x, now), subjects_text(x, "User"),
                      subjects_text(x, "Group"), subjects_text(x, "ServiceAccount")});
}

json policy_cells(const json& x, instant now) {
  const auto* params = find(x, {"spec", "paramKind"});
  return json::array({size_at(x, {"spec", "validations"}),
                      params == nullptr ? unset : text_at(*params, {"apiVersion"}) + "/" + text_at(*params, {"kind"}), age(x, now)});
}

json policy_binding_cells(const json& x, instant now) {
  const auto* params = find(x, {"spec", "paramRef"});
  return json::array({text_at(x, {"spec", "policyName"}),
                      params == nullptr ? unset : text_or(*params, {"namespace"}, "*") + "/" + text_at(*params, {"name"}), age(x, now)});
}

using cells_function = json (*)(const json&, instant);

/// What stands behind the name; the kinds that are not here show when they were made.
const std::map<std::string_view, cells_function>& functions() {
  static const std::map<std::string_view, cells_function> all{
    {"Pod", pod_cells},
    {"Service", service_cells},
    {"PersistentVolumeClaim", claim_cells},
    {"Node", node_cells},
    {"RoleBinding", binding_cells},
    {"ClusterRoleBinding", binding_cells},
    {"ValidatingAdmissionPolicy", policy_cells},
    {"ValidatingAdmissionPolicyBinding", policy_binding_cells},
    {"Namespace",
     [](const json& x, instant now) {
       return json::array({text_at(x, {"status", "phase"}), age(x, now)});
     }},
    {"ConfigMap",
     [](const json& x, instant now) {
       return json::array({size_at(x, {"data"}) + size_at(x, {"binaryData"}), age(x, now)});
     }},
    {"Secret",
     [](const json& x, instant now) {
       return json::array({text_at(x, {"type"}), size_at(x, {"data"}), age(x, now)});
     }},
    {"ServiceAccount", [](const json& x, instant now) { return json::array({age(x, now)}); }},
    {"Lease",
     [](const json& x, instant now) {
       return json::array({text_at(x, {"spec", "holderIdentity"}), age(x, now)});
     }},
    {"NetworkPolicy",
     [](const json& x, instant now) {
       const auto* pods = find(x, {"spec", "podSelector"});
       return json::array({pods == nullptr ? none : selector_text(*pods), age(x, now)});
     }},
  };
  return all;
}

} // namespace

std::string text_or(const json& object, std::initializer_list<std::string_view> path, std::string_view otherwise) {
  auto out = text_at(object, path);
  return out.empty() ? std::string{otherwise} : out;
}

json cells_of(const resource_kind& kind, const json& object, instant now) {
  // An event's name comes last.
  if (kind.kind == "Event")
    return event_cells(object, now);
  const auto found = functions().find(kind.kind);
  auto out = json::array({text_at(object, {"metadata", "name"})});
  const auto more =
    found == functions().end() ? json::array({text_at(object, {"metadata", "creationTimestamp"})}) : found->second(object, now);
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

} // namespace paddock::embedded
