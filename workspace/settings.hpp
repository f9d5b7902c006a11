#pragma once

#include "egress/ingress.hpp"
#include "k8s/fenced_write.hpp"
#include "workspace/failure.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace paddock::workspace {

/// How a host makes and reaches its workspaces. The same for every workspace of one program; checked by `check` before a
/// verb sends anything.
struct settings {
  enum class address : std::uint8_t { service, pod_ip };

  std::string name_space;
  std::string template_name; // for an open that names none
  std::uint16_t agent_port = 1024;
  address agent_address = address::service;
  std::chrono::milliseconds ready_timeout{60'000}; // from a create or resume until a pod is bound; also the wait of a suspend
  std::chrono::milliseconds ready_poll{50};
  std::chrono::milliseconds ready_confirm{5'000}; // between two reads while a WATCH tells; it may be cut off without a word
  std::optional<std::string> runtime_class;
  /// What pods may reach, as `read_egress_config` checked it. Absent: no policy of egress is asked for, and no label is put on pods.
  std::optional<egress::egress_config> egress;
  egress::ingress_config ingress; // who may reach the agent port is verified unless it says otherwise
  /// False: writes carry no holder epoch at all, and two hosts on one workspace are not safe ([W] §10).
  bool fenced = true;
  std::uint64_t epoch_base = 0;
  std::uint64_t term = 0; // lease term of the shard; 0 for a host that stands alone

  [[nodiscard]] k8s::epoch_term epochs() const {
    return {epoch_base, term};
  }
};

/// The ranges of [W] 0.5 and what cannot be left out. A refusal is an `illegal_argument`; nothing was sent.
[[nodiscard]] result<void> check(const settings& how);

} // namespace paddock::workspace
