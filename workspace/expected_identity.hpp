#pragma once

#include "workspace/failure.hpp"
#include "workspace/session.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace paddock::workspace {

/// What is left of a session whose object is not the one that a verb is about: the epoch, which is the host's own and is never lowered.
[[nodiscard]] session without_object(const session& x);

/// The session of a verb whose caller names its Sandbox ([W] 3.11). What was held of another one says nothing of it.
[[nodiscard]] session of_expected(const session& x, const std::optional<sandbox_uid>& expect);

// Whether what stands under the name of a workspace is what the caller retained ([W] 3.16). Each refusal is an
// `identity_mismatch`; neither a moved resourceVersion nor a condition ever is one.

/// Nothing stands.
[[nodiscard]] failure sandbox_absent(const id& which, const sandbox_uid& expected);

[[nodiscard]] result<void> check_expected_sandbox(const id& which, const sandbox_uid& expected, const nlohmann::json& sandbox);

/// The claim that was made of the entry `entry`: its uid first, then whose it is. One without an owner is nobody else's.
[[nodiscard]] result<void> check_expected_claim(const id& which, const sandbox_uid& owner, const std::string& entry,
                                                const claim_uid& expected, const nlohmann::json& claim);

} // namespace paddock::workspace
