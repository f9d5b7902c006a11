#pragma once

#include "embedded/field_set.hpp"
#include "embedded/type_schema.hpp"

namespace paddock::embedded {

// Objects as server-side apply takes them apart: into members and the items of lists that have keys. Everything else (a text, a list
// without keys, a map that counts as one) is whole.

/// The type of a kind's objects with its metadata spelled out. Lives as long as the program.
[[nodiscard]] const type_schema& field_schema(const resource_kind& kind);

/// The fields that `object` sets.
[[nodiscard]] field_set fields_of(const type_schema& schema, const json& object);

/// What is different between two objects.
struct field_changes {
  field_set added;
  field_set modified;
  field_set removed;
};
[[nodiscard]] field_changes compare_fields(const type_schema& schema, const json& before, const json& after);

/// `live` with what `config` sets laid over it; items of lists with keys come in the order of `config`.
[[nodiscard]] json merge_fields(const type_schema& schema, const json& live, const json& config);

/// `object` without the fields of `which`.
[[nodiscard]] json remove_fields(const type_schema& schema, const json& object, const field_set& which);

/// `which` with every member that the schema names and that something stands below of.
[[nodiscard]] field_set with_named(const type_schema& schema, const field_set& which);

/// Why `config` cannot be applied: a member that the schema does not know or that is of another type, a key given twice; empty: it can.
[[nodiscard]] std::string unfit_fields(const type_schema& schema, const json& config);

} // namespace paddock::embedded
