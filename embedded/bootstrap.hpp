#pragma once

#include "k8s/call.hpp"

#include <string>

namespace paddock::embedded {

/// The name of the template that every embedded cluster has.
inline constexpr auto default_template_name = "default";

/// Makes the default SandboxTemplate: one Block disk `workspace` of 1Gi, one container `agent` with its port 1024.
[[nodiscard]] k8s::call make_default_template(const std::string& name_space);

/// Reads it.
[[nodiscard]] k8s::call read_default_template(const std::string& name_space);

/// A kubeconfig with one cluster, user and context, as kubectl reads it. `authority` is the PEM of the server's; it must
/// be https, because kubectl shows its token to no other. It holds the token in clear.
[[nodiscard]] std::string write_kubeconfig(const std::string& server, const std::string& authority, const std::string& token,
                                           const std::string& name_space);

} // namespace paddock::embedded
