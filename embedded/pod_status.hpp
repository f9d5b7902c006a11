#pragma once

#include "base/time.hpp"
#include "embedded/kubelet.hpp"
#include "k8s/call.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace paddock::embedded {

/// What the kubelet has seen of one container.
struct container_state {
  using wall = time_source::wall_clock::time_point;
  enum class at { waiting, running, terminated };
  std::string name;
  std::string image;
  at now = at::waiting;
  std::string reason;   // while waiting
  std::string message;  // while waiting
  bool started = false; // its startup probe has held
  bool ready = false;
  int restarts = 0;
  std::optional<wall> began;       // the latest process
  std::optional<process_end> last; // how the latest that ended did
  std::optional<wall> last_began;
  std::optional<wall> last_ended;
  friend bool operator==(const container_state&, const container_state&) = default;
};

struct pod_state {
  std::vector<container_state> init;
  std::vector<container_state> containers;
  std::string address;      // empty before it has one
  std::string host_address; // of the node
  friend bool operator==(const pod_state&, const pod_state&) = default;
};

/// The state in which a kubelet finds the containers of a pod: all waiting. One that had begun before, under this kubelet or an
/// earlier one, is one that is started again; where its policy does not allow that, it has ended (code 137) or stays as it ended.
/// So do the init containers of a pod that is never restarted.
[[nodiscard]] pod_state found_state(const nlohmann::json& pod);

/// Whether a container that ended so is started again.
[[nodiscard]] bool starts_again(const nlohmann::json& pod, const process_end& end);

/// Whether the init container has done its part: it ended well, or it stays and has started.
[[nodiscard]] bool init_done(const nlohmann::json& pod, const container_state& state);

/// `Pending`, `Running`, `Succeeded` or `Failed` ([C] 4.9).
[[nodiscard]] std::string phase_of_state(const nlohmann::json& pod, const pod_state& state);

/// The merge patch of the pod's status that says `state`. It names the pod's uid, so that it never reaches another pod of the
/// name. Conditions that keep their status keep their instant.
[[nodiscard]] k8s::call report_pod(const nlohmann::json& pod, const pod_state& state, time_source::wall_clock::time_point now);

} // namespace paddock::embedded
