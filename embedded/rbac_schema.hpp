#pragma once

#include "embedded/schema.hpp"

namespace paddock::embedded::schema {

// Roles and bindings: what the server fills in, and what is wrong with one.

void default_rbac(const resource_kind& kind, json& object);
[[nodiscard]] std::optional<std::string> misshapen_rbac(const resource_kind& kind, const json& object);
[[nodiscard]] std::vector<status_cause> check_rbac(const resource_kind& kind, const json* before, const json& after);

} // namespace paddock::embedded::schema
