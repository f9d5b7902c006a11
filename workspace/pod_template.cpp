#include "workspace/pod_template.hpp"

#include "base/canonical_json.hpp"
#include "base/hash.hpp"
#include "k8s/objects.hpp"
#include "workspace/reads.hpp"

namespace paddock::workspace {

namespace {

using json = nlohmann::json;

/// A member of `from` as an object; an empty one when it is something else.
json object_at(const json& from, const char* key) {
  const auto* got = find(from, {key});
  return got != nullptr && got->is_object() ? *got : json::object();
}

} // namespace

overlay overlay_of(const settings& how, const id& which, std::string template_name) {
  auto got = overlay{std::move(template_name), how.runtime_class, {}};
  if (!how.egress)
    return got;
  got.egress_profile = how.egress->profile_label();
  if (how.egress->per_sandbox)
    got.per_sandbox = {how.egress->per_sandbox->label_key, which.sandbox_name()};
  for (const auto& label : {got.egress_profile, got.per_sandbox})
    if (label)
      got.labels.insert(*label);
  return got;
}

json lay_over(const json& pod_template, const overlay& what) {
  auto got = pod_template.is_object() ? pod_template : json::object();
  auto metadata = object_at(got, "metadata");
  auto labels = object_at(metadata, "labels");
  labels[template_label] = what.template_name;
  for (const auto& [key, value] : what.labels)
    labels[key] = value;
  metadata["labels"] = std::move(labels);
  got["metadata"] = std::move(metadata);
  auto spec = object_at(got, "spec");
  if (what.runtime_class)
    spec["runtimeClassName"] = *what.runtime_class;
  got["spec"] = std::move(spec);
  return got;
}

egress::label_map labels_of(const json& pod_template) {
  auto got = egress::label_map{};
  if (const auto* labels = find(pod_template, {"metadata", "labels"}); labels != nullptr && labels->is_object())
    for (const auto& [key, value] : labels->items())
      if (value.is_string())
        got.emplace(key, value.get<std::string>());
  return got;
}

std::string hash_of(const json& overlaid) {
  auto digest = sha256(canonical_json(overlaid));
  return "sha256:" + to_hex(digest);
}

result<usable_template> read_template(const json& object, const overlay& what) {
  const auto* pod_template = find(object, {"spec", "podTemplate"});
  const auto* spec = find(object, {"spec", "podTemplate", "spec"});
  if (spec == nullptr || !spec->is_object())
    return tl::unexpected{failure{template_unusable{what.template_name, "it has no spec.podTemplate.spec"}}};
  auto overlaid = lay_over(*pod_template, what);
  auto hash = hash_of(overlaid);
  const auto* claims = find(object, {"spec", "volumeClaimTemplates"});
  return usable_template{std::move(overlaid), std::move(hash), claims != nullptr ? *claims : json{}};
}

json create_body(const std::string& name, const std::string& name_space, const usable_template& from, std::optional<std::uint64_t> epoch) {
  auto annotations = json{{k8s::template_hash_annotation, from.hash}};
  if (epoch)
    annotations[std::string{k8s::epoch_annotation}] = std::to_string(*epoch);
  return {
    {"apiVersion", "agents.x-k8s.io/v1beta1"},
    {"kind", "Sandbox"},
    {"metadata", {{"name", name}, {"namespace", name_space}, {"annotations", std::move(annotations)}}},
    {"spec", {{"operatingMode", "Running"}, {"service", true}, {"volumeClaimTemplates", from.claims}, {"podTemplate", from.pod_template}}},
  };
}

} // namespace paddock::workspace
