#include "k8s/paths.hpp"

#include "k8s/call.hpp"

namespace paddock::k8s {

namespace {

std::string in_namespace(std::string_view group, std::string_view name_space, std::string_view resource, std::string_view name) {
  auto got = std::string{group};
  got.append("/namespaces/").append(encode_component(name_space)).append("/").append(resource);
  if (!name.empty())
    got.append("/").append(encode_component(name));
  return got;
}

std::string in_cluster(std::string_view group, std::string_view resource, std::string_view name) {
  auto got = std::string{group};
  got.append("/").append(resource).append("/").append(encode_component(name));
  return got;
}

constexpr std::string_view core = "/api/v1";
constexpr std::string_view agents = "/apis/agents.x-k8s.io/v1beta1";
constexpr std::string_view extensions = "/apis/extensions.agents.x-k8s.io/v1beta1";
constexpr std::string_view admission = "/apis/admissionregistration.k8s.io/v1";

} // namespace

std::string sandboxes_path(std::string_view name_space, std::string_view name) {
  return in_namespace(agents, name_space, "sandboxes", name);
}

std::string claims_path(std::string_view name_space, std::string_view name) {
  return in_namespace(extensions, name_space, "sandboxclaims", name);
}

std::string warm_pool_path(std::string_view name_space, std::string_view name) {
  return in_namespace(extensions, name_space, "sandboxwarmpools", name);
}

std::string template_path(std::string_view name_space, std::string_view name) {
  return in_namespace(extensions, name_space, "sandboxtemplates", name);
}

std::string pods_path(std::string_view name_space, std::string_view name) {
  return in_namespace(core, name_space, "pods", name);
}

std::string volume_claim_path(std::string_view name_space, std::string_view entry, std::string_view sandbox_name) {
  return in_namespace(core, name_space, "persistentvolumeclaims", std::string{entry} + "-" + std::string{sandbox_name});
}

std::string config_map_path(std::string_view name_space, std::string_view name) {
  return in_namespace(core, name_space, "configmaps", name);
}

std::string network_policies_path(std::string_view name_space, std::string_view name) {
  return in_namespace("/apis/networking.k8s.io/v1", name_space, "networkpolicies", name);
}

std::string cilium_policies_path(std::string_view name_space, std::string_view name) {
  return in_namespace("/apis/cilium.io/v2", name_space, "ciliumnetworkpolicies", name);
}

std::string admission_policy_path(std::string_view name) {
  return in_cluster(admission, "validatingadmissionpolicies", name);
}

std::string admission_binding_path(std::string_view name) {
  return in_cluster(admission, "validatingadmissionpolicybindings", name);
}

std::string with_selector(std::string collection, std::string_view selector) {
  if (!selector.empty())
    collection += "?labelSelector=" + encode_component(selector);
  return collection;
}

} // namespace paddock::k8s
