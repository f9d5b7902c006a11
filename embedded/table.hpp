#pragma once

#include "base/time.hpp"
#include "embedded/object.hpp"
#include "embedded/representation.hpp"
#include "embedded/resource.hpp"

namespace paddock::embedded {

/// The columns of a kind's table, as `kubectl get` shows them: those of Kubernetes, or of the kind's definition.
[[nodiscard]] const nlohmann::ordered_json& columns_of(const resource_kind& kind);

/// An object without all but its metadata.
[[nodiscard]] nlohmann::ordered_json partial_object(const json& object, const std::string& version);

/// One row: the cells of `object`, and what `how` wants of `whole` beside them.
[[nodiscard]] nlohmann::ordered_json table_row(const resource_kind& kind, const json& object, const json& whole, const representation& how,
                                               time_source::wall_clock::time_point now);

/// A table with these rows; without `columns` they are null, as in a watch after the first event.
[[nodiscard]] nlohmann::ordered_json make_table(const representation& how, nlohmann::ordered_json metadata, const resource_kind* columns,
                                                nlohmann::ordered_json rows);

} // namespace paddock::embedded
