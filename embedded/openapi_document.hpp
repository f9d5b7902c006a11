#pragma once

#include "embedded/store.hpp"

#include <optional>
#include <span>
#include <string>

namespace paddock::embedded {

/// `/openapi/v3` and the documents that it points to, one for each group and version: the schemas of the kinds, without words for
/// people, and the requests that there are for each, with the parameters of writes. Nothing: another path.
[[nodiscard]] std::optional<nlohmann::ordered_json> openapi_document(std::span<const std::string> segments, const store& objects);

/// `/openapi/v2` as JSON or, for the clients before 1.24 that read it before they send an object, as protobuf. It describes nothing.
[[nodiscard]] std::string openapi_v2_document(bool protobuf);

/// The type of the latter; older clients ask for it under the other name, which is no type that can be read.
inline constexpr auto openapi_v2_protobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
inline constexpr auto openapi_v2_protobuf_asked = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

/// The version that the server says to have.
inline constexpr auto server_version = "v1.36.2+paddock";

} // namespace paddock::embedded
