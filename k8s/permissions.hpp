#pragma once

#include <array>
#include <span>
#include <string_view>

namespace paddock::k8s {

/// One rule of a role.
struct permission {
  std::string_view api_group; // empty: core
  std::string_view resource;
  std::span<const std::string_view> verbs; // of create get list patch delete
};

// What a host may need, by what it does ([E] 7.1). deploy/egress holds the roles; a test holds both against each other, and
// against the requests that are really made.

namespace detail {
inline constexpr auto all_verbs = std::array<std::string_view, 5>{"create", "get", "list", "patch", "delete"};
inline constexpr auto get_list = std::array<std::string_view, 2>{"get", "list"};
inline constexpr auto only_get = std::array<std::string_view, 1>{"get"};
inline constexpr auto writing = std::array<std::string_view, 3>{"create", "patch", "delete"};
} // namespace detail

/// Takes sandboxes out of warm pools and does nothing else. In the namespace of the sandboxes, as the next two.
inline constexpr auto claimant_permissions = std::array{
  permission{"extensions.agents.x-k8s.io", "sandboxclaims", detail::all_verbs},
  permission{"agents.x-k8s.io", "sandboxes", detail::only_get},
  permission{"extensions.agents.x-k8s.io", "sandboxwarmpools", detail::only_get},
  permission{"", "pods", detail::get_list},
  permission{"networking.k8s.io", "networkpolicies", detail::get_list},
  permission{"cilium.io", "ciliumnetworkpolicies", detail::get_list},
};

/// Makes sandboxes of its own, workspaces among them, as well.
inline constexpr auto host_permissions = std::array{
  permission{"extensions.agents.x-k8s.io", "sandboxclaims", detail::all_verbs},
  permission{"agents.x-k8s.io", "sandboxes", detail::all_verbs},
  permission{"extensions.agents.x-k8s.io", "sandboxwarmpools", detail::only_get},
  permission{"extensions.agents.x-k8s.io", "sandboxtemplates", detail::only_get},
  permission{"", "pods", detail::get_list},
  permission{"", "persistentvolumeclaims", detail::only_get},
  permission{"networking.k8s.io", "networkpolicies", detail::get_list},
  permission{"cilium.io", "ciliumnetworkpolicies", detail::get_list},
};

/// Grants egress to one sandbox at a time. Only the fence bounds these; who holds them without it may write every policy of Cilium.
inline constexpr auto per_sandbox_permissions = std::array{
  permission{"cilium.io", "ciliumnetworkpolicies", detail::writing},
};

/// Proves the fence. At cluster scope.
inline constexpr auto fence_permissions = std::array{
  permission{"admissionregistration.k8s.io", "validatingadmissionpolicies", detail::only_get},
  permission{"admissionregistration.k8s.io", "validatingadmissionpolicybindings", detail::only_get},
};

/// Reads what may be granted at all: one ConfigMap, by its name, in its namespace.
inline constexpr auto permitted_hosts_permissions = std::array{
  permission{"", "configmaps", detail::only_get},
};

} // namespace paddock::k8s
