#include "embedded/sandbox_children.hpp"

#include "embedded/agent_keys.hpp"
#include "embedded/pod_facts.hpp"
#include "embedded/sandbox_facts.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>

namespace paddock::embedded::sandbox_children {

using nlohmann::json;
using sandbox_facts::hash_of;

namespace {

json owner_reference(const json& sandbox) {
  return {{"apiVersion", "agents.x-k8s.io/v1beta1"},
          {"kind", "Sandbox"},
          {"name", name_of(sandbox)},
          {"uid", uid_of(sandbox)},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

bool reserved(const std::string& key) {
  return key.starts_with("agents.x-k8s.io/") || key.starts_with("extensions.agents.x-k8s.io/");
}

/// The template's own keys, without those that only controllers write.
json propagated(const json& sandbox, const std::string& pointer) {
  auto result = json::object();
  if (const auto& all = value_in(sandbox, pointer); all.is_object())
    for (const auto& [key, value] : all.items())
      if (!reserved(key))
        result[key] = value;
  return result;
}

/// The keys of `map`, sorted and joined by commas.
std::string key_list(const json& map) {
  std::string result;
  for (const auto& [key, value] : map.items())
    result += (result.empty() ? "" : ",") + key;
  return result;
}

std::set<std::string> split(const std::string& list) {
  std::set<std::string> result;
  for (std::size_t from = 0; from < list.size();) {
    auto comma = std::min(list.find(',', from), list.size());
    if (comma > from)
      result.insert(list.substr(from, comma - from));
    from = comma + 1;
  }
  return result;
}

std::string known_creator(const std::string& name) {
  return name == "go-client" || name == "python-client" || name == "controller" ? name : "unknown";
}

json pod_labels(const json& sandbox) {
  auto result = propagated(sandbox, "/spec/podTemplate/metadata/labels");
  result[agent_keys::name_hash] = hash_of(sandbox);
  // A Sandbox of a claim or a pool passes on where it comes from.
  const auto& owner = controller_of(sandbox);
  if (text_in(owner, "/apiVersion").starts_with("extensions.agents.x-k8s.io/")) {
    if (auto x = label_of(sandbox, agent_keys::template_hash); !x.empty())
      result[agent_keys::template_hash] = x;
    if (auto x = label_of(sandbox, agent_keys::pool_hash); !x.empty() && text_in(owner, "/kind") == "SandboxWarmPool")
      result[agent_keys::pool_hash] = x;
  }
  if (auto x = label_of(sandbox, agent_keys::created_by); !x.empty())
    result[agent_keys::created_by] = known_creator(x);
  return result;
}

/// Brings the keys of one map of a running pod to the template's: changes in, keys that were once propagated out.
void follow(json& patch, const json& pod, const std::string& map, const json& wanted, const std::string& once) {
  const auto& now = value_in(pod, "/metadata/" + map);
  for (const auto& [key, value] : wanted.items())
    if (!now.is_object() || !now.contains(key) || now.at(key) != value)
      patch["metadata"][map][key] = value;
  for (const auto& key : split(once))
    if (!wanted.contains(key) && now.is_object() && now.contains(key))
      patch["metadata"][map][key] = nullptr;
}

} // namespace

json child_metadata(const json& sandbox, const std::string& name) {
  return {{"name", name},
          {"namespace", namespace_of(sandbox)},
          {"labels", {{agent_keys::name_hash, hash_of(sandbox)}}},
          {"ownerReferences", json::array({owner_reference(sandbox)})}};
}

std::optional<std::string> taken(const json& sandbox, const json& child, const std::string& kind) {
  const auto& owner = controller_of(child);
  if (!owner.is_null()) {
    if (controls(sandbox, child))
      return std::nullopt;
    return kind + " \"" + name_of(child) + "\" is owned by " + text_in(owner, "/kind") + "/" + text_in(owner, "/name");
  }
  if (label_of(child, agent_keys::adoptable) == "true" || label_of(child, agent_keys::name_hash) == hash_of(sandbox))
    return std::nullopt;
  return "cannot adopt unowned " + kind + " \"" + name_of(child) + "\": missing required pool authorization label (\""
         + agent_keys::adoptable + "\") or sandbox tracking label (\"" + agent_keys::name_hash + "\")";
}

json adoption(const json& sandbox, const json& child) {
  auto owners = value_in(child, "/metadata/ownerReferences");
  if (!owners.is_array())
    owners = json::array();
  owners.push_back(owner_reference(sandbox));
  return {{"metadata", {{"labels", {{agent_keys::name_hash, hash_of(sandbox)}}}, {"ownerReferences", owners}}}};
}

std::string claim_name(const json& sandbox, const json& entry) {
  return text_in(entry, "/metadata/name") + "-" + name_of(sandbox);
}

json new_pod(const json& sandbox) {
  auto name = name_of(sandbox);
  auto metadata = child_metadata(sandbox, name);
  metadata["labels"] = pod_labels(sandbox);
  auto annotations = propagated(sandbox, "/spec/podTemplate/metadata/annotations");
  auto labels = propagated(sandbox, "/spec/podTemplate/metadata/labels");
  auto annotation_keys = key_list(annotations);
  if (!annotation_keys.empty())
    annotations[agent_keys::propagated_annotations] = annotation_keys;
  if (auto keys = key_list(labels); !keys.empty())
    annotations[agent_keys::propagated_labels] = keys;
  if (!annotations.empty())
    metadata["annotations"] = annotations;
  // One volume an entry, named like it; it replaces a volume of that name.
  auto spec = value_in(sandbox, "/spec/podTemplate/spec");
  if (!spec.is_object())
    spec = json::object();
  if (const auto& entries = value_in(sandbox, "/spec/volumeClaimTemplates"); entries.is_array() && !entries.empty()) {
    auto volumes = json::array();
    std::set<std::string> replaced;
    for (const auto& entry : entries)
      replaced.insert(text_in(entry, "/metadata/name"));
    if (const auto& own = value_in(spec, "/volumes"); own.is_array())
      for (const auto& x : own)
        if (!replaced.contains(text_in(x, "/name")))
          volumes.push_back(x);
    for (const auto& entry : entries)
      volumes.push_back(
        {{"name", text_in(entry, "/metadata/name")}, {"persistentVolumeClaim", {{"claimName", claim_name(sandbox, entry)}}}});
    spec["volumes"] = volumes;
  }
  return {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata}, {"spec", spec}};
}

json pod_metadata_patch(const json& sandbox, const json& pod) {
  auto patch = controls(sandbox, pod) ? json::object() : adoption(sandbox, pod);
  auto labels = pod_labels(sandbox);
  auto annotations = propagated(sandbox, "/spec/podTemplate/metadata/annotations");
  auto own_labels = propagated(sandbox, "/spec/podTemplate/metadata/labels");
  follow(patch, pod, "labels", labels, annotation_of(pod, agent_keys::propagated_labels));
  // A member that was taken out of its pool: what said so goes.
  for (const auto* key : {agent_keys::created_by, agent_keys::pool_hash})
    if (!label_of(pod, key).empty() && !labels.contains(key))
      patch["metadata"]["labels"][key] = nullptr;
  auto annotation_keys = key_list(annotations);
  follow(patch, pod, "annotations", annotations, annotation_of(pod, agent_keys::propagated_annotations));
  if (annotation_keys != annotation_of(pod, agent_keys::propagated_annotations))
    patch["metadata"]["annotations"][agent_keys::propagated_annotations] = annotation_keys;
  if (auto keys = key_list(own_labels); keys != annotation_of(pod, agent_keys::propagated_labels))
    patch["metadata"]["annotations"][agent_keys::propagated_labels] = keys;
  return patch.empty() ? json{} : patch;
}

json service_ports(const json& sandbox) {
  std::map<std::tuple<std::int64_t, std::string>, std::string> ports; // -> first explicit name
  auto take = [&](const json& containers, bool always) {
    if (!containers.is_array())
      return;
    for (const auto& container : containers) {
      if (always && text_in(container, "/restartPolicy") != "Always")
        continue;
      const auto& declared = value_in(container, "/ports");
      if (!declared.is_array())
        continue;
      for (const auto& x : declared) {
        auto number = number_in(x, "/containerPort");
        if (!number)
          continue;
        auto protocol = text_in(x, "/protocol");
        auto& name = ports[{*number, protocol.empty() ? "TCP" : protocol}];
        if (name.empty())
          name = text_in(x, "/name");
      }
    }
  };
  take(value_in(sandbox, "/spec/podTemplate/spec/containers"), false);
  take(value_in(sandbox, "/spec/podTemplate/spec/initContainers"), true);
  auto result = json::array();
  std::set<std::string> names;
  for (auto& [key, given] : ports) {
    auto& [number, protocol] = key;
    auto lower = protocol;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    auto base = given.empty() ? "p-" + std::to_string(number) + "-" + lower : given;
    auto name = base;
    for (auto n = 2; !names.insert(name).second; ++n)
      name = base + "-" + std::to_string(n);
    result.push_back({{"name", name}, {"protocol", protocol}, {"port", number}, {"targetPort", number}});
  }
  return result;
}

} // namespace paddock::embedded::sandbox_children
