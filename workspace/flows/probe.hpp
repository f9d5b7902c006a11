#pragma once

#include "workspace/flows/verbs.hpp"

#include <optional>
#include <string>

namespace paddock::workspace {

/// What the privilege probe came to: the guest's boot id, or the refusal.
struct probed {
  result<std::optional<guest_boot_id>> answer;
  std::optional<guest::failure> not_run{}; // what proves that the probe did not even begin
};

/// Proves that the guest of a Sandbox is unprivileged ([E] 6.4), by `until` and within the probe's own clock. One execution.
boost::asio::awaitable<probed> probe_guest(world& on, std::string sandbox_name, guest::endpoint where, deadline until);

} // namespace paddock::workspace
