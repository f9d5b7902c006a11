#include "config/node_options.hpp"

#include <algorithm>
#include <array>

namespace paddock::config {

namespace {

using std::chrono::milliseconds;

constexpr auto longest = milliseconds{2'147'483'647};
constexpr auto highest_epoch = (std::uint64_t{1} << 53) - 1;

bool is_label(const std::string& x) {
  return !x.empty() && x.size() <= 63 && x.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos
         && x.front() != '-' && x.back() != '-';
}

/// Dot-separated labels, 253 letters at most: what an API server accepts as the name of an object.
bool is_object_name(const std::string& x) {
  if (x.size() > 253)
    return false;
  for (std::size_t first = 0;;) {
    const auto dot = x.find('.', first);
    const auto label = x.substr(first, dot == std::string::npos ? dot : dot - first);
    if (label.empty() || label.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos || label.front() == '-'
        || label.back() == '-')
      return false;
    if (dot == std::string::npos)
      return true;
    first = dot + 1;
  }
}

} // namespace

std::optional<std::map<std::string, std::string>> read_labels(const std::string& text) {
  auto got = std::map<std::string, std::string>{};
  for (std::size_t first = 0; first < text.size();) {
    const auto comma = std::min(text.find(',', first), text.size());
    const auto equals = text.find('=', first);
    if (equals == first || equals >= comma)
      return std::nullopt;
    got[text.substr(first, equals - first)] = text.substr(equals + 1, comma - equals - 1);
    first = comma + 1;
  }
  return got;
}

void describe(option_list& see, node_options& x) {
  see.option("listen", x.listen, "Where clients reach this node as a remote actor. Port 0 lets the kernel choose.");
  see.option("namespace", x.cluster_namespace, "The Kubernetes namespace of all workspaces.").matching("a DNS label", is_label);
  see.option("template", x.template_name, "The SandboxTemplate of workspaces that name none.").matching("an object name", is_object_name);
  see.path("kubeconfig", x.kubeconfig,
           "How to reach the cluster. Empty: the files in KUBECONFIG, or else as a pod, with its service account.");
  see.option("context", x.context, "The context of the kubeconfig. Empty: its current one.");
  see.option("ready-timeout", x.ready_timeout, "Time from a create or resume until a pod is bound.")
    .at_least(milliseconds{1})
    .at_most(longest);
  see.option("ready-poll-interval", x.ready_poll_interval, "Time between two looks at a Sandbox that is not ready.")
    .at_least(milliseconds{1})
    .at_most(longest);
  see.option("api-request-timeout", x.api_request_timeout, "Bound of one API request, token and body included. Cannot be off.")
    .at_least(milliseconds{1000})
    .at_most(longest);
  see.option("agent-port", x.agent_port, "The port of the guest agent.").at_least(std::uint16_t{1});
  see.choice("agent-address", x.agent, {{"service", agent_address::service}, {"pod-ip", agent_address::pod_ip}},
             "How a guest is reached: through its Service, or at the address of its pod.");
  see.path("egress", x.egress, "What sandboxes may reach, a file. Empty: nothing of it is verified or promised.");
  see.choice("ingress", x.ingress,
             {{"auto", ingress_check::automatic},
              {"verified", ingress_check::verified},
              {"core", ingress_check::core},
              {"cilium", ingress_check::cilium},
              {"unverified", ingress_check::unverified}},
             "Whether a policy must close the agent's port: of the engine of egress (verified), of core or cilium, or unverified. auto: "
             "verified, with the embedded cluster unverified.");
  see.option("task-pool", x.task_pool, "The SandboxWarmPool that tasks come out of. Empty: a Sandbox is made for each.")
    .matching("an object name", [](const std::string& name) { return name.empty() || is_object_name(name); });
  see.option("task-lease", x.task_lease, "How long a task sandbox outlives the node that holds it, in whole seconds.")
    .at_least(milliseconds{1000})
    .at_most(longest)
    .matching("in whole seconds", [](milliseconds lease) { return lease % milliseconds{1000} == milliseconds{0}; });
  see
    .option("task-labels", x.task_labels,
            "Labels of the claims of this node: KEY=VALUE, separated by commas. `paddock task release` finds "
            "claims by them.")
    .matching("KEY=VALUE, separated by commas", [](const std::string& text) { return read_labels(text).has_value(); });
  see.option("epoch-base", x.epoch_base, "Added to the holder epochs of this node, so that they exceed those of an earlier system.")
    .matching("a non-negative safe integer", [](std::uint64_t epoch) { return epoch <= highest_epoch; });
  see.option("shards", x.shards, "How many shards the workspaces are spread over. The same on every node.").at_least(1).at_most(4096);
  see
    .option("idle-after", x.idle_after,
            "How long nobody uses a workspace before the node forgets its session; the next use finds it again. 0: never.")
    .at_most(longest);
  see.path("data-dir", x.data_dir, "Where the embedded cluster keeps its state. Empty: in memory.");
  see.path("tls-certificate", x.tls_certificate, "PEM certificate that this node shows other nodes.");
  see.path("tls-key", x.tls_key, "PEM key of that certificate.");
  see.path("tls-ca", x.tls_ca, "PEM authorities that the certificates of other nodes are checked against.");
  see.choice("log-level", x.level,
             {{"debug", log_level::debug}, {"info", log_level::info}, {"warn", log_level::warn}, {"error", log_level::error}},
             "The least severe entry that is logged.");
  see.choice("log-format", x.format, {{"text", log_format::text}, {"json", log_format::json}}, "How a log entry is written.");
}

std::vector<complaint> judge(const node_options& x, const std::string& file) {
  const auto files =
    std::array{std::pair{"tls-certificate", &x.tls_certificate}, std::pair{"tls-key", &x.tls_key}, std::pair{"tls-ca", &x.tls_ca}};
  auto given = std::size_t{0};
  for (const auto& [name, value] : files)
    given += value->empty() ? 0u : 1u;
  auto got = std::vector<complaint>{};
  if (given != 0 && given != files.size())
    for (const auto& [name, value] : files)
      if (value->empty())
        got.push_back({file, std::nullopt, name, "a path, because tls-certificate, tls-key and tls-ca come together", "nothing"});
  return got;
}

} // namespace paddock::config
