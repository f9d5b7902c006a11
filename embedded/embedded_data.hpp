#pragma once

#include <string_view>

namespace paddock::embedded {

// What Kubernetes and the agent-sandbox project say of their kinds, as JSON (data/extract). Valid for the life of the program.

/// The built-in types by name: their members, and how their lists are merged.
[[nodiscard]] std::string_view builtin_types_text();
/// The columns of each built-in kind's table, by plural.
[[nodiscard]] std::string_view columns_text();
/// The CustomResourceDefinitions, by plural.
[[nodiscard]] std::string_view custom_kinds_text();
/// The fields of the types that clients send as protobuf, by type and number (data/extract-protobuf).
[[nodiscard]] std::string_view protobuf_text();

} // namespace paddock::embedded
