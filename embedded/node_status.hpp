#pragma once

#include "base/time.hpp"
#include "k8s/call.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace paddock::embedded {

/// What a kubelet knows of its machine.
struct node_facts {
  std::string name;
  std::string address = "127.0.0.1";
  unsigned cpus = 1;
  std::uint64_t memory = 0;  // bytes
  std::uint64_t storage = 0; // bytes, of the data folder's file system
  unsigned pods = 1024;
  std::string machine_id;
  std::string boot_id;
  std::string kernel;
  std::string system;
  std::string architecture;
  std::string version;      // of this program
  std::string limits_fault; // why limits of CPU and memory cannot be enforced; empty: they are
};

[[nodiscard]] k8s::call read_node(const std::string& name);
[[nodiscard]] k8s::call make_node(const node_facts& facts);

/// The patch of the Node's status: ready, what it has, and two conditions of ours: `ResourceLimitsEnforced`, and
/// `NetworkPolicyEnforced`, which is always False. Conditions that keep their status keep their instant, those of others stay.
[[nodiscard]] k8s::call report_node(const nlohmann::json& node, const node_facts& facts, time_source::wall_clock::time_point now);

/// The heartbeat: the Lease of the node's name in `kube-node-lease`.
[[nodiscard]] k8s::call renew_lease(const std::string& name, time_source::wall_clock::time_point now);
/// The same for a Lease that is not there. `node` owns it.
[[nodiscard]] k8s::call make_lease(const nlohmann::json& node, time_source::wall_clock::time_point now);

} // namespace paddock::embedded
