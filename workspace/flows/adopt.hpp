#pragma once

#include "workspace/flows/verbs.hpp"
#include "workspace/pod_template.hpp"

#include <map>
#include <optional>
#include <string>

namespace paddock::workspace {

/// How a standing Sandbox is taken over.
struct adoption {
  overlay wanted;
  std::optional<usable_template> from;         // the template, where it was read
  std::optional<egress::label_map> proved_for; // labels for which the verb has `prove_selected`
  bool refresh = false;
  bool leave_on_failure = false;
  std::optional<sandbox_uid> expect;
  std::map<std::string, claim_uid> expect_claims;
};

/// Takes over what stands under the name, waking it where it is Suspended ([W] 3.1.3), after `prove_applied`. Nothing is written before
/// every check has passed, and nothing is ever deleted, created or repaired.
boost::asio::awaitable<transition<opened>> adopt(world& on, id which, adoption how, session before, deadline until);

/// The write that wakes a suspended workspace, and with a template takes that over ([W] 3.6).
[[nodiscard]] k8s::sandbox_write waking_write(const session& now, const std::optional<usable_template>& refresh);

/// The uid of a pod of the Sandbox's name that is on its way out; 404 is none.
boost::asio::awaitable<result<std::optional<pod_uid>>> look_for_draining_pod(world& on, id which, deadline until);

} // namespace paddock::workspace
