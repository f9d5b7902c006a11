#pragma once

#include "embedded/status.hpp"
#include "embedded/type_schema.hpp"

namespace paddock::embedded {

/// What is wrong with a value of a custom kind, as the API server words it: its form first; its rules only when the form is
/// right. `before` is the value that it replaces, or null; rules about changes ask for one. Fields are told below `path`, texts
/// without it.
[[nodiscard]] std::vector<status_cause> validate(const type_schema& schema, const json* before, const json& value, const std::string& path);

} // namespace paddock::embedded
