#include "k8s/objects.hpp"

namespace paddock::k8s {

using nlohmann::json;

namespace {

const json none;

/// A member of an object, or null.
const json& at(const json& object, std::string_view key) {
  if (!object.is_object())
    return none;
  const auto it = object.find(key);
  return it == object.end() ? none : *it;
}

std::optional<std::string> text(const json& x) {
  if (!x.is_string() || x.get_ref<const std::string&>().empty())
    return std::nullopt;
  return x.get<std::string>();
}

std::optional<std::int64_t> integer(const json& x) {
  return x.is_number_integer() ? std::optional{x.get<std::int64_t>()} : std::nullopt;
}

std::map<std::string, std::string> strings(const json& x) {
  auto got = std::map<std::string, std::string>{};
  if (x.is_object())
    for (const auto& [key, value] : x.items())
      if (value.is_string())
        got.emplace(key, value.get<std::string>());
  return got;
}

std::vector<std::string> addresses(const json& list) {
  auto got = std::vector<std::string>{};
  if (list.is_array())
    for (const auto& x : list) {
      auto one = text(x.is_object() ? at(x, "ip") : x);
      if (one)
        got.push_back(std::move(*one));
    }
  return got;
}

const json& condition(const json& status, std::string_view type) {
  const auto& all = at(status, "conditions");
  if (all.is_array())
    for (const auto& x : all)
      if (text(at(x, "type")) == type)
        return x;
  return none;
}

} // namespace

std::string_view to_string(operating_mode x) {
  return x == operating_mode::suspended ? "Suspended" : "Running";
}

std::optional<std::string> text_at(const json& object, const char* path) {
  const auto pointer = json::json_pointer{path};
  return object.contains(pointer) ? text(object.at(pointer)) : std::nullopt;
}

std::vector<json> items_of(const std::optional<json>& answer) {
  if (!answer)
    return {};
  const auto& items = at(*answer, "items");
  return items.is_array() ? std::vector<json>(items.begin(), items.end()) : std::vector<json>{};
}

bool sandbox::seen_by_controller(std::optional<std::int64_t> wanted) const {
  return !wanted || (judged && (!observed_generation || *observed_generation >= *wanted));
}

sandbox read_sandbox(const json& object) {
  const auto& meta = at(object, "metadata");
  const auto& spec = at(object, "spec");
  const auto& status = at(object, "status");
  auto got = sandbox{};
  got.name = text(at(meta, "name"));
  if (auto uid = text(at(meta, "uid")))
    got.uid = sandbox_uid{std::move(*uid)};
  got.resource_version = text(at(meta, "resourceVersion"));
  got.created = text(at(meta, "creationTimestamp"));
  got.generation = integer(at(meta, "generation"));
  got.annotations = strings(at(meta, "annotations"));
  got.mode = text(at(spec, "operatingMode")) == "Suspended" ? operating_mode::suspended : operating_mode::running;
  got.deleting = !at(meta, "deletionTimestamp").is_null();
  const auto& ready = condition(status, "Ready");
  got.judged = !ready.is_null();
  got.ready = text(at(ready, "status")) == "True";
  got.observed_generation = integer(at(ready, "observedGeneration"));
  got.ready_message = text(at(ready, "message"));
  got.service_fqdn = text(at(status, "serviceFQDN"));
  got.pod_ips = addresses(at(status, "podIPs"));
  got.selector = text(at(status, "selector"));
  if (auto it = got.annotations.find(std::string{template_hash_annotation}); it != got.annotations.end() && !it->second.empty())
    got.template_hash = it->second;
  got.pod_template = at(spec, "podTemplate");
  got.volume_claim_templates = at(spec, "volumeClaimTemplates");
  return got;
}

pod read_pod(const json& object) {
  const auto& meta = at(object, "metadata");
  const auto& status = at(object, "status");
  auto got = pod{};
  got.name = text(at(meta, "name"));
  if (auto uid = text(at(meta, "uid")))
    got.uid = secret{std::move(*uid)};
  got.phase = text(at(status, "phase"));
  got.labels = strings(at(meta, "labels"));
  if (got.phase == "Succeeded" || got.phase == "Failed")
    got.state = pod::life::stopped;
  else if (!at(meta, "deletionTimestamp").is_null())
    got.state = pod::life::draining;
  else if (meta.is_object())
    got.state = pod::life::live;
  got.ip = text(at(status, "podIP"));
  if (!got.ip)
    if (auto all = addresses(at(status, "podIPs")); !all.empty())
      got.ip = std::move(all.front());
  const auto& owners = at(meta, "ownerReferences");
  if (owners.is_array())
    for (const auto& x : owners)
      got.owners.push_back({text(at(x, "kind")).value_or(""), text(at(x, "name")).value_or(""), text(at(x, "uid")).value_or(""),
                            at(x, "controller").is_boolean() && at(x, "controller").get<bool>()});
  return got;
}

bool pod::may_belong_to(const sandbox_uid& who) const {
  for (const auto& x : owners)
    if (x.controller && x.uid != who.text())
      return false;
  return true;
}

volume_claim read_volume_claim(const json& object) {
  const auto& meta = at(object, "metadata");
  auto got = volume_claim{};
  got.name = text(at(meta, "name"));
  if (auto uid = text(at(meta, "uid")))
    got.uid = claim_uid{std::move(*uid)};
  got.phase = text(at(at(object, "status"), "phase"));
  return got;
}

} // namespace paddock::k8s
