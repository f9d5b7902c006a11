#pragma once

#include "embedded/schema.hpp"

namespace paddock::embedded::schema {

// ValidatingAdmissionPolicies and their bindings: what the server fills in, and what is wrong with one.

void default_admission(const resource_kind& kind, json& object);
[[nodiscard]] std::optional<std::string> misshapen_admission(const resource_kind& kind, const json& object);
[[nodiscard]] std::vector<status_cause> check_admission(const resource_kind& kind, const json& after);

} // namespace paddock::embedded::schema
