#pragma once

#include "base/flows/http.hpp"
#include "k8s/flows/credentials.hpp"
#include "k8s/flows/kubeconfig_text.hpp"

#include <tl/expected.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace paddock::k8s {

/// How to reach a cluster and as whom.
struct cluster_access {
  http_server_address server;
  std::string base_path;                          // of the server's URL; no slash at its end
  std::shared_ptr<credential_source> credentials; // null: a client certificate of `server` speaks for us, or nothing does
  std::string name_space = "default";
};

/// One context of a kubeconfig (`context` empty: its current one), as kubectl understands it. Authorities are read now. So are
/// files with a client certificate and its key, to see that they are there; they and a token file are read for each request.
/// What is not understood of the cluster or user is refused by its name (`auth-provider`, `username`, `as`, a proxy that is
/// not http, ...) and not skipped: skipping would speak as somebody else. No text of a refusal holds a secret.
[[nodiscard]] tl::expected<cluster_access, std::string> access_of(const kubeconfig& from, std::string_view context = {});

/// The kubeconfig in one file. A refusal names the file.
[[nodiscard]] tl::expected<cluster_access, std::string> read_kubeconfig(const std::filesystem::path& file, std::string_view context = {});

/// The kubeconfigs in a list of files, separated by colons as in the variable KUBECONFIG, merged. A file that is not there is
/// left out; all of them missing is refused.
[[nodiscard]] tl::expected<cluster_access, std::string> read_kubeconfigs(std::string_view files, std::string_view context = {});

/// What a pod finds: `host` and `port` are KUBERNETES_SERVICE_HOST and _PORT, `folder` holds `token`, `ca.crt`, `namespace`.
/// Either of the two empty is refused with both their names before any file is read.
[[nodiscard]] tl::expected<cluster_access, std::string>
in_cluster(std::string host, std::string_view port, const std::filesystem::path& folder = "/var/run/secrets/kubernetes.io/serviceaccount");

} // namespace paddock::k8s
