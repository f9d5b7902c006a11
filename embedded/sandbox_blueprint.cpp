#include "embedded/sandbox_blueprint.hpp"

#include "base/hash.hpp"
#include "embedded/pod_facts.hpp"

namespace paddock::embedded {

namespace {

using nlohmann::json;

/// Whether it is absent or of that type.
bool fits(const json& object, const std::string& where, json::value_t type) {
  const auto& value = value_in(object, where);
  return value.is_null() || value.type() == type;
}

std::string content_hash(const json& content) {
  return fnv1a_hex(content.dump());
}

} // namespace

std::string pod_content_of(const nlohmann::json& sandbox_template) {
  return content_hash(value_in(sandbox_template, "/spec/podTemplate/spec"));
}

std::string template_content_of(const nlohmann::json& sandbox_template) {
  return content_hash(json::array({value_in(sandbox_template, "/spec/podTemplate/spec"),
                                   value_in(sandbox_template, "/spec/volumeClaimTemplates"), value_in(sandbox_template, "/spec/service")}));
}

bool managed(const nlohmann::json& sandbox_template) {
  return text_in(sandbox_template, "/spec/networkPolicyManagement") != "Unmanaged";
}

std::optional<std::string> template_fault(const nlohmann::json& sandbox_template) {
  using enum json::value_t;
  auto wrong = [](const std::string& what, json::value_t type) {
    return "the template's " + what + " is no " + (type == array ? "list" : "map");
  };
  for (const auto* where : {"/spec/podTemplate", "/spec/podTemplate/metadata", "/spec/podTemplate/metadata/labels",
                            "/spec/podTemplate/metadata/annotations", "/spec/podTemplate/spec", "/spec/podTemplate/spec/dnsConfig"})
    if (!fits(sandbox_template, where, object))
      return wrong(std::string{where}.substr(6), object);
  for (const auto* where : {"/spec/podTemplate/spec/containers", "/spec/podTemplate/spec/initContainers", "/spec/volumeClaimTemplates"})
    if (!fits(sandbox_template, where, array))
      return wrong(std::string{where}.substr(6), array);
  for (const auto& x : array_in(sandbox_template, "/spec/podTemplate/spec/containers")) {
    if (!x.is_object())
      return wrong("container", object);
    if (!fits(x, "/env", array))
      return wrong("container's env", array);
  }
  return std::nullopt;
}

nlohmann::json sandbox_spec_of(const nlohmann::json& sandbox_template) {
  auto pod = value_in(sandbox_template, "/spec/podTemplate");
  if (!pod.is_object())
    pod = json::object();
  auto& spec = pod["spec"];
  spec.emplace("automountServiceAccountToken", false);
  for (const auto* list : {"initContainers", "containers"})
    if (auto all = spec.find(list); all != spec.end())
      for (auto& x : *all)
        if (x.is_object())
          x.emplace("resources", json::object());
  if (managed(sandbox_template) && value_in(sandbox_template, "/spec/networkPolicy").is_null() && !spec.contains("dnsPolicy")) {
    spec["dnsPolicy"] = "None";
    spec["dnsConfig"]["nameservers"] = json::array({"8.8.8.8", "1.1.1.1"});
  }
  auto result = json{{"operatingMode", "Running"}, {"shutdownPolicy", "Retain"}, {"podTemplate", pod}};
  for (const auto* key : {"service", "volumeClaimTemplates"})
    if (const auto& value = value_in(sandbox_template, std::string{"/spec/"} + key); !value.is_null())
      result[key] = value;
  return result;
}

nlohmann::json controller_reference(const nlohmann::json& owner) {
  return {{"apiVersion", text_in(owner, "/apiVersion")},
          {"kind", text_in(owner, "/kind")},
          {"name", name_of(owner)},
          {"uid", uid_of(owner)},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

std::string sandboxes_path(const nlohmann::json& of) {
  return "/apis/agents.x-k8s.io/v1beta1/namespaces/" + namespace_of(of) + "/sandboxes";
}

std::string extension_path(const nlohmann::json& of, const std::string& resource) {
  return "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/" + namespace_of(of) + "/" + resource;
}

bool sandbox_ready(const nlohmann::json& sandbox) {
  return text_in(condition_of(sandbox, "Ready"), "/status") == "True";
}

} // namespace paddock::embedded
