#pragma once

#include "egress/errors.hpp"

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::egress {

// The proof of the admission fence ([E] 4): which objects are read, and whether what they say bounds what this host writes.
// Nothing is written before it holds.

struct fence_question {
  per_sandbox_egress how;
  std::string name_space; // of the sandboxes
  /// Whether the objects must also enforce at all ([E] 4.5). Off, a fence without effect passes.
  bool structural_checks = true;
};

/// What is read, one GET each, in this order: the policy, its binding, and where hosts are permitted by a ConfigMap the
/// companion's two. The first that cannot be read ends the proof.
[[nodiscard]] std::vector<fence_object> fence_objects(const per_sandbox_egress& how);

/// The failure of a read, in the words of the fence.
[[nodiscard]] egress_error unread(const fence_object& which, const k8s::failure& why);

/// Judges what was read: whom the policies bound, then what the companion's binding takes for permitted, then whether each of
/// the objects enforces. @pre one body for each of `fence_objects(asked.how)`; null where the answer had none
[[nodiscard]] result<void> judge_fence(const fence_question& asked, std::span<const nlohmann::json> bodies);

} // namespace paddock::egress
