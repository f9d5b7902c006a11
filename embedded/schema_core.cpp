#include "embedded/admission_schema.hpp"
#include "embedded/rbac_schema.hpp"
#include "embedded/schema.hpp"
#include "embedded/selector.hpp"

#include <array>

namespace paddock::embedded::schema {

namespace {

constexpr std::int64_t default_grace_seconds = 30;

void fill(json& object, const char* key, json value) {
  if (!object.contains(key))
    object[key] = std::move(value);
}

/// The containers of a pod, both lists.
template <class Object, class Visit>
void each_container(Object& pod_spec, Visit visit) {
  for (const auto* list : {"initContainers", "containers"}) {
    if (!pod_spec.is_object() || !pod_spec.contains(list))
      continue;
    std::size_t i = 0;
    for (auto& x : pod_spec[list])
      visit(x, std::string{"spec."} + list + "[" + std::to_string(i++) + "]");
  }
}

void default_pod(json& object) {
  auto& spec = object_at(object, "spec");
  fill(spec, "restartPolicy", "Always");
  fill(spec, "terminationGracePeriodSeconds", default_grace_seconds);
  fill(spec, "dnsPolicy", "ClusterFirst");
  fill(spec, "schedulerName", "default-scheduler");
  fill(spec, "securityContext", json::object());
  fill(spec, "enableServiceLinks", true);
  each_container(spec, [](json& container, const std::string&) {
    const auto image = text_at(container, {"image"});
    const auto tag = image.rfind(':');
    const bool latest = image.find('@') == std::string::npos
                        && (tag == std::string::npos || image.find('/', tag) != std::string::npos || image.substr(tag) == ":latest");
    fill(container, "imagePullPolicy", latest ? "Always" : "IfNotPresent");
    fill(container, "resources", json::object());
    fill(container, "terminationMessagePath", "/dev/termination-log");
    fill(container, "terminationMessagePolicy", "File");
    if (container.contains("ports"))
      for (auto& port : container["ports"])
        fill(port, "protocol", "TCP");
  });
  fill(object_at(object, "status"), "phase", "Pending");
}

void default_service(json& object) {
  auto& spec = object_at(object, "spec");
  fill(spec, "type", "ClusterIP");
  fill(spec, "sessionAffinity", "None");
  fill(spec, "internalTrafficPolicy", "Cluster");
  fill(spec, "ipFamilies", json::array({"IPv4"}));
  fill(spec, "ipFamilyPolicy", "SingleStack");
  if (auto ip = text_at(spec, {"clusterIP"}); !ip.empty())
    fill(spec, "clusterIPs", json::array({ip}));
  if (spec.contains("ports")) {
    for (auto& port : spec["ports"]) {
      fill(port, "protocol", "TCP");
      if (const auto* number = member(port, "port"))
        fill(port, "targetPort", *number);
    }
  }
  fill(object_at(object, "status"), "loadBalancer", json::object());
}

/// What of a pod's spec may differ between two versions of it: images, and nothing that was decided when it was made.
json fixed_part_of_pod(json spec) {
  if (!spec.is_object())
    return spec;
  each_container(spec, [](json& container, const std::string&) { container.erase("image"); });
  spec.erase("activeDeadlineSeconds");
  return spec;
}

std::vector<status_cause> check_pod(const json* before, const json& after) {
  std::vector<status_cause> out;
  const auto& spec = after.at("spec");
  if (const auto* all = member(spec, "containers"); all == nullptr || all->empty())
    out.push_back(field_required("spec.containers"));
  std::vector<std::string> seen;
  each_container(spec, [&](const json& container, const std::string& at) {
    const auto name = text_at(container, {"name"});
    if (name.empty())
      out.push_back(field_required(at + ".name"));
    else if (!is_dns_label(name))
      out.push_back(field_invalid(at + ".name", in_quotes(name), label_text));
    else if (std::find(seen.begin(), seen.end(), name) != seen.end())
      out.push_back({"FieldValueDuplicate", "Duplicate value: " + in_quotes(name), at + ".name"});
    seen.push_back(name);
    if (text_at(container, {"image"}).empty())
      out.push_back(field_required(at + ".image"));
  });
  static const std::vector<std::string> policies{"Always", "OnFailure", "Never"};
  if (const auto policy = text_at(spec, {"restartPolicy"}); std::find(policies.begin(), policies.end(), policy) == policies.end())
    out.push_back(field_unsupported("spec.restartPolicy", in_quotes(policy), policies));
  if (const auto* grace = member(spec, "terminationGracePeriodSeconds"); grace != nullptr && *grace < 0)
    out.push_back(field_invalid("spec.terminationGracePeriodSeconds", grace->dump(), "must be greater than or equal to 0"));
  if (before != nullptr && fixed_part_of_pod(before->at("spec")) != fixed_part_of_pod(spec))
    out.push_back(field_forbidden("spec",
                                  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
                                  "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
                                  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"));
  return out;
}

std::vector<status_cause> check_service(const json* before, const json& after) {
  std::vector<status_cause> out;
  const auto& spec = after.at("spec");
  // There is no proxy and no range of service addresses: only headless Services are kept.
  if (text_at(spec, {"type"}) != "ClusterIP")
    out.push_back(field_unsupported("spec.type", in_quotes(text_at(spec, {"type"})), {"ClusterIP"}));
  else if (text_at(spec, {"clusterIP"}) != "None")
    out.push_back(field_invalid("spec.clusterIP", in_quotes(text_at(spec, {"clusterIP"})),
                                "this server has no range of service addresses; must be None"));
  if (before != nullptr && text_at(*before, {"spec", "clusterIP"}) != text_at(spec, {"clusterIP"}))
    out.push_back(field_invalid("spec.clusterIPs[0]", in_quotes(text_at(spec, {"clusterIP"})), "may not change once set"));
  return out;
}

std::vector<status_cause> check_claim(const json* before, const json& after) {
  std::vector<status_cause> out;
  const auto& spec = after.at("spec");
  if (const auto* modes = member(spec, "accessModes"); modes == nullptr || !modes->is_array() || modes->empty())
    out.push_back(field_required("spec.accessModes", "at least 1 access mode is required"));
  if (find(spec, {"resources", "requests", "storage"}) == nullptr)
    out.push_back(field_required("spec.resources[storage]"));
  if (before != nullptr) {
    auto was = before->at("spec");
    auto is = spec;
    if (text_at(was, {"volumeName"}).empty())
      is.erase("volumeName"); // a disk may be found for it later
    was.erase("resources");
    is.erase("resources");
    if (text_at(was, {"volumeName"}).empty())
      was.erase("volumeName");
    if (was != is)
      out.push_back(field_forbidden(
        "spec", "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"));
  }
  return out;
}

} // namespace

std::optional<std::string> misshapen_core(const resource_kind& kind, const json& object) {
  if (kind.group == "rbac.authorization.k8s.io")
    return misshapen_rbac(kind, object);
  if (kind.group == "admissionregistration.k8s.io")
    return misshapen_admission(kind, object);
  return misshapen_plain(kind, object);
}

void default_core(const resource_kind& kind, json& object) {
  if (kind.group == "rbac.authorization.k8s.io") {
    default_rbac(kind, object);
  } else if (kind.group == "admissionregistration.k8s.io") {
    default_admission(kind, object);
  } else if (kind.kind == "Pod") {
    default_pod(object);
  } else if (kind.kind == "Service") {
    default_service(object);
  } else if (kind.kind == "PersistentVolumeClaim") {
    fill(object_at(object, "spec"), "volumeMode", "Filesystem");
    fill(object_at(object, "status"), "phase", "Pending");
  } else if (kind.kind == "Namespace") {
    auto& metadata = object_at(object, "metadata");
    object_at(metadata, "labels")["kubernetes.io/metadata.name"] = text_at(object, {"metadata", "name"});
    fill(object_at(object, "spec"), "finalizers", json::array({"kubernetes"}));
    fill(object_at(object, "status"), "phase", "Active");
  } else if (kind.kind == "NetworkPolicy") {
    default_network_policy(object);
  } else {
    default_plain(kind, object);
  }
}

std::vector<status_cause> check_core(const resource_kind& kind, const json* before, const json& after) {
  if (kind.group == "rbac.authorization.k8s.io")
    return check_rbac(kind, before, after);
  if (kind.group == "admissionregistration.k8s.io")
    return check_admission(kind, after);
  if (kind.kind == "Pod")
    return check_pod(before, after);
  if (kind.kind == "Service")
    return check_service(before, after);
  if (kind.kind == "PersistentVolumeClaim")
    return check_claim(before, after);
  if (kind.kind == "NetworkPolicy")
    return check_network_policy(after);
  return check_plain(kind, before, after);
}

} // namespace paddock::embedded::schema
