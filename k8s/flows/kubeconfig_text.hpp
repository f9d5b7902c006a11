#pragma once

#include "base/secret.hpp"
#include "k8s/exec_credential.hpp"

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::k8s {

/// A PEM text, in the kubeconfig (`data`, decoded) or in a file of its own (an absolute path, or one from this process's
/// folder). At most one of the two is set.
struct pem_place {
  std::string data;
  std::filesystem::path file;
};

/// What a kubeconfig says, as it stands there. File names are taken from the folder of their kubeconfig; none is opened.
struct kubeconfig {
  struct context {
    std::string cluster;
    std::string user;
    std::string name_space;
  };
  struct cluster {
    std::string server; // URL
    pem_place authority;
    std::string server_name; // tls-server-name
    std::string proxy;       // proxy-url; may hold a password
    bool insecure = false;
    bool plain_answers = false;      // disable-compression
    nlohmann::json for_plugins;      // the extension client.authentication.k8s.io/exec; null: none
    std::vector<std::string> others; // members that are not known here
    std::string refusal;             // why the entry cannot be used; empty: nothing is wrong with it
  };
  struct user {
    pem_place certificate;
    pem_place key;
    secret token;
    std::filesystem::path token_file;
    std::optional<exec_plugin> exec;
    bool tell_plugin = false;        // provideClusterInfo
    std::vector<std::string> others; // members that are not known here, such as `username`
    std::string refusal;             // as that of a cluster
  };
  std::string current;
  std::map<std::string, context> contexts;
  std::map<std::string, cluster> clusters;
  std::map<std::string, user> users;
};

/// Reads one kubeconfig (YAML or JSON, at most 4 MiB). An empty text is an empty kubeconfig. A refusal names the entry and the
/// member, and repeats none of their values; that of a cluster or user is kept with it, because another one may be meant.
[[nodiscard]] tl::expected<kubeconfig, std::string> read_kubeconfig_text(std::string_view text, const std::filesystem::path& folder);

/// As kubectl merges several files: of an entry the first file that has it counts whole, and so does the first current context.
[[nodiscard]] kubeconfig merge(kubeconfig first, kubeconfig second);

} // namespace paddock::k8s
