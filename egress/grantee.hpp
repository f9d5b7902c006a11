#pragma once

#include "egress/per_sandbox_write.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace paddock::egress {

/// Who may be granted something: whose policy it is, and what selects its pods.
struct grantee {
  grant_target whose;
  label_map pod_labels; // all that its pods get
};

/// The Sandbox of a workspace as one ([E] 5.7). Its name may pass on to another Sandbox. Fails with `owner_uid_missing`.
[[nodiscard]] result<grantee> grantee_of(const per_sandbox_egress& how, std::string name_space, std::string sandbox_name,
                                         const nlohmann::json& sandbox);

} // namespace paddock::egress
