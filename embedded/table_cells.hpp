#pragma once

#include "base/time.hpp"
#include "embedded/object.hpp"
#include "embedded/resource.hpp"

namespace paddock::embedded {

/// The cells of an object's row, in the order of its kind's columns.
[[nodiscard]] json cells_of(const resource_kind& kind, const json& object, time_source::wall_clock::time_point now);

/// Those of a pod but for its name: `1/2`, `Running`, `3 (5m ago)`, its age, and what wide tables show.
[[nodiscard]] json pod_cells(const json& pod, time_source::wall_clock::time_point now);

/// The text at `path`, or `otherwise` where that is empty.
[[nodiscard]] std::string text_or(const json& object, std::initializer_list<std::string_view> path, std::string_view otherwise);

} // namespace paddock::embedded
