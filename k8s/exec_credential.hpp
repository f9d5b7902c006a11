#pragma once

#include "base/secret.hpp"
#include "base/time.hpp"

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::k8s {

// Credential plug-ins: programs that a kubeconfig names under `exec`, and the ExecCredential that they print
// (client.authentication.k8s.io/v1 and v1beta1, the same in what is read here).

/// A program that prints a credential.
struct exec_plugin {
  std::string api_version;
  std::string command; // with a slash: a path; else looked for in PATH
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment; // beyond this process's own
  std::string install_hint;
  nlohmann::json cluster; // what it is told of the cluster (`provideClusterInfo`); null: nothing
};

/// Whether a plug-in of that version is understood.
[[nodiscard]] bool is_known_exec_version(std::string_view api_version);

/// The text of KUBERNETES_EXEC_INFO: an ExecCredential without a status. It says that nobody can be asked.
[[nodiscard]] std::string exec_info(const exec_plugin& of);

/// What a plug-in gave: a token, a client certificate with its key, or both.
struct exec_credential {
  secret token;
  std::string certificate; // PEM; empty: none
  secret key;
  std::optional<time_source::wall_clock::time_point> expires; // absent: never
};

/// Reads what a plug-in printed. A refusal says what is missing or wrong, in words of its own: nothing of `text` is in it.
[[nodiscard]] tl::expected<exec_credential, std::string> read_exec_credential(std::string_view text, std::string_view api_version);

/// Until when a credential that came at `came` is used: shortly before it expires, by 30 s or a tenth of what it had left,
/// whichever is less. Absent: for good.
[[nodiscard]] std::optional<time_source::wall_clock::time_point> use_until(const exec_credential& x,
                                                                           time_source::wall_clock::time_point came);

} // namespace paddock::k8s
