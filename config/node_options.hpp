#pragma once

#include "config/listen.hpp"
#include "config/options.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace paddock::config {

enum class agent_address { service, pod_ip };
/// Whether the policies that close the agent's port are verified, and in which collections they are looked for.
enum class ingress_check { automatic, verified, core, cilium, unverified };
enum class log_level { debug, info, warn, error };
enum class log_format { text, json };

/// Everything that a node is told. The initial values are the defaults.
struct node_options {
  listen_address listen{"127.0.0.1", 7330};
  std::string cluster_namespace = "default";
  std::string template_name = "default";
  std::string kubeconfig; // empty: the files in KUBECONFIG, or else the pod's own service account
  std::string context;    // empty: the current one
  std::chrono::milliseconds ready_timeout{60'000};
  std::chrono::milliseconds ready_poll_interval{50};
  std::chrono::milliseconds api_request_timeout{30'000};
  std::uint16_t agent_port = 1024;
  agent_address agent = agent_address::service;
  std::string egress; // a file; empty: nothing of egress is verified or promised
  ingress_check ingress = ingress_check::automatic;
  std::string task_pool; // empty: a task's Sandbox is made for it
  std::chrono::milliseconds task_lease{3'600'000};
  std::string task_labels; // KEY=VALUE, separated by commas
  std::uint64_t epoch_base = 0;
  std::uint64_t shards = 64;
  std::chrono::milliseconds idle_after{900'000}; // 0: never
  std::string data_dir;                          // empty: in memory
  std::string tls_certificate;
  std::string tls_key;
  std::string tls_ca;
  log_level level = log_level::info;
  log_format format = log_format::text;
};

/// What `task_labels` says; nothing where it is not of that form.
[[nodiscard]] std::optional<std::map<std::string, std::string>> read_labels(const std::string& text);

/// Names every option of a node once.
void describe(option_list& see, node_options& x);

/// What is wrong between options that are each fine: the three TLS files come together. `file` is named by the complaints.
[[nodiscard]] std::vector<complaint> judge(const node_options& x, const std::string& file);

} // namespace paddock::config
