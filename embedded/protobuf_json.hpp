#pragma once

#include "embedded/object.hpp"

#include <string_view>

namespace paddock::embedded {

inline constexpr auto protobuf_type = "application/vnd.kubernetes.protobuf";

/// Reads an object of a built-in type as the clients of Kubernetes send it in protobuf (kubectl does for what it makes itself), into
/// what it would be as JSON. The failure is a text for people.
[[nodiscard]] tl::expected<json, std::string> parse_protobuf(std::string_view body);

} // namespace paddock::embedded
