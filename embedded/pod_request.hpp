#pragma once

#include "embedded/probe.hpp"

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paddock::embedded {

/// What one container asks for. There are no images here: a container runs its `command` on this machine's files, but for the
/// guest, which runs the guest agent.
struct container_request {
  std::string name;
  bool guest = false;
  std::vector<std::string> command;                             // with its arguments; empty for the guest
  std::vector<std::pair<std::string, std::string>> environment; // in order; holds secrets
  std::string directory;                                        // empty: the workspace
  std::optional<probe> startup;
  std::optional<probe> readiness;
  std::optional<probe> liveness;
  std::vector<std::string> pre_stop; // empty: none
  bool init = false;                 // runs before the others, until it has ended well
  bool stays = false;                // an init container that runs on beside the others
  double cpu_limit = 0;              // cores; 0: none
  double memory_limit = 0;           // bytes; 0: none
};

struct pod_request {
  std::vector<container_request> init;
  std::vector<container_request> containers;
  std::uint16_t port = 1024;        // of the guest
  std::optional<std::string> claim; // whose disk is the workspace; absent: a folder that goes with the pod
};

/// Where a pod runs: what the downward API tells of it.
struct pod_place {
  std::string node;
  std::string host_address;
  std::string pod_address;
};

/// A ConfigMap or Secret that a pod's environment takes values from.
struct data_reference {
  bool secret = false;
  std::string name;
  friend auto operator<=>(const data_reference&, const data_reference&) = default;
};

/// The values of one, by key; nothing: it does not exist.
using data_lookup = std::function<std::optional<std::vector<std::pair<std::string, std::string>>>(const data_reference&)>;

/// The claim that is the pod's workspace: behind the guest's first device or mount that has one, else the pod's first.
[[nodiscard]] std::optional<std::string> workspace_claim(const nlohmann::json& pod);

/// Which name of the pod cannot be part of a path (namespace, name, uid, or a container's name, which is a DNS label), or
/// nothing. Whoever wrote the pod may not have been checked.
[[nodiscard]] std::optional<std::string> unfit_name(const nlohmann::json& pod);

/// The port of the pod's guest.
[[nodiscard]] std::uint16_t guest_port(const nlohmann::json& pod);

/// What `read_pod_request` will ask `data_lookup` for, but for names that nothing can have.
[[nodiscard]] std::vector<data_reference> data_needed(const nlohmann::json& pod);

/// Reads `pod`, or says what it asks for that this kubelet cannot do or find. The guest is the container whose environment
/// names NAMZU_AGENT_BIND_TOKEN, else the first without a command; any other container needs a command.
[[nodiscard]] tl::expected<pod_request, std::string> read_pod_request(const nlohmann::json& pod, const pod_place& where,
                                                                      const data_lookup& look);

/// `$(NAME)` replaced by what `known` says of it, `$$` by `$`; an unknown name stays as it is.
[[nodiscard]] std::string expand_variables(const std::string& text, const std::vector<std::pair<std::string, std::string>>& known);

} // namespace paddock::embedded
