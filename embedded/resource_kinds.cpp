#include "embedded/resource.hpp"

#include <array>

namespace paddock::embedded {

namespace {

constexpr std::string_view agents = "agents.x-k8s.io";
constexpr std::string_view extensions = "extensions.agents.x-k8s.io";
constexpr std::string_view admission = "admissionregistration.k8s.io";
constexpr std::string_view authentication = "authentication.k8s.io";
constexpr std::string_view authorization = "authorization.k8s.io";
constexpr std::string_view rbac = "rbac.authorization.k8s.io";

/// A kind that is created to ask something.
constexpr resource_kind asking(std::string_view group, std::string_view plural, std::string_view singular, std::string_view kind,
                               bool namespaced) {
  return {.group = group, .version = "v1", .plural = plural, .singular = singular, .kind = kind, .namespaced = namespaced, .asks = true};
}

/// A role or a binding.
constexpr resource_kind granting(std::string_view plural, std::string_view singular, std::string_view kind, bool namespaced) {
  return {
    .group = rbac, .version = "v1", .plural = plural, .singular = singular, .kind = kind, .namespaced = namespaced, .path_name = true};
}

/// One of Cilium's policies.
constexpr resource_kind narrowing(std::string_view plural, std::string_view singular, std::string_view short_names, std::string_view kind,
                                  bool namespaced) {
  return {.group = "cilium.io",
          .version = "v2",
          .plural = plural,
          .singular = singular,
          .short_names = short_names,
          .kind = kind,
          .categories = "cilium,ciliumpolicy",
          .namespaced = namespaced,
          .has_status = true,
          .has_generation = true,
          .custom = true,
          .optional = true,
          .collected = namespaced};
}

// Groups in the order of discovery, kinds by name within each.
constexpr std::array kinds{
  resource_kind{
    .version = "v1", .plural = "configmaps", .singular = "configmap", .short_names = "cm", .kind = "ConfigMap", .collected = true},
  resource_kind{.version = "v1", .plural = "events", .singular = "event", .short_names = "ev", .kind = "Event"},
  resource_kind{.version = "v1",
                .plural = "namespaces",
                .singular = "namespace",
                .short_names = "ns",
                .kind = "Namespace",
                .namespaced = false,
                .has_status = true,
                .label_name = true},
  resource_kind{
    .version = "v1", .plural = "nodes", .singular = "node", .short_names = "no", .kind = "Node", .namespaced = false, .has_status = true},
  resource_kind{.version = "v1",
                .plural = "persistentvolumeclaims",
                .singular = "persistentvolumeclaim",
                .short_names = "pvc",
                .kind = "PersistentVolumeClaim",
                .has_status = true,
                .returns_deleted = true,
                .collected = true},
  resource_kind{.version = "v1",
                .plural = "pods",
                .singular = "pod",
                .short_names = "po",
                .kind = "Pod",
                .categories = "all",
                .has_status = true,
                .has_generation = true,
                .returns_deleted = true,
                .collected = true},
  resource_kind{.version = "v1", .plural = "secrets", .singular = "secret", .kind = "Secret"},
  resource_kind{.version = "v1",
                .plural = "serviceaccounts",
                .singular = "serviceaccount",
                .short_names = "sa",
                .kind = "ServiceAccount",
                .returns_deleted = true},
  resource_kind{.version = "v1",
                .plural = "services",
                .singular = "service",
                .short_names = "svc",
                .kind = "Service",
                .categories = "all",
                .has_status = true,
                .label_name = true,
                .returns_deleted = true,
                .collected = true},
  asking(authentication, "selfsubjectreviews", "selfsubjectreview", "SelfSubjectReview", false),
  asking(authentication, "tokenreviews", "tokenreview", "TokenReview", false),
  asking(authorization, "localsubjectaccessreviews", "localsubjectaccessreview", "LocalSubjectAccessReview", true),
  asking(authorization, "selfsubjectaccessreviews", "selfsubjectaccessreview", "SelfSubjectAccessReview", false),
  asking(authorization, "selfsubjectrulesreviews", "selfsubjectrulesreview", "SelfSubjectRulesReview", false),
  asking(authorization, "subjectaccessreviews", "subjectaccessreview", "SubjectAccessReview", false),
  resource_kind{
    .group = "events.k8s.io", .version = "v1", .plural = "events", .singular = "event", .short_names = "ev", .kind = "Event", .view = true},
  resource_kind{.group = "networking.k8s.io",
                .version = "v1",
                .plural = "networkpolicies",
                .singular = "networkpolicy",
                .short_names = "netpol",
                .kind = "NetworkPolicy",
                .has_generation = true,
                .collected = true},
  granting("clusterrolebindings", "clusterrolebinding", "ClusterRoleBinding", false),
  granting("clusterroles", "clusterrole", "ClusterRole", false),
  granting("rolebindings", "rolebinding", "RoleBinding", true),
  granting("roles", "role", "Role", true),
  resource_kind{.group = admission,
                .version = "v1",
                .plural = "validatingadmissionpolicies",
                .singular = "validatingadmissionpolicy",
                .kind = "ValidatingAdmissionPolicy",
                .categories = "api-extensions",
                .namespaced = false,
                .has_status = true,
                .has_generation = true,
                .conditional = true},
  resource_kind{.group = admission,
                .version = "v1",
                .plural = "validatingadmissionpolicybindings",
                .singular = "validatingadmissionpolicybinding",
                .kind = "ValidatingAdmissionPolicyBinding",
                .categories = "api-extensions",
                .namespaced = false,
                .has_generation = true,
                .conditional = true},
  resource_kind{.group = "apiextensions.k8s.io",
                .version = "v1",
                .plural = "customresourcedefinitions",
                .singular = "customresourcedefinition",
                .short_names = "crd,crds",
                .kind = "CustomResourceDefinition",
                .categories = "api-extensions",
                .namespaced = false,
                .has_status = true,
                .has_generation = true,
                .read_only = true},
  resource_kind{
    .group = "coordination.k8s.io", .version = "v1", .plural = "leases", .singular = "lease", .kind = "Lease", .conditional = true},
  resource_kind{.group = agents,
                .version = "v1beta1",
                .plural = "sandboxes",
                .singular = "sandbox",
                .short_names = "sandbox",
                .kind = "Sandbox",
                .has_status = true,
                .has_generation = true,
                .custom = true,
                .collected = true},
  narrowing("ciliumclusterwidenetworkpolicies", "ciliumclusterwidenetworkpolicy", "ccnp", "CiliumClusterwideNetworkPolicy", false),
  narrowing("ciliumnetworkpolicies", "ciliumnetworkpolicy", "cnp,ciliumnp", "CiliumNetworkPolicy", true),
  resource_kind{.group = extensions,
                .version = "v1beta1",
                .plural = "sandboxclaims",
                .singular = "sandboxclaim",
                .short_names = "sandboxclaim",
                .kind = "SandboxClaim",
                .has_status = true,
                .has_generation = true,
                .custom = true,
                .collected = true},
  resource_kind{.group = extensions,
                .version = "v1beta1",
                .plural = "sandboxtemplates",
                .singular = "sandboxtemplate",
                .short_names = "sandboxtemplate",
                .kind = "SandboxTemplate",
                .has_generation = true,
                .custom = true,
                .collected = true},
  resource_kind{.group = extensions,
                .version = "v1beta1",
                .plural = "sandboxwarmpools",
                .singular = "sandboxwarmpool",
                .short_names = "swp",
                .kind = "SandboxWarmPool",
                .has_status = true,
                .has_scale = true,
                .has_generation = true,
                .custom = true,
                .collected = true},
};

} // namespace

std::string resource_kind::api_version() const {
  return group.empty() ? std::string{version} : std::string{group} + "/" + std::string{version};
}

std::string resource_kind::qualified_plural() const {
  return group.empty() ? std::string{plural} : std::string{plural} + "." + std::string{group};
}

std::string resource_kind::qualified_kind() const {
  return group.empty() ? std::string{kind} : std::string{kind} + "." + std::string{group};
}

std::span<const resource_kind> served_kinds() {
  return kinds;
}

const resource_kind* find_kind(std::string_view group, std::string_view version, std::string_view plural) {
  for (const auto& x : kinds)
    if (x.group == group && x.version == version && x.plural == plural)
      return &x;
  return nullptr;
}

const resource_kind& kept_as(const resource_kind& kind) {
  return kind.view ? *find_kind("", "v1", kind.plural) : kind;
}

std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> out;
  while (!list.empty()) {
    const auto end = std::min(list.find(','), list.size());
    out.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return out;
}

} // namespace paddock::embedded
