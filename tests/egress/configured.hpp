#pragma once

#include "egress/labels.hpp"
#include "egress/read_config.hpp"
#include "egress/translate.hpp"
#include "tests/egress/refusals.hpp"

#include <caf/test/bdd_dsl.hpp>
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace paddock::egress {

// Configurations as an operator writes them, and what becomes of them.

inline const auto task = policy_target{"namzu-sandboxes", "namzu-task"};

inline egress_config configured(std::string_view text) {
  auto got = read_egress_config(nlohmann::json::parse(text));
  if (!got)
    CAF_FAIL(to_string(got.error()));
  return *got;
}

inline policy_object translated(const egress_config& config, const std::vector<std::string>& resolved = {}) {
  auto got = translate(config, task, resolved);
  if (!got)
    CAF_FAIL(to_string(got.error()));
  return *got;
}

inline policy_object translated(std::string_view text) {
  return translated(configured(text));
}

/// The rules of a policy.
inline nlohmann::json rules_of(const policy_object& x) {
  return x.manifest["spec"]["egress"];
}

/// Why a configuration is refused when it is read.
inline egress_error refusal_of(std::string_view text) {
  auto got = read_egress_config(nlohmann::json::parse(text));
  if (got)
    CAF_FAIL("was not refused: " << std::string{text});
  return got.error();
}

} // namespace paddock::egress
