#pragma once

#include "embedded/object.hpp"
#include "embedded/status.hpp"

namespace paddock::embedded {

/// What the subresource `scale` shows of an object: an autoscaling/v1 Scale.
[[nodiscard]] json scale_of(const json& object);

/// The object with the replicas of `scale`, and with its uid and resourceVersion where it says them. The failure tells what is no Scale.
[[nodiscard]] api_result<json> scaled(json object, const json& scale);

} // namespace paddock::embedded
