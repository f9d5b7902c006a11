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

constexpr std::array kinds{
  resource_kind{.group = "",
                .version = "v1",
                .plural = "namespaces",
                .singular = "namespace",
                .short_name = "ns",
                .kind = "Namespace",
                .namespaced = false,
                .has_status = true,
                .label_name = true},
  resource_kind{.group = "",
                .version = "v1",
                .plural = "pods",
                .singular = "pod",
                .short_name = "po",
                .kind = "Pod",
                .has_status = true,
                .has_generation = true,
                .returns_deleted = true},
  resource_kind{.group = "",
                .version = "v1",
                .plural = "services",
                .singular = "service",
                .short_name = "svc",
                .kind = "Service",
                .has_status = true,
                .label_name = true,
                .returns_deleted = true},
  resource_kind{.group = "",
                .version = "v1",
                .plural = "persistentvolumeclaims",
                .singular = "persistentvolumeclaim",
                .short_name = "pvc",
                .kind = "PersistentVolumeClaim",
                .has_status = true,
                .returns_deleted = true},
  resource_kind{.group = "", .version = "v1", .plural = "configmaps", .singular = "configmap", .short_name = "cm", .kind = "ConfigMap"},
  resource_kind{.group = agents,
                .version = "v1beta1",
                .plural = "sandboxes",
                .singular = "sandbox",
                .short_name = "sandbox",
                .kind = "Sandbox",
                .has_status = true,
                .has_generation = true,
                .custom = true},
  resource_kind{.group = extensions,
                .version = "v1beta1",
                .plural = "sandboxtemplates",
                .singular = "sandboxtemplate",
                .short_name = "sandboxtemplate",
                .kind = "SandboxTemplate",
                .has_generation = true,
                .custom = true},
  resource_kind{.group = admission,
                .version = "v1",
                .plural = "validatingadmissionpolicies",
                .singular = "validatingadmissionpolicy",
                .kind = "ValidatingAdmissionPolicy",
                .namespaced = false,
                .has_status = true,
                .has_generation = true,
                .conditional = true},
  resource_kind{.group = admission,
                .version = "v1",
                .plural = "validatingadmissionpolicybindings",
                .singular = "validatingadmissionpolicybinding",
                .kind = "ValidatingAdmissionPolicyBinding",
                .namespaced = false,
                .has_generation = true,
                .conditional = true},
  asking(authentication, "selfsubjectreviews", "selfsubjectreview", "SelfSubjectReview", false),
  asking(authentication, "tokenreviews", "tokenreview", "TokenReview", false),
  asking(authorization, "localsubjectaccessreviews", "localsubjectaccessreview", "LocalSubjectAccessReview", true),
  asking(authorization, "selfsubjectaccessreviews", "selfsubjectaccessreview", "SelfSubjectAccessReview", false),
  asking(authorization, "selfsubjectrulesreviews", "selfsubjectrulesreview", "SelfSubjectRulesReview", false),
  asking(authorization, "subjectaccessreviews", "subjectaccessreview", "SubjectAccessReview", false),
  granting("clusterrolebindings", "clusterrolebinding", "ClusterRoleBinding", false),
  granting("clusterroles", "clusterrole", "ClusterRole", false),
  granting("rolebindings", "rolebinding", "RoleBinding", true),
  granting("roles", "role", "Role", true),
};

int hex_digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

std::optional<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size())
        return std::nullopt;
      const auto high = hex_digit(text[i + 1]);
      const auto low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0)
        return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

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

// -- paths --------------------------------------------------------------------------------------------------------

std::string request_target::query_text(const std::string& key) const {
  auto found = query.find(key);
  return found == query.end() ? std::string{} : found->second;
}

bool request_target::query_flag(const std::string& key) const {
  const auto text = query_text(key);
  return query.contains(key) && text != "0" && text != "false" && text != "False" && text != "f" && text != "F";
}

std::optional<request_target> parse_target(std::string_view target) {
  request_target out;
  const auto mark = target.find('?');
  const auto path = target.substr(0, mark);
  out.path = path;
  for (std::size_t at = 0; at < path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    if (end > at) {
      auto segment = decode(path.substr(at, end - at), false);
      if (!segment || segment->find('/') != std::string::npos || segment->find('\0') != std::string::npos)
        return std::nullopt;
      out.segments.push_back(std::move(*segment));
    }
    at = end + 1;
  }
  if (mark == std::string_view::npos)
    return out;
  const auto query = target.substr(mark + 1);
  for (std::size_t at = 0; at < query.size();) {
    const auto end = std::min(query.find('&', at), query.size());
    const auto pair = query.substr(at, end - at);
    const auto equals = std::min(pair.find('='), pair.size());
    auto key = decode(pair.substr(0, equals), true);
    auto value = decode(equals < pair.size() ? pair.substr(equals + 1) : std::string_view{}, true);
    if (!key || !value)
      return std::nullopt;
    if (!key->empty())
      out.query.emplace(std::move(*key), std::move(*value));
    at = end + 1;
  }
  return out;
}

std::optional<resource_path> parse_resource_path(std::span<const std::string> segments) {
  // The group and version.
  std::string_view group;
  std::string_view version;
  if (segments.size() >= 2 && segments[0] == "api") {
    version = segments[1];
    segments = segments.subspan(2);
  } else if (segments.size() >= 3 && segments[0] == "apis") {
    group = segments[1];
    version = segments[2];
    segments = segments.subspan(3);
  } else {
    return std::nullopt;
  }
  // `namespaces/N/pods...` is about pods, `namespaces/N` and `namespaces/N/status` about the namespace itself.
  resource_path out;
  const bool scoped = segments.size() >= 3 && segments[0] == "namespaces" && find_kind(group, version, segments[2]) != nullptr;
  if (scoped) {
    out.name_space = segments[1];
    segments = segments.subspan(2);
  }
  if (segments.empty() || segments.size() > 3)
    return std::nullopt;
  out.kind = find_kind(group, version, segments[0]);
  if (out.kind == nullptr || out.kind->namespaced != (scoped || (segments.size() == 1 && out.kind->namespaced)))
    return std::nullopt;
  if (segments.size() > 1)
    out.name = segments[1];
  if (segments.size() > 2)
    out.subresource = segments[2];
  return out;
}

} // namespace paddock::embedded
